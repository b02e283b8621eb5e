"""Sections of the Evaluation page that look behind the averages: learning, groups of people, confidence, studies."""

import pandas as pd
import streamlit as st

from pages import _evaluation_charts as charts
from pages import _measured
from pages import _shared as shared
from pages import _words as words
from pages._evaluation_parts import PLAIN, Shown, chart, choose_metric, choose_models, data_of, download
from recsys.data.schema import DataError
from recsys.evaluation import overview, slices, studies

CURVES = {"loss": words.LOSS, "ndcg@10": words.VALIDATION}
AXES = {"epoch": words.BY_EPOCH, "seconds": words.BY_TIME}


def curves(shown: Shown) -> None:
    """How models learnt, and what they cost."""
    logs = overview.curves(shown.dataset, [shared.FIRST_MODEL, *shown.board["variant"]])
    if not logs:
        st.caption(words.NO_CURVE.format(data=shared.data_title(shown.dataset)))
        line = words.TRAIN_LINE.format(variant=shared.FIRST_MODEL, data=shown.dataset)
        st.code(line, language=None, wrap_lines=True)
    else:
        _learning(shown, logs)
    _cost(shown)


def _learning(shown: Shown, logs: dict[str, pd.DataFrame]) -> None:
    """Loss and validation of the chosen models."""
    board = _with_first(shown.board, logs)
    known = [variant for variant in board["variant"] if variant in logs]
    first = list(dict.fromkeys([shared.FIRST_MODEL, *known]))[:3]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        chosen = choose_models(shown, known, [variant for variant in known if variant in first], "curves")
        axis = st.segmented_control(
            words.BY,
            list(AXES),
            default="epoch",
            required=True,
            format_func=AXES.__getitem__,
            key="curves_by",
            persist_state="session",
        )
    st.caption(words.CURVE_HELP)
    if not chosen:
        return
    names = ", ".join(shown.titles.get(variant, variant) for variant in chosen)
    with st.container(key="chart-curves"), st.grid(2, min_column_width=320):
        for column, title in CURVES.items():
            drawn = {variant: logs[variant] for variant in chosen if {column, axis} <= set(logs[variant])}
            if drawn:
                figure = charts.lines(drawn, board, axis, column, words.EPOCH if axis == "epoch" else words.SECONDS)
                figure.update_yaxes(title=title)
                st.plotly_chart(figure, alt=words.CURVES_ALT.format(title=title, names=names), config=PLAIN)
    table = pd.concat([logs[variant].assign(variant=variant) for variant in chosen])
    download(table, f"curves-{shown.dataset}")


def _with_first(board: pd.DataFrame, logs: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The board, with a row for the first model where it has a log but no result yet."""
    missing = [variant for variant in logs if variant not in set(board["variant"])]
    rows = pd.DataFrame({"variant": missing, "title": missing, "family": ""})
    return pd.concat([board[["variant", "title", "family"]], rows], ignore_index=True)


def _cost(shown: Shown) -> None:
    """Seconds against a metric."""
    st.subheader(words.COST)
    st.caption(words.COST_HELP)
    metric = choose_metric()
    together = ["time"] if shown.protocol == "time" else [name for name in words.PROTOCOL_NAMES if name != "time"]
    table = overview.costs(shown.dataset, shown.board, together)
    name = words.metric_name(metric)
    about = words.COST_ALT.format(metric=name, n=len(table))
    figure = charts.scatter(table, "seconds", metric, words.COST_SECONDS, name, log="log10")
    chart(figure, about, table, f"cost-{shown.name}")


def for_whom(shown: Shown) -> None:
    """A metric for groups of people."""
    dataset = data_of(shown)
    if dataset is None:
        return
    _, damaged = _measured.ranks(shown)
    shared.explain_all(damaged)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        slicing = st.selectbox(
            words.SLICING,
            list(slices.SLICES),
            format_func=lambda name: words.SLICINGS.get(name, name),
            key="slicing",
            width=250,
            persist_state="session",
        )
        metric = choose_metric()
    try:
        variants = _measured.comparable(shown, dataset)
        chosen = choose_models(shown, variants, _first_of_families(shown, variants, 3), "slices", most=5)
        table = _measured.sliced(shown, dataset, variants, slicing, metric) if chosen else None
    except DataError as error:
        shared.explain(error)
        return
    if table is None:
        return
    st.caption(words.SLICES_HELP)
    own = table[table["variant"].isin(chosen)]
    own = own.sort_values("variant", key=lambda column: column.map(chosen.index), kind="stable")
    names = ", ".join(shown.titles[variant] for variant in chosen)
    about = words.SLICES_ALT.format(
        metric=words.metric_name(metric), names=names, slicing=words.SLICINGS.get(slicing, slicing)
    )
    figure = charts.slices(own, shown.board, words.metric_name(metric))
    chart(figure, about, table, f"slices-{shown.name}-{slicing.replace(' ', '-')}")


def _first_of_families(shown: Shown, variants: list[str], n: int) -> list[str]:
    """The best of each family, of the n best families."""
    rows = shown.board[shown.board["variant"].isin(variants)]
    return rows.drop_duplicates("family")["variant"].tolist()[:n]


def calibration(shown: Shown) -> None:
    """How sure, and how often right."""
    bins, by_rank = overview.reliability(shown.dataset, shown.protocol, shown.board["variant"].tolist())
    if bins.empty:
        st.info(words.NO_CALIBRATION, icon=":material/info:")
        return
    known = list(dict.fromkeys(bins["variant"]))
    chosen = choose_models(shown, known, known[:6], "calibration")
    if not chosen:
        return
    names = ", ".join(shown.titles[variant] for variant in chosen)
    with st.grid(2, min_column_width=320):
        with st.container():
            st.subheader(words.SURE)
            st.caption(words.SURE_HELP)
            figure = charts.reliability(_by_variant(bins, chosen), shown.board)
            chart(figure, words.SURE_ALT.format(names=names), bins, f"reliability-{shown.name}")
        with st.container():
            st.subheader(words.BY_RANK)
            st.caption(words.BY_RANK_HELP)
            figure = charts.too_sure(_by_variant(by_rank, chosen), shown.board)
            chart(figure, words.BY_RANK_ALT.format(names=names), by_rank, f"sure-by-rank-{shown.name}")


def _by_variant(table: pd.DataFrame, chosen: list[str]) -> dict[str, pd.DataFrame]:
    return {variant: table[table["variant"] == variant] for variant in chosen}


def all_studies(found: list[studies.Study]) -> None:
    """One of the studies: what was asked, what came out, chart and table."""
    titles = {study.name: study.title for study in found}
    name = st.selectbox(
        words.STUDY, list(titles), format_func=lambda name: titles.get(name, name), key="study", persist_state="session"
    )
    study = next(study for study in found if study.name == name)
    st.markdown(words.plain(study.question))
    if study.answer:
        st.markdown(f"**{words.plain(study.answer)}**")
    if study.chart:
        about = words.STUDY_ALT.format(title=study.title, y=study.titles[study.chart.y], x=study.titles[study.chart.x])
        with st.container(key="chart-study"):
            st.plotly_chart(charts.study(study, study.chart), alt=about, config=PLAIN)
    columns = {
        name: st.column_config.NumberColumn(title, format=f"%.{study.digits[name]}f") if name in study.digits else title
        for name, title in study.titles.items()
    }
    st.dataframe(study.table, hide_index=True, column_config=columns, placeholder="–", alt=words.STUDY_TABLE)
    download(study.table, f"study-{study.name}")
    if study.how:
        st.caption(words.plain(study.how))
