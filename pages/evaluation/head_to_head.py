"""The section Head-to-head: a paired test of two recommenders, and for how many people each is better."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.evaluation import data
from pages.evaluation.charts import look
from pages.evaluation.data import EvaluationView, metric_title
from pages.ui import format
from pages.ui.charts import GREY, set_layout, show_chart
from pages.ui.i18n import N_, _, count, ngettext, number
from pages.ui.widgets import selectbox
from recsys.evaluation import significance, tables

# `tables.rank_margins`: absolute value of a margin → ratio of the two ranks of the hidden film
RATIO_LABELS = {1: "< 2×", 2: "2–4×", 3: "4–8×", 4: "≥ 8×"}
TIED = N_("tied")
CHART_HEIGHT_PX = 330


def show(view: EvaluationView) -> None:
    """Show the menus, the result of the test and the chart of rank margins."""
    if len(view.board) < 2:
        st.info(_("Only one recommender has results here. Two are needed."), icon=":material/info:")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        titles = view.titles
        left = selectbox(_("First recommender"), titles, "first_of_pair", width=220)
        right = selectbox(_("Second recommender"), titles, "second_of_pair", default=list(titles)[1], width=220)
        metric = data.select_metric()
    if left == right:
        st.info(_("Select two different recommenders."), icon=":material/info:")
        return
    show_test(view, significance.select_pair(data.pairwise_tests(view, metric), left, right), metric)
    ranks, _load_errors = data.ranks(view)
    show_margins(view, tables.rank_margins(ranks[left], ranks[right]), left, right)


def show_test(view: EvaluationView, test: pd.Series, metric: str) -> None:
    """Show the result of a test as a sentence, and its numbers. test: Row of `significance.pairwise_tests`."""
    titles = {"left": view.title(test["variant"]), "right": view.title(test["other"])}
    n = int(test["users"])
    if not test["differs"]:
        text = ngettext(
            "Tested on {n:,} person, {left} and {right} do not differ significantly.",
            "Tested on {n:,} people, {left} and {right} do not differ significantly.",
            n,
            **titles,
        )
    elif test["difference"] > 0:
        text = ngettext(
            "Tested on {n:,} person, {left} is better than {right}.",
            "Tested on {n:,} people, {left} is better than {right}.",
            n,
            **titles,
        )
    else:
        text = ngettext(
            "Tested on {n:,} person, {left} is worse than {right}.",
            "Tested on {n:,} people, {left} is worse than {right}.",
            n,
            **titles,
        )
    st.markdown(f"**{format.escape_markdown(text)}**")
    with st.grid(3, min_column_width=220):
        with st.container(gap=None):
            difference = format.metric(test["difference"], has_sign=True)
            st.metric(_("Difference in {metric}", metric=metric_title(metric)), difference)
            st.caption(_("95% interval from {low:+.4f} to {high:+.4f}", low=test["low"], high=test["high"]))
        st.metric(
            _("p value"),
            format.metric(test["p"]),
            help=_("Probability of a difference at least this large if both recommenders were equally good."),
        )
        st.metric(
            _("p value, corrected"),
            format.metric(test["p_holm"]),
            help=_(
                "Holm's correction for all pairs of the leaderboard. The difference is significant below {alpha}.",
                alpha=number(significance.ALPHA, ""),
            ),
        )


def show_margins(view: EvaluationView, margins: pd.DataFrame, left: str, right: str) -> None:
    """Show for how many people each recommender ranks the hidden film higher. margins: From `tables.rank_margins`."""
    st.header(_("Which recommender ranks the hidden film higher?"))
    n_left, n_right, n_tied = tables.count_wins(margins)
    titles = {"left": view.title(left), "right": view.title(right)}
    text = _(
        "Number of people for whom the hidden film ranks higher: {left} {n_left:,}, {right} {n_right:,}, tied "
        "{n_even:,}.",
        n_left=n_left,
        n_right=n_right,
        n_even=n_tied,
        **titles,
    )
    st.markdown(format.escape_markdown(text))
    alt = _("Number of people for whom {left} or {right} ranks the hidden film higher, by factor", **titles)
    show_chart(plot_margins(view, margins, left, right), alt, margins, f"pair-{view.key}", _("Head-to-head"))
    text = _(
        "Rank 5 counts as 2× higher than rank 10, just as rank 50 counts as 2× higher than rank 100. Ranks are "
        "averaged over seeds (geometric mean)."
    )
    st.caption(text)


def plot_margins(view: EvaluationView, margins: pd.DataFrame, left: str, right: str) -> go.Figure:
    """Plot the number of users by margin. Margins above 0 have the colour of `left`, below 0 the colour of `right`."""
    figure = go.Figure()
    ticks = [RATIO_LABELS[abs(margin)] if margin else _(TIED) for margin in margins["margin"]]
    for sign, winner in ((-1, right), (0, None), (1, left)):
        rows = margins[np.sign(margins["margin"]) == sign]
        colour = look(view.family(winner)).colour if winner else GREY
        pattern = "/" if winner == right else ""  # recommenders of one family have the same colour
        figure.add_bar(
            x=rows["margin"],
            y=rows["users"],
            text=rows["users"].map(count),
            textposition="outside",
            cliponaxis=False,
            name=view.title(winner) if winner else _(TIED),
            marker={"color": colour, "pattern_shape": pattern},
            hovertemplate="%{y:,}",
        )
    set_layout(figure, CHART_HEIGHT_PX).update_layout(showlegend=True)
    figure.update_xaxes(tickvals=margins["margin"], ticktext=ticks, tickangle=0, tickfont={"size": 11})
    axis_end = 1.12 * max(margins["users"].max(), 1)  # with room for the numbers above the bars
    return figure.update_yaxes(title=_("People"), range=[0, axis_end], tickformat=",")
