"""Statistics: what a data set is like, a chart and a sentence for each of its sides."""

from collections.abc import Callable

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.library import charts, words
from pages.shared import loaders
from pages.shared import words as common
from pages.shared.charts import chart
from recsys.data.schema import Dataset
from recsys.data.statistics import Statistics


def numbers(name: str) -> Statistics:
    """The numbers of a data set. To be read only."""
    with st.spinner(words.COUNTING):
        return _numbers(name)


@st.cache_resource(max_entries=4, show_spinner=False)
def _numbers(name: str) -> Statistics:
    return Statistics.of(loaders.dataset(name))


def show(dataset: Dataset) -> None:
    """How much there is, then the charts, two beside each other where there is room."""
    found = numbers(dataset.name)
    how_much(found)
    left, right = st.columns(2, gap="large")
    for column, part in ((left, watched_how_much), (right, which_films)):
        with column:
            part(dataset.name, found)


def how_much(found: Statistics) -> None:
    """People, films, ratings, and how many of all pairs that is."""
    size = found.size
    figures = {
        words.PEOPLE: f"{size.people:,}",
        words.FILMS: f"{size.films:,}",
        words.RATINGS: f"{size.ratings:,}",
        words.DENSITY: f"{size.density:.1%}",
    }
    with st.container(horizontal=True, gap="large", key="library_size"):
        for name, figure in figures.items():
            st.metric(name, figure, width="content", help=words.SIZE_HELP.get(name))
    st.caption(common.plain(words.size(size)))


def watched_how_much(name: str, found: Statistics) -> None:
    """People: how long their histories are, when and how they rate."""
    lengths, stars, times, gaps = found.lengths, found.stars, found.over_time, found.gaps
    part(words.LENGTHS, words.lengths(lengths), lambda: charts.lengths(lengths), lengths.table, f"lengths-{name}")
    part(words.STARS_GIVEN, words.stars(stars), lambda: charts.stars(stars), stars, f"stars-{name}")
    part(words.TIMES, words.times(times), lambda: charts.over_time(times), times, f"times-{name}")
    part(words.SECONDS, words.gaps(gaps), lambda: charts.gaps(gaps), gaps, f"gaps-{name}")


def which_films(name: str, found: Statistics) -> None:
    """Films: how unequally they are watched, when they were made, their genres."""
    tail, years, genres = found.long_tail, found.years, found.genres
    part(words.TAIL, words.long_tail(tail), lambda: charts.long_tail(tail), tail.curve, f"long-tail-{name}")
    part(words.YEARS, words.years(years), lambda: charts.years(years), years, f"decades-{name}")
    part(words.GENRES, words.genres(genres), lambda: charts.genres(genres), genres, f"genres-{name}")


def part(title: str, said: str, draw: Callable[[], go.Figure], table: pd.DataFrame, name: str) -> None:
    """A chart below its title and what it says; nothing where there is nothing to draw."""
    if table.empty:
        return
    st.subheader(title)
    st.markdown(common.plain(said))
    chart(draw(), words.CHART_ALT.format(title=title, said=said), table, name)
