"""The section Statistics: the size of a data set, and charts of its properties, each with a sentence."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.ui import cache, format
from pages.ui.charts import ACCENT, GREY, SECOND_ACCENT, set_layout, show_chart, wrap_title
from pages.ui.i18n import N_, _, count, ngettext, number
from recsys.data import datasets
from recsys.data.dataset import Dataset
from recsys.data.statistics import Lengths, LongTail, Size, Statistics

CHART_HEIGHT_PX = 300
GAPS_HEIGHT_PX = 240
# the chart of genres has a row for each genre
GENRE_MARGIN_PX = 90  # total height above and below the rows
GENRE_ROW_HEIGHT_PX = 22
MAX_LABELLED_DECADES = 7  # with more decades, every second one has a label
DOTTED_LINE = {"color": GREY, "dash": "dot", "width": 1.5}
GAP_TITLES = {  # time between two consecutive ratings of a person → label
    "the same second": N_("The same second"),
    "under a minute": N_("Under a minute"),
    "under an hour": N_("Under an hour"),
    "under a day": N_("Under a day"),
    "a day or more": N_("A day or more"),
}

Plot = Callable[..., tuple[str, go.Figure]]  # a function that returns a sentence about a chart, and the chart


@cache.cached_for_dataset()
def cached_statistics(name: str) -> Statistics:
    """Return the statistics of a data set."""
    return Statistics.from_dataset(cache.dataset(name))


def show(dataset: Dataset) -> None:
    """Show the size, then the charts in two columns."""
    with st.spinner(_("Counting…")):
        stats = cached_statistics(dataset.name)
    show_size(stats.size)

    def show_plot(title: str, name: str, table: pd.DataFrame, plot: Plot, *arguments: Any) -> None:
        """Show the sentence and the chart of `plot(*arguments)`, unless the table is empty. name: File name."""
        if not table.empty:
            sentence, figure = plot(*arguments)
            st.header(title)
            st.markdown(format.escape_markdown(sentence))
            alt = _("Chart: {title}. {sentence}", title=title, sentence=sentence)
            show_chart(figure, alt, table, f"{name}-{dataset.name}", title)

    left, right = st.columns(2, gap="large")
    with left:
        show_plot(_("How much people watch"), "lengths", stats.lengths.table, plot_lengths, stats.lengths)
        show_plot(_("Stars"), "stars", stats.stars, plot_stars, stats.stars)
        show_plot(_("When people rated"), "times", stats.over_time, plot_times, stats.over_time)
        is_published = dataset.name in datasets.PUBLISHED
        show_plot(_("How fast people rate"), "gaps", stats.gaps, plot_gaps, stats.gaps, is_published)
    with right:
        tail = stats.long_tail
        show_plot(_("How ratings are spread over films"), "long-tail", tail.curve, plot_long_tail, tail)
        show_plot(_("When the films were released"), "decades", stats.decades, plot_decades, stats.decades)
        show_plot(_("Genres"), "genres", stats.genres, plot_genres, stats.genres)


def show_size(size: Size) -> None:
    """Show the number of people, films and ratings, the density, and the period of the ratings."""
    with st.container(horizontal=True, gap="large", key="library_size"):
        st.metric(_("People"), count(size.users), width="content")
        st.metric(_("Films"), count(size.films), width="content")
        st.metric(_("Ratings"), count(size.ratings), width="content")
        help_text = _("Share of all person–film pairs that have a rating. Most pairs have none.")
        st.metric(_("Density"), number(size.density, ".1%"), width="content", help=help_text)
    sentences = []
    if size.last_time:
        start, end = (datetime.fromtimestamp(time, UTC).strftime("%Y-%m") for time in (size.first_time, size.last_time))
        sentences.append(_("Ratings from {first_month} to {last_month}.", first_month=start, last_month=end))
    if size.infrequent_films:
        text = ngettext(
            "{n:,} film with too few ratings for training is not counted. You can find it under “Browse”.",
            "{n:,} films with too few ratings for training are not counted. You can find them under “Browse”.",
            size.infrequent_films,
        )
        sentences.append(text)
    st.caption(format.escape_markdown(" ".join(sentences)))


def plot_lengths(lengths: Lengths) -> tuple[str, go.Figure]:
    """Plot a histogram of the history lengths, with lines at the median and at the 90th percentile."""
    table = lengths.table
    ranges = [
        ngettext("{n:,} film", "{n:,} films", upper)
        if lower == upper
        else ngettext("{lower:,} to {n:,} films", "{lower:,} to {n:,} films", upper, lower=lower)
        for lower, upper in table[["from", "to"]].itertuples(index=False)
    ]
    hover = _("%{customdata} · people: %{y:,}<extra></extra>")
    figure = new_figure(go.Bar(x=table.index, y=table["people"], customdata=ranges, hovertemplate=hover))
    figure.update_layout(bargap=0.06)
    for value, label, shift_px in (  # the labels are at different heights, because the lines can be close together
        (lengths.median, _("median: {n:,.0f}", n=lengths.median), 15),
        (lengths.p90, _("90th percentile: {n:,.0f}", n=lengths.p90), 0),
    ):
        x, style = bar_position(table, value), {"showarrow": False, "font": {"size": 12}}
        figure.add_vline(x, line=DOTTED_LINE)
        figure.add_annotation(x=x, y=1, yref="paper", yanchor="bottom", yshift=shift_px, text=label, **style)
    ticks = table.index[:: max(1, len(table) // 6)]  # at most 11 bars have a tick
    title = wrap_title(_("Films per person (bars further right cover a wider range)"))
    tick_texts = [count(length) for length in table["from"][ticks]]
    figure.update_xaxes(title=title, tickvals=ticks - 0.5, ticktext=tick_texts)  # at the left edges of the bars
    figure.update_yaxes(title=_("People"), tickformat=",")
    sentence = ngettext(
        "Half of the people rated at most {median:,.0f} film. One in ten rated more than {p90:,.0f}, and one person "
        "rated {longest:,}.",
        "Half of the people rated at most {median:,.0f} films. One in ten rated more than {p90:,.0f}, and one person "
        "rated {longest:,}.",
        round(lengths.median),
        median=lengths.median,
        p90=lengths.p90,
        longest=lengths.longest,
    )
    return sentence, figure


def bar_position(table: pd.DataFrame, length: float) -> float:
    """Return the x coordinate of a history length in the histogram. Bar i spans i - 0.5 to i + 0.5."""
    bar = int(table["from"].searchsorted(length, side="right")) - 1
    lower, upper = table.loc[bar, "from"], table.loc[bar, "to"]
    return bar - 0.5 + float((length - lower) / (upper + 1 - lower))


def plot_stars(table: pd.DataFrame) -> tuple[str, go.Figure]:
    """Plot the share of the ratings by stars."""
    names = [number(value, "g") for value in table["stars"]]
    figure = new_figure(go.Bar(x=names, y=table["share"], hovertemplate="%{x}: %{y:.1%}"))
    figure.update_xaxes(title=_("Stars"), type="category")
    figure.update_yaxes(title=_("Share of the ratings"), tickformat=".0%")
    sentence = _(
        "The mean is {mean:.2f} stars, and {high:.0%} of the ratings are four stars or more. People mostly rate films "
        "that they chose to watch.",
        mean=float((table["stars"] * table["share"]).sum()),
        high=float(table.loc[table["stars"] >= 4, "share"].sum()),
    )
    return sentence, figure


def plot_times(table: pd.DataFrame) -> tuple[str, go.Figure]:
    """Plot the number of ratings by month or year."""
    hover = _("%{x} · ratings: %{y:,}, people: %{customdata:,}<extra></extra>")
    figure = new_figure(go.Bar(x=table["when"], y=table["ratings"], customdata=table["people"], hovertemplate=hover))
    figure.update_xaxes(type="category", nticks=8)
    figure.update_yaxes(title=_("Ratings"), tickformat=",")
    busiest = table.loc[table["ratings"].idxmax()]
    sentence = ngettext(
        "{when} has the most ratings: {share:.0%} of all, by {n:,} person.",
        "{when} has the most ratings: {share:.0%} of all, by {n:,} people.",
        int(busiest["people"]),
        when=busiest["when"],
        share=float(busiest["ratings"] / table["ratings"].sum()),
    )
    return sentence, figure


def plot_gaps(table: pd.DataFrame, is_published: bool) -> tuple[str, go.Figure]:
    """Plot the distribution of the time between consecutive ratings of a person. "The same second" is highlighted.

    is_published: Whether the ratings are of MovieLens, and not of a visitor's own data set.
    """
    figure = go.Figure()
    is_same_second = table["gap"] == "the same second"
    figure.add_bar(
        x=table["share"],
        y=[_(GAP_TITLES[gap]) for gap in table["gap"]],
        orientation="h",
        marker={"color": is_same_second.map({True: SECOND_ACCENT, False: ACCENT})},
        text=[number(share, ".0%" if share >= 0.01 else ".1%") for share in table["share"]],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y}: %{x:.1%}",
    )
    set_layout(figure, GAPS_HEIGHT_PX, right=40).update_yaxes(autorange="reversed", showgrid=False)
    figure.update_xaxes(title=_("Share of consecutive ratings"), tickformat=".0%", rangemode="tozero")
    sentence = _(
        "{share:.0%} of the ratings were given in the same second as the previous rating.",
        share=float(table.loc[is_same_second, "share"].sum()),
    )
    reason = (
        _(
            "People rate a page of films at once, long after they watched them. So the order within a second is not "
            "the order of watching."
        )
        if is_published
        else _("Their order is not known.")
    )
    return f"{sentence} {reason}", figure


def plot_long_tail(tail: LongTail) -> tuple[str, go.Figure]:
    """Plot the Lorenz curve with points at the most watched 1%, 10% and 20% of films, and the line of equality."""
    curve, share_of_top = tail.curve, tail.rating_share_of_top
    hover = _("%{x:.1%} of the films, %{y:.1%} of the ratings<extra></extra>")
    figure = new_figure()
    equal_name = _("if all films were watched equally often")
    figure.add_scatter(x=[0, 1], y=[0, 1], mode="lines", name=equal_name, line=DOTTED_LINE, hoverinfo="skip")
    line = {"color": ACCENT, "width": 2.5}
    figure.add_scatter(
        x=curve["films"], y=curve["ratings"], mode="lines", name=_("actual"), line=line, hovertemplate=hover
    )
    figure.add_scatter(
        x=list(share_of_top),
        y=list(share_of_top.values()),
        mode="markers+text",
        text=[f"{number(films, '.0%')} → {number(ratings, '.0%')}" for films, ratings in share_of_top.items()],
        textposition="middle right",
        textfont={"size": 12},
        marker={"color": ACCENT, "size": 9},
        showlegend=False,
        hovertemplate=hover,
    )
    figure.update_xaxes(title=_("Share of the films, most watched first"), tickformat=".0%", range=[-0.01, 1.01])
    figure.update_yaxes(title=_("Share of the ratings"), tickformat=".0%", rangemode="tozero")
    sentence = _(
        "The most watched 1% of the films have {top_1:.0%} of all ratings, the top 10% have {top_10:.0%}, and the "
        "top 20% have {top_20:.0%}. The Gini coefficient is {gini:.2f}. It is 0 if all films are watched equally "
        "often, and near 1 if one film has all ratings.",
        top_1=share_of_top[0.01],
        top_10=share_of_top[0.1],
        top_20=share_of_top[0.2],
        gini=tail.gini,
    )
    return sentence, figure


def plot_decades(table: pd.DataFrame) -> tuple[str, go.Figure]:
    """Plot the shares of the films and of the ratings by decade of the film."""
    figure = new_figure()
    for column, colour, name in (("films", GREY, _("share of films")), ("ratings", ACCENT, _("share of ratings"))):
        share = table[column] / max(1, table[column].sum())
        hover = _("{decade}s", decade="%{x}") + ": %{y:.1%}"  # Plotly replaces %{x} by the decade
        figure.add_bar(x=table["decade"], y=share, name=name, marker={"color": colour}, hovertemplate=hover)
    figure.update_xaxes(title=_("Decade"), dtick=10 if len(table) <= MAX_LABELLED_DECADES else 20)
    figure.update_yaxes(tickformat=".0%")
    by_decade = table.set_index("decade")
    film_decade, rating_decade = by_decade["films"].idxmax(), by_decade["ratings"].idxmax()
    if film_decade == rating_decade:
        sentence = _("The {decade}s have the most films, and their films have the most ratings.", decade=film_decade)
    else:
        sentence = _(
            "The {films}s have the most films. Films of the {ratings}s have the most ratings.",
            films=film_decade,
            ratings=rating_decade,
        )
    return sentence, figure


def plot_genres(table: pd.DataFrame) -> tuple[str, go.Figure]:
    """Plot the shares of the films and of the ratings by genre, the most watched genre on top."""
    figure, names = go.Figure(), [format.display_tag(genre) for genre in table["genre"]]
    line = {"mode": "lines", "line": {"color": GREY, "width": 1.5}, "showlegend": False, "hoverinfo": "skip"}
    for name, film_share, rating_share in zip(names, table["films"], table["ratings"], strict=True):
        figure.add_scatter(x=[film_share, rating_share], y=[name, name], **line)
    for column, colour, symbol, title in (
        ("films", GREY, "circle-open", _("share of films")),
        ("ratings", ACCENT, "circle", _("share of ratings")),
    ):
        marker = {"color": colour, "symbol": symbol, "size": 10}
        figure.add_scatter(
            x=table[column], y=names, mode="markers", name=title, marker=marker, hovertemplate="%{y}: %{x:.1%}"
        )
    set_layout(figure, GENRE_MARGIN_PX + GENRE_ROW_HEIGHT_PX * len(table))
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_xaxes(tickformat=".0%", rangemode="tozero")
    excess = table["ratings"] - table["films"]  # both are shares
    sentence = _(
        "{top} has the most ratings. Relative to its share of the films, {over} is watched most and {under} least. A "
        "film counts towards each of its genres.",
        top=names[0],
        over=names[int(excess.argmax())],
        under=names[int(excess.argmin())],
    )
    return sentence, figure


def new_figure(*traces: go.Bar | go.Scatter) -> go.Figure:
    """Return a figure of CHART_HEIGHT_PX. Bars have the colour ACCENT."""
    figure = set_layout(go.Figure(traces), CHART_HEIGHT_PX)
    return figure.update_traces(marker_color=ACCENT, selector={"type": "bar"})
