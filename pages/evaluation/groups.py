"""By user group: a metric for groups of people."""

import streamlit as st

from pages.evaluation import choice, measured, words
from pages.evaluation.charts import groups as charts
from pages.evaluation.measured import Shown
from pages.ui import errors, format
from pages.ui.charts import chart
from pages.ui.i18n import _
from recsys.evaluation import groups, tables


def show(shown: Shown) -> None:
    """A way to divide people, a metric and recommenders to choose; a row for each group."""
    dataset = measured.data_of(shown)
    _unused, damaged = measured.ranks(shown)
    errors.show_file_errors(damaged)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        slicing = choose(groups.available_groupings(dataset))
        metric = choice.metric()
    variants = measured.comparable(shown, dataset)
    first = tables.best_of_families(shown.board, variants, 3)
    chosen = choice.recommenders(shown, variants, first, "slices", most=5)
    if not chosen:
        return
    table = measured.sliced(shown, dataset, variants, slicing, metric)
    st.caption(
        _("The same figure for groups of people; n is how many are in a group, the bar the 95% interval over them.")
    )
    if slicing in groups.USER_GROUPINGS:
        lengths = groups.median_lengths(measured.split(shown, dataset), slicing)
        each = ", ".join(_("{n:,} for {group}", group=format.display_group(group), n=n) for group, n in lengths.items())
        st.caption(
            _(
                "As people described themselves. The groups differ in size, and in how many films their "
                "people had watched before (median: {lengths}). Both move the figures, so compare "
                "recommenders within a group, not groups with each other.",
                lengths=each,
            )
        )
    own = table[table["variant"].isin(chosen)]
    own = own.sort_values("variant", key=lambda column: column.map(chosen.index), kind="stable")
    by = words.SLICINGS.get(slicing, slicing)
    about = _(
        "{metric} of {names}, by: {slicing}", metric=words.metric_name(metric), names=shown.names(chosen), slicing=by
    )
    figure = charts.slices(own, shown.board, words.metric_name(metric))
    chart(figure, about, table, f"slices-{shown.name}-{slicing.replace(' ', '-')}")


def choose(offered: list[str]) -> str:
    """The selector of what people are divided by."""
    return st.selectbox(
        _("Split people by"),
        offered,
        format_func=lambda name: words.SLICINGS.get(name, name),
        key="slicing",
        width=250,
        persist_state="session",
    )
