"""Head-to-head: two recommenders on the same people."""

import pandas as pd
import streamlit as st

from pages.evaluation import choice, measured, words
from pages.evaluation.charts import groups as charts
from pages.evaluation.measured import Shown
from pages.ui import errors, format
from pages.ui.charts import chart
from pages.ui.i18n import _, ngettext, number
from recsys.evaluation import significance, tables


def show(shown: Shown) -> None:
    """Two recommenders and a metric to choose; which is better, and for how many people."""
    if len(shown.board) < 2:
        st.info(_("Only one recommender has been measured here. Two are needed."), icon=":material/info:")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        one, other = choose(_("One recommender"), shown, 0), choose(_("The other"), shown, 1)
        metric = choice.metric()
    if one == other:
        st.info(_("Choose two different recommenders."), icon=":material/info:")
        return
    verdicts, damaged = measured.verdicts(shown, metric)
    errors.show_file_errors(damaged)
    ranks, _unused = measured.ranks(shown)
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
    side = _("is better than") if row["difference"] > 0 else _("is worse than")
    said = ngettext(
        "On the same person, {one} {verdict} {other}.",
        "On the same {n:,} people, {one} {verdict} {other}.",
        row["users"],
        one=shown.title(row["variant"]),
        other=shown.title(row["other"]),
        verdict=side if row["differs"] else _("shows no significant difference from"),
    )
    st.markdown(f"**{format.escape_markdown(said)}**")
    with st.grid(3, min_column_width=220):
        with st.container(gap=None):
            st.metric(
                _("Difference in {metric}", metric=words.metric_name(metric)),
                format.metric(row["difference"], sign=True),
            )
            st.caption(_("95% interval from {low:+.4f} to {high:+.4f}", low=row["low"], high=row["high"]))
        st.metric(
            _("p"),
            format.metric(row["p"]),
            help=_("How often a difference as large would come about if the two recommenders were equally good."),
        )
        st.metric(
            _("p, corrected"),
            format.metric(row["p_holm"]),
            help=_(
                "p corrected for all pairs of the leaderboard (Holm), as there: a pair has the same verdict "
                "on both. Below {sure} the difference is significant.",
                sure=number(significance.ALPHA, ""),
            ),
        )


def margins(shown: Shown, table: pd.DataFrame, one: str, other: str) -> None:
    """For how many people each of the two ranks the film higher, and by how much."""
    st.header(_("Who ranks the hidden film higher"))
    a, b, even = tables.count_wins(table)
    first, second = shown.title(one), shown.title(other)
    st.markdown(
        format.escape_markdown(
            _(
                "Number of people for whom it is {one}: {a:,}; {other}: {b:,}; even: {even:,}.",
                one=first,
                a=a,
                other=second,
                b=b,
                even=even,
            )
        )
    )
    figure = charts.margins(table, (first, shown.family(one)), (second, shown.family(other)))
    chart(
        figure,
        _(
            "For how many people {one} or {other} ranks the hidden film higher, and by how much",
            one=first,
            other=second,
        ),
        table,
        f"pair-{shown.name}",
    )
    st.caption(
        _("A rank of 5 against 10 is 2× higher, as is 50 against 100. Of several seeds it is the (geometric) mean.")
    )
