"""How well each recommender finds the film that people really watched next."""

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages import _shared as shared
from pages import _words as words
from recsys.evaluation import results

METRICS = ["ndcg@10", "hr@10", "hr@1", "mrr"]  # those that papers print too
CURVES = {"loss": words.LOSS, "ndcg@10": words.VALIDATION}
OURS, THEIRS = "#1f9a94", "#8d8c88"  # 3:1 and more against the light and the dark page
Table = pd.DataFrame


def choose(available: list[tuple[str, str]]) -> tuple[str, str]:
    """Which data set and protocol, among those with results."""
    sets = list(dict.fromkeys(dataset for dataset, _ in available))
    current = st.session_state.data
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        first = sets.index(current) if current in sets else 0
        dataset = st.selectbox(
            words.DATA,
            sets,
            index=first,
            format_func=shared.data_title,
            key="results_of",
            width=230,
            persist_state="session",
        )
        protocols = [protocol for name, protocol in available if name == dataset]
        protocol = st.segmented_control(
            words.PROTOCOL,
            protocols,
            default=protocols[0],
            required=True,
            format_func=lambda name: words.PROTOCOL_NAMES.get(name, name),
            key=f"protocol-{dataset}",
            persist_state="session",
        )
    return dataset, protocol


def leaderboard(dataset: str, protocol: str) -> Table:
    """Our own figures; returns them."""
    damaged: list[str] = []
    table = results.leaderboard(dataset, protocol, report=damaged.append)
    st.subheader(words.LEADERBOARD)
    for sentence in damaged:
        st.warning(words.plain(sentence), icon=":material/broken_image:")
    if table.empty:
        return table
    others = [name for name in results.METRICS if name not in METRICS]
    show(
        table[["title", "family", *METRICS, *others, "seeds", "date"]],
        best=table["ndcg@10"].max(),
        about=words.LEADERBOARD,
    )
    st.caption(words.LEADERBOARD_HELP)
    download(table, f"leaderboard-{dataset}-{protocol}")
    return table


def published(dataset: str, protocol: str) -> Table:
    """Figures of others, clearly theirs; returns them."""
    table = results.published(dataset, protocol)
    if table.empty:
        return table
    st.subheader(words.PUBLISHED_TITLE)
    st.caption(words.PUBLISHED_HELP)
    show(table.drop(columns="code"), best=table["ndcg@10"].max(), about=words.PUBLISHED_TITLE)
    download(table, f"published-{dataset}-{protocol}")
    return table


def show(table: Table, best: float, about: str) -> None:
    """A table with metrics to four digits and NDCG@10 as a bar."""
    figures = {
        name: st.column_config.NumberColumn(name.upper(), format="%.4f") for name in table if name in results.METRICS
    }
    figures["ndcg@10"] = st.column_config.ProgressColumn("NDCG@10", format="%.4f", min_value=0, max_value=float(best))
    others = {name: text for name, text in words.COLUMNS.items() if name in table}
    st.dataframe(table, hide_index=True, column_config=others | figures, alt=about)


def download(table: Table, name: str) -> None:
    """The numbers behind a table or a chart."""
    st.download_button(
        words.DOWNLOAD,
        table.to_csv(index=False),
        f"{name}.csv",
        "text/csv",
        key=name,
        icon=":material/download:",
        on_click="ignore",
    )


def chart(ours: Table, theirs: Table) -> None:
    """One metric of all, ours and published told apart by colour, hatching and the legend."""
    st.subheader(words.SIDE_BY_SIDE)
    metric = st.segmented_control(
        words.METRIC, METRICS, default=METRICS[0], required=True, format_func=str.upper, key="metric"
    )
    st.caption(words.METRIC_MEANING[metric.split("@")[0]])
    figure = go.Figure()
    spread = ours[f"std {metric}"].fillna(0)
    for table, name, bars in (
        (theirs, words.PUBLISHED, {"marker": {"color": THEIRS, "pattern": {"shape": "/", "solidity": 0.35}}}),
        (ours, words.OURS, {"marker": {"color": OURS}, "error_x": {"array": spread, "visible": bool(spread.any())}}),
    ):
        known = table.dropna(subset=[metric]).sort_values(metric)
        labels = [words.bar_label(title, name) for title in known["title"]]
        figure.add_bar(x=known[metric], y=labels, orientation="h", name=name, **bars)
    height = 90 + 26 * sum(len(bar.x) for bar in figure.data)
    figure.update_layout(height=height, margin={"l": 0, "r": 0, "t": 30, "b": 0}, bargap=0.3)
    figure.update_layout(showlegend=not theirs.empty, legend={"orientation": "h", "y": 1, "yanchor": "bottom"})
    figure.update_yaxes(automargin=True)
    st.plotly_chart(figure, alt=words.CHART.format(metric=metric.upper()), config={"displayModeBar": False})


def curves(dataset: str, table: Table) -> None:
    """How the models that keep a log learnt, BERT4Rec first."""
    variants = [shared.FIRST_MODEL, *(name for name in table["variant"] if name != shared.FIRST_MODEL)]
    logged = {variant: log for variant in variants if len(log := results.curve(dataset, variant))}
    titles = dict(zip(table["variant"], table["title"], strict=True))
    st.subheader(words.CURVE)
    if not logged:
        st.caption(words.NO_CURVE.format(data=shared.data_title(dataset)))
        st.code(words.TRAIN_LINE.format(variant=shared.FIRST_MODEL, data=dataset), language="bash")
        return
    variant = st.selectbox(
        words.MODEL, list(logged), format_func=lambda name: titles.get(name, name), key="curve_of", width=230
    )
    log = logged[variant]
    st.caption(words.CURVE_HELP)
    with st.grid(2, min_column_width=300):
        for column, title in CURVES.items():
            if column in log:
                st.plotly_chart(curve(log, column, title), alt=title, config={"displayModeBar": False})
    download(log, f"curve-{dataset}-{variant}")


def curve(log: Table, column: str, title: str) -> go.Figure:
    """One logged figure by epoch; epochs without it are passed over."""
    known = log.dropna(subset=[column])
    figure = go.Figure(
        go.Scatter(x=known["epoch"], y=known[column], mode="lines+markers", marker={"size": 5, "color": OURS})
    )
    figure.update_layout(height=300, title=title, margin={"l": 0, "r": 0, "t": 40, "b": 0})
    figure.update_xaxes(title=words.EPOCH, rangemode="tozero")
    return figure


shared.enter()
st.title(words.EVALUATION)
st.caption(words.EVALUATION_HELP)
if available := results.available():
    dataset, protocol = choose(available)
    st.markdown(words.PROTOCOL_MEANING.get(protocol, protocol))
    ours, theirs = leaderboard(dataset, protocol), published(dataset, protocol)
    if not ours.empty:
        chart(ours, theirs)
    curves(dataset, ours)
else:
    st.info(words.NO_RESULTS, icon=":material/leaderboard:")
    st.code(words.EVALUATE_LINE, language="bash")
