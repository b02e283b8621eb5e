"""Sections of the Evaluation page that compare recommenders: leaderboard, protocols, trade-offs, two of them."""

from typing import Any

import pandas as pd
import streamlit as st

from pages import _board, _measured
from pages import _evaluation_charts as charts
from pages import _shared as shared
from pages import _words as words
from pages._evaluation_parts import Shown, chart, choose_metric, download
from recsys.evaluation import overview, results


def leaderboard(shown: Shown) -> None:
    """Ours beside what others published, with intervals and what is more than chance."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        metric = choose_metric()
        families = st.multiselect(
            words.FAMILIES,
            list(dict.fromkeys(shown.board["family"])),
            placeholder=words.ALL_FAMILIES,
            key=f"families-{shown.name}",
            width=330,
            persist_state="session",
        )
        view = st.segmented_control(
            words.VIEW,
            [words.VIEW_BOARD, words.VIEW_FIGURES],
            default=words.VIEW_BOARD,
            required=True,
            key="board_view",
            persist_state="session",
        )
    ours, theirs = _of_families(shown, families)
    if ours.empty:
        st.info(words.NONE_OF_FAMILY, icon=":material/filter_alt:")
    elif view == words.VIEW_BOARD:
        _intervals(shown, ours, theirs, metric)
    else:
        _all_figures(shown, ours, theirs)


def _of_families(shown: Shown, families: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Our rows and the published ones of those families; all where none is named."""
    theirs = results.published(shown.dataset, shown.protocol)
    if not families:
        return shown.board, theirs
    ours = shown.board[shown.board["family"].isin(families)]
    return ours, theirs[theirs["variant"].isin(ours["variant"])]


def _intervals(shown: Shown, ours: pd.DataFrame, theirs: pd.DataFrame, metric: str) -> None:
    """The table with a mark and a bar in each row: at once without the tests, which take a moment the first time."""
    slot = st.empty()
    slot.html(_board.html(ours, theirs, metric, None))
    try:
        with st.spinner(words.TESTING):
            tests = _measured.against_best(shown, metric)
    except results.ResultError as error:
        tests = None
        shared.explain(error)
    else:
        slot.html(_board.html(ours, theirs, metric, tests))
    notes = [words.METRIC_MEANING[metric.split("@")[0]], words.LEADERBOARD_HELP, words.NOT_TOLD_APART]
    st.caption(" ".join([*notes, *([] if theirs.empty else [words.PUBLISHED_NOTE])]))
    table = ours if tests is None else ours.merge(tests.drop(columns="metric"), how="left", on="variant")
    download(table, f"leaderboard-{shown.name}")


def _all_figures(shown: Shown, ours: pd.DataFrame, theirs: pd.DataFrame) -> None:
    """Every figure, and the sources of those of others."""
    rows = ours.assign(date=ours["date"].str[:10])  # the day is enough to read; the download has the second
    ordered = ["title", "ndcg@10", "hr@10", "hr@1", "mrr", "family"]
    _figures(rows[[*ordered, *(name for name in results.METRICS if name not in ordered), "seeds", "date"]])
    download(ours, f"figures-{shown.name}")
    if not theirs.empty:
        st.subheader(words.PUBLISHED_TITLE)
        st.caption(words.PUBLISHED_HELP)
        _figures(
            theirs[["title", "ndcg@10", "hr@10", "hr@1", "mrr", "rules", "source"]].dropna(axis="columns", how="all")
        )
        download(theirs, f"published-{shown.name}")


def _figures(table: pd.DataFrame) -> None:
    """A table that sorts; name and NDCG@10 fit on a phone."""
    columns: dict[str, Any] = {name: title for name, title in words.COLUMNS.items() if name in table}
    columns |= {
        name: st.column_config.NumberColumn(words.metric_name(name), format="%.4f", width=86)
        for name in results.METRICS
        if name in table
    }
    columns["title"] = st.column_config.TextColumn(words.COLUMNS["title"], width=170, pinned=True)
    st.dataframe(table, hide_index=True, column_config=columns, placeholder="–", alt=words.LEADERBOARD)


def protocols(shown: Shown) -> None:
    """How the order of the same recommenders changes from protocol to protocol."""
    available = [protocol for dataset, protocol in results.available() if dataset == shown.dataset]
    st.markdown(words.plain(words.SAMPLED_MISLEADS))
    if len(available) < 2:
        st.info(words.ONE_PROTOCOL.format(data=shared.data_title(shown.dataset)), icon=":material/info:")
        return
    ordered = sorted(available, key=words.protocol_place)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        chosen = st.pills(
            words.PROTOCOLS,
            ordered,
            selection_mode="multi",
            default=ordered,
            format_func=words.protocol_name,
            key=f"protocols-{shown.dataset}",
            wrap=True,
            persist_state="session",
        )
        metric = choose_metric()
    chosen = [protocol for protocol in ordered if protocol in chosen]
    table = overview.orders({name: _measured.board(shown.dataset, name)[0] for name in chosen}, metric)
    if len(chosen) < 2 or table.empty:
        st.info(words.NONE_IN_COMMON if len(chosen) > 1 else words.CHOOSE_TWO_PROTOCOLS, icon=":material/info:")
        return
    st.caption(words.PROTOCOLS_HELP)
    _swaps(table, chosen)
    about = words.PLACES_ALT.format(
        n=len(table), metric=words.metric_name(metric), protocols=", ".join(words.protocol_name(n) for n in chosen)
    )
    chart(charts.bump(table, chosen), about, table, f"protocols-{shown.dataset}-{metric}")


