"""Statistics: what a data set is like, a chart and a sentence for each of its sides."""

from collections.abc import Callable

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.library import charts, words
from pages.ui import cache, format
from pages.ui.charts import chart
from pages.ui.i18n import _, count, number
from recsys.data.dataset import Dataset
from recsys.data.statistics import Statistics


def numbers(dataset: Dataset) -> Statistics:
    """The numbers of a data set. To be read only."""
    with st.spinner(_("Counting")):
        return _numbers(dataset.name)


@cache.cached_for_dataset()
def _numbers(name: str) -> Statistics:
    return Statistics.from_dataset(cache.dataset(name))


def show(dataset: Dataset) -> None:
    """How much there is, then the charts, two beside each other where there is room."""
    found = numbers(dataset)
    how_much(found)
    left, right = st.columns(2, gap="large")
    for column, part in ((left, watched_how_much), (right, which_films)):
        with column:
            part(dataset, found)


def how_much(found: Statistics) -> None:
    """People, films, ratings, and how many of all pairs that is."""
    size = found.size
    figures = {
        _("People"): count(size.people),
        _("Films"): count(size.films),
        _("Ratings"): count(size.ratings),
        _("Density"): number(size.density, ".1%"),
    }
    with st.container(horizontal=True, gap="large", key="library_size"):
        for name, figure in figures.items():
            about = (
                _("How many of all pairs of a person and a film were rated. Nearly all of the table is empty.")
                if name == _("Density")
                else None
            )
            st.metric(name, figure, width="content", help=about)
    st.caption(format.escape_markdown(words.size(size)))


def watched_how_much(dataset: Dataset, found: Statistics) -> None:
    """People: how long their histories are, when and how they rate."""
    lengths, stars, times, gaps = found.lengths, found.stars, found.over_time, found.gaps
    part(
        dataset,
        _("How much people watch"),
        words.lengths(lengths),
        lambda: charts.lengths(lengths),
        lengths.table,
        "lengths",
    )
    part(dataset, _("Stars"), words.stars(stars), lambda: charts.stars(stars), stars, "stars")
    part(dataset, _("When people rated"), words.times(times), lambda: charts.over_time(times), times, "times")
    part(dataset, _("How fast people rate"), words.gaps(gaps), lambda: charts.gaps(gaps), gaps, "gaps")


def which_films(dataset: Dataset, found: Statistics) -> None:
    """Films: how unequally they are watched, when they were made, their genres."""
    tail, years, genres = found.long_tail, found.years, found.genres
    part(
        dataset,
        _("A few films for many, many for few"),
        words.long_tail(tail),
        lambda: charts.long_tail(tail),
        tail.curve,
        "long-tail",
    )
    part(dataset, _("When the films were made"), words.years(years), lambda: charts.years(years), years, "decades")
    part(dataset, _("Genres"), words.genres(genres), lambda: charts.genres(genres), genres, "genres")


def part(
    dataset: Dataset, title: str, said: str, draw: Callable[[], go.Figure], table: pd.DataFrame, name: str
) -> None:
    """A chart below its title and what it says; nothing where there is nothing to draw."""
    if table.empty:
        return
    st.header(title)
    st.markdown(format.escape_markdown(said))
    chart(draw(), _("Chart: {title}. {said}", title=title, said=said), table, f"{name}-{dataset.name}")
