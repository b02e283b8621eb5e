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


def leaderboard(table: Table, best: float, name: str) -> None:
    """Our own figures."""
    st.subheader(words.LEADERBOARD)
    others = [metric for metric in results.METRICS if metric not in METRICS]
    rows = table.assign(date=table["date"].str[:10])  # the day is enough to read; the download has the second
    show(rows[["title", "family", *METRICS, *others, "seeds", "date"]], best, words.LEADERBOARD)
    st.caption(words.LEADERBOARD_HELP)
    download(table, f"leaderboard-{name}")


def published(table: Table, best: float, name: str) -> None:
    """Figures of others, clearly theirs."""
    st.subheader(words.PUBLISHED_TITLE)
    st.caption(words.PUBLISHED_HELP)
    show(table.drop(columns=["code", "variant"]).dropna(axis="columns", how="all"), best, words.PUBLISHED_TITLE)
    download(table, f"published-{name}")


def show(table: Table, best: float, about: str) -> None:
    """A table with metrics to four digits and NDCG@10 as a bar; `best`: the length of a full bar."""
    columns = {name: title for name, title in words.COLUMNS.items() if name in table}
    columns |= {
        name: st.column_config.NumberColumn(name.upper(), format="%.4f") for name in results.METRICS if name in table
    }
    columns["ndcg@10"] = st.column_config.ProgressColumn("NDCG@10", format="%.4f", min_value=0, max_value=best)
    st.dataframe(table, hide_index=True, column_config=columns, placeholder="–", alt=about)


def download(table: Table, name: str) -> None:
    """The numbers behind a table or a chart."""
    text = table.to_csv(index=False)
    st.download_button(
        words.DOWNLOAD, text, f"{name}.csv", "text/csv", key=name, icon=":material/download:", on_click="ignore"
    )


def side_by_side(ours: Table, theirs: Table) -> None:
    """One metric of all, the best on top."""
    st.subheader(words.SIDE_BY_SIDE)
    metric = st.segmented_control(
        words.METRIC, METRICS, default=METRICS[0], required=True, format_func=str.upper, key="metric"
    )
    st.caption(words.METRIC_MEANING[metric.split("@")[0]])
    spread = ours[f"std {metric}"].fillna(0) if f"std {metric}" in ours else 0
    bars = pd.concat(
        [
            theirs.assign(whose=words.PUBLISHED, spread=0.0),
            ours.assign(whose=words.OURS, spread=spread),
        ]
    )
    bars = bars.dropna(subset=[metric]).sort_values(metric, ignore_index=True)
    figure = bar_chart(bars, metric)
    st.plotly_chart(figure, alt=words.CHART.format(metric=metric.upper()), config={"displayModeBar": False})


def bar_chart(bars: Table, metric: str) -> go.Figure:
    """A bar a row, the last on top; ours and published are told apart by colour, hatching, bold type and the legend.

    bars: title, whose, spread (standard deviation over seeds), and the metric.
    """
    figure = go.Figure()
    for whose, look in ((words.PUBLISHED, {"color": THEIRS, "pattern_shape": "/"}), (words.OURS, {"color": OURS})):
        own = bars[bars["whose"] == whose]
        whiskers = {"array": own["spread"], "visible": bool(own["spread"].any()), "color": THEIRS}
        figure.add_bar(
            x=own[metric], y=own.index, name=whose, orientation="h", marker=look, error_x=whiskers, text=own["title"]
        )
    labels = [words.bar_label(title, whose) for title, whose in zip(bars["title"], bars["whose"], strict=True)]
    figure.update_traces(textposition="none", hovertemplate="%{text}: %{x:.4f}")
    figure.update_yaxes(tickvals=bars.index, ticktext=labels, automargin=True, showgrid=False)
    figure.update_layout(height=90 + 30 * len(bars), margin={"l": 0, "r": 0, "t": 30, "b": 0}, bargap=0.3)
    figure.update_layout(barmode="overlay", legend={"orientation": "h", "y": 1, "yanchor": "bottom"})
    return figure


def curves(dataset: str, table: Table) -> None:
    """How the models that keep a log learnt, BERT4Rec first."""
    variants = [shared.FIRST_MODEL, *(name for name in table["variant"] if name != shared.FIRST_MODEL)]
    logged = {variant: log for variant in variants if len(log := results.curve(dataset, variant))}
    titles = dict(zip(table["variant"], table["title"], strict=True))
    st.subheader(words.CURVE)
    if not logged:
        st.caption(words.NO_CURVE.format(data=shared.data_title(dataset)))
        st.code(words.TRAIN_LINE.format(variant=shared.FIRST_MODEL, data=dataset), language="bash", wrap_lines=True)
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


def report(dataset: str, protocol: str) -> None:
    """Everything that is known for a data set and a protocol."""
    st.markdown(words.PROTOCOL_MEANING.get(protocol, protocol))
    damaged: list[str] = []
    ours, theirs = results.leaderboard(dataset, protocol, report=damaged.append), results.published(dataset, protocol)
    for sentence in damaged:
        st.warning(words.plain(sentence), icon=":material/broken_image:")
    best = float(pd.concat([ours["ndcg@10"], theirs["ndcg@10"]]).max())
    if not ours.empty:
        leaderboard(ours, best, f"{dataset}-{protocol}")
    if not theirs.empty:
        published(theirs, best, f"{dataset}-{protocol}")
    if not ours.empty:
        side_by_side(ours, theirs)
    curves(dataset, ours)


shared.enter()
st.title(words.EVALUATION)
st.caption(words.EVALUATION_HELP)
if available := results.available():
    report(*choose(available))
else:
    st.info(words.NO_RESULTS, icon=":material/leaderboard:")
    st.code(words.EVALUATE_LINE, language="bash", wrap_lines=True)
