"""Head-to-head: two recommenders on the same people."""

import pandas as pd
import streamlit as st

from pages.evaluation import choice, measured, words
from pages.evaluation.charts import groups as charts
from pages.evaluation.measured import Shown
from pages.ui import errors
from pages.ui import words as common
from pages.ui.charts import chart
from pages.ui.i18n import number
from recsys.evaluation import significance, tables


def show(shown: Shown) -> None:
    """Two recommenders and a metric to choose; which is better, and for how many people."""
    if len(shown.board) < 2:
        st.info(words.ONE_MODEL, icon=":material/info:")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        one, other = choose(words.ONE, shown, 0), choose(words.OTHER, shown, 1)
        metric = choice.metric()
    if one == other:
        st.info(words.TWO_DIFFERENT, icon=":material/info:")
        return
    verdicts, damaged = measured.verdicts(shown, metric)
    errors.explain_all(damaged)
    ranks, _ = measured.ranks(shown)
    verdict(shown, significance.select_pair(verdicts, one, other), metric)
    margins(shown, tables.rank_margins(ranks[one], ranks[other]), one, other)


def choose(label: str, shown: Shown, place: int) -> str:
    """The selector of the first (0) or the second (1) recommender."""
    return st.selectbox(
        label,
        shown.board["variant"].tolist(),
        index=place,
        format_func=shown.title,
        key=f"pair-{place}-{shown.name}",
        width=220,
        persist_state="session",
    )


def verdict(shown: Shown, row: pd.Series, metric: str) -> None:
    """The result of the test, in a sentence and in figures; the same as on the leaderboard."""
    side = words.BETTER if row["difference"] > 0 else words.WORSE
    said = words.VERDICT.format(
        n=row["users"],
        one=shown.title(row["variant"]),
        other=shown.title(row["other"]),
        verdict=side if row["differs"] else words.EVEN,
    )
    st.markdown(f"**{common.plain(said)}**")
    with st.grid(3, min_column_width=220):
        with st.container(gap=None):
            st.metric(
                words.DIFFERENCE.format(metric=words.metric_name(metric)), common.metric(row["difference"], sign=True)
            )
            st.caption(words.DIFFERENCE_RANGE.format(low=row["low"], high=row["high"]))
        st.metric(words.P_VALUE, common.metric(row["p"]), help=words.P_HELP)
        st.metric(
            words.P_CORRECTED,
            common.metric(row["p_holm"]),
            help=words.P_CORRECTED_HELP.format(sure=number(significance.ALPHA, "")),
        )


def margins(shown: Shown, table: pd.DataFrame, one: str, other: str) -> None:
    """For how many people each of the two ranks the film higher, and by how much."""
    st.header(words.MARGINS_TITLE)
    a, b, even = tables.count_wins(table)
    first, second = shown.title(one), shown.title(other)
    st.markdown(common.plain(words.WINS.format(one=first, a=a, other=second, b=b, even=even)))
    figure = charts.margins(table, (first, shown.family(one)), (second, shown.family(other)))
    chart(figure, words.MARGINS_ALT.format(one=first, other=second), table, f"pair-{shown.name}")
    st.caption(words.MARGINS_HELP)