def _swaps(table: pd.DataFrame, chosen: list[str]) -> None:
    """How much of the first protocol's order the others keep."""
    first, *others = chosen
    lines = []
    for other in others:
        share = overview.swapped(table[first].tolist(), table[other].tolist())
        if share == share:  # one model alone has no order
            names = {"first": words.protocol_name(first), "other": words.protocol_name(other)}
            lines.append(f"- {words.plain(words.SWAPS.format(**names, share=f'{share:.0%}'))}")
    st.markdown("\n".join(lines))


def measures(shown: Shown) -> None:
    """One measure against another."""
    known = [name for name in overview.MEASURES if shown.board[name].notna().any()]
    first = "novelty@10" if "novelty@10" in known else "hr@10"
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        x = _choose_measure(words.ACROSS, known, first, f"across-{shown.name}")
        y = _choose_measure(words.UPWARDS, known, "ndcg@10", f"upwards-{shown.name}")
    meanings = [words.MEASURE_MEANING[name] for name in dict.fromkeys((x, y)) if name in words.MEASURE_MEANING]
    st.caption(" ".join([words.MEASURES_HELP, *meanings]))
    x_title, y_title = words.metric_name(x), words.metric_name(y)
    table = shown.board[list(dict.fromkeys(["variant", "title", "family", x, y]))].dropna()
    about = words.MEASURES_ALT.format(x=x_title, y=y_title, n=len(table))
    chart(charts.scatter(table, x, y, x_title, y_title), about, table, f"measures-{shown.name}")


def _choose_measure(label: str, known: list[str], first: str, key: str) -> str:
    return st.selectbox(
        label,
        known,
        index=known.index(first),
        format_func=words.metric_name,
        key=key,
        width=260,
        persist_state="session",
    )


def pair(shown: Shown) -> None:
    """Two recommenders on the same people."""
    variants = shown.board["variant"].tolist()
    if len(variants) < 2:
        st.info(words.ONE_MODEL, icon=":material/info:")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        one = _choose_model(words.ONE, shown, 0)
        other = _choose_model(words.OTHER, shown, 1)
        metric = choose_metric()
    if one == other:
        st.info(words.TWO_DIFFERENT, icon=":material/info:")
        return
    try:
        with st.spinner(words.TESTING):
            row, margins = _measured.pair(shown, one, other, metric)
    except results.ResultError as error:
        shared.explain(error)
        return
    titles, families = shown.titles, shown.families
    _verdict(row, titles[one], titles[other], metric, len(variants) * (len(variants) - 1) // 2)
    _margins(shown, margins, (titles[one], families[one]), (titles[other], families[other]))


def _choose_model(label: str, shown: Shown, place: int) -> str:
    return st.selectbox(
        label,
        shown.board["variant"].tolist(),
        index=place,
        format_func=lambda variant: shown.titles.get(variant, variant),
        key=f"pair-{place}-{shown.name}",
        width=220,
        persist_state="session",
    )


def _verdict(row: pd.Series, one: str, other: str, metric: str, pairs: int) -> None:
    """What the test says, in a sentence and in figures."""
    corrected = min(1.0, row["p"] * pairs)
    side = words.BETTER if row["difference"] > 0 else words.WORSE
    verdict = side if corrected < _board.SURE else words.EVEN
    st.markdown(f"**{words.plain(words.VERDICT.format(n=row['users'], one=one, other=other, verdict=verdict))}**")
    with st.grid(3, min_column_width=220):
        with st.container(gap=None):
            st.metric(words.DIFFERENCE.format(metric=words.metric_name(metric)), f"{row['difference']:+.4f}")
            st.caption(words.DIFFERENCE_RANGE.format(low=row["low"], high=row["high"]))
        st.metric(words.P_VALUE, f"{row['p']:.4f}", help=words.P_HELP)
        st.metric(words.P_CORRECTED, f"{corrected:.3f}", help=words.P_CORRECTED_HELP.format(n=pairs))


def _margins(shown: Shown, margins: pd.DataFrame, one: tuple[str, str], other: tuple[str, str]) -> None:
    """On how many people each of the two (title, family) puts the film higher."""
    st.subheader(words.DUEL)
    a, b, even = (int(margins.loc[which, "users"].sum()) for which in _sides(margins))
    st.markdown(words.plain(words.WINS.format(one=one[0], a=a, other=other[0], b=b, even=even)))
    about = words.DUEL_ALT.format(one=one[0], other=other[0])
    chart(charts.duel(margins, one, other), about, margins, f"pair-{shown.name}")
    st.caption(words.DUEL_HELP)


def _sides(margins: pd.DataFrame) -> tuple[pd.Series, pd.Series, pd.Series]:
    """Which rows are wins of the first, of the second, and even."""
    return margins["margin"] > 0, margins["margin"] < 0, margins["margin"] == 0
