"""The chart of the section Map: films coloured by genre, decade or popularity, marked films, and labels of regions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.inside import common
from pages.ui.charts import ACCENT, GREY, SECOND_ACCENT
from pages.ui.film_themes import display_tag_or_theme
from pages.ui.format import display_genres, display_group, display_tag
from pages.ui.i18n import _, count, ngettext
from recsys.serving.insight import embedding_map
from recsys.serving.insight.embedding_map import OTHER_GENRE, Region, Term

HEIGHT_PX = 620  # of the plot and the legend below it
# width and height of the plot without the legend: a label is left out if it has no room
PLOT_SIZE_PX = (620, 480)  # on a wide screen
PHONE_PLOT_SIZE_PX = (330, 430)
# size of the label of a region
LETTER_WIDTH_PX = 6.6  # mean width
LABEL_PADDING_PX = 8  # left and right together
LINE_HEIGHT_PX = 22
RATING_COUNT_TICKS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)  # numbers of ratings of a film
RATING_COUNT_SCALE = [[0, "#6d5a9c"], [0.5, "#1f9a94"], [1, "#e0a243"]]
COLOUR_BAR_LENGTH = 0.92  # share of the height of the plot, below Plotly's toolbar
GENRE_COLOURS = ("#5487c8", "#cf5b7f", "#a08c2e", "#8a75c4", "#5f9e5a", "#d9772f", "#1f9a94")
DECADE_COLOURS = {
    1960: "#6d5a9c",  # also for earlier films
    1970: "#5487c8",
    1980: "#3a9fb5",
    1990: "#1f9a94",
    2000: "#6aa84f",
    2010: "#d0a02c",
    2020: "#d9663b",
}


def plot_films(table: pd.DataFrame, colour_by: str) -> go.Figure:
    """Plot films of `FilmMap.table` as points. colour_by: "genre", "decade" or "views" (number of ratings)."""
    figure = go.Figure(popularity_trace(table) if colour_by == "views" else group_traces(table, colour_by))
    figure.update_layout(
        height=HEIGHT_PX,
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        legend={"orientation": "h", "y": -0.02, "yanchor": "top", "itemsizing": "constant"},
        dragmode="pan",
    )
    return figure.update_xaxes(visible=False).update_yaxes(visible=False)


def region_label(region: Region) -> str:
    """Return the label of a region, such as "Horror · 1980s", in the visitor's language. "" if it has no terms."""
    return " · ".join(map(display_term, region.label_terms))


def display_term(term: Term) -> str:
    """Return the name of a term in the visitor's language. Tags without a translation stay as users wrote them."""
    return display_group(term.name) if term.kind in ("decade", "popularity") else display_tag_or_theme(term.name)


def group_traces(table: pd.DataFrame, colour_by: str) -> list[go.Scattergl]:
    """Return a trace for each frequent genre or decade, after a grey trace for the other films.

    colour_by: "genre" or "decade". Plotly draws the first trace below the others.
    """
    if colour_by == "genre":
        genre = embedding_map.colour_genres(table)
        names = [name for name in genre.value_counts().index if name != OTHER_GENRE]
        groups = [(genre == OTHER_GENRE, _("Other genres"), GREY)]  # (bool for each row of the table, name, colour)
        groups += [
            (genre == name, display_tag(name), colour) for name, colour in zip(names, GENRE_COLOURS, strict=False)
        ]
    else:
        earliest = min(DECADE_COLOURS)
        decade = (table["year"] // 10 * 10).clip(lower=earliest)
        groups = [(decade.isna(), _("no year"), GREY)]
        for start, colour in DECADE_COLOURS.items():
            name = _("before {year}", year=start + 10) if start == earliest else _("{year}s", year=start)
            groups.append(((decade == start).fillna(False), name, colour))
    return [
        film_trace(table[is_member], name, {"color": colour}) for is_member, name, colour in groups if is_member.any()
    ]


def popularity_trace(table: pd.DataFrame) -> go.Scattergl:
    """Return one trace of all films, coloured by the logarithm of the number of ratings (column "views")."""
    ticks = [tick for tick in RATING_COUNT_TICKS if tick <= max(table["views"].max(), 1)]
    marker = {
        "color": np.log10(table["views"].clip(lower=1)),
        "colorscale": RATING_COUNT_SCALE,
        "showscale": True,
        "colorbar": {
            "title": {"text": _("Ratings")},
            "len": COLOUR_BAR_LENGTH,
            "y": 0,
            "yanchor": "bottom",
            "tickvals": np.log10(ticks),
            "ticktext": [count(tick) for tick in ticks],
            "thickness": 10,
            "outlinewidth": 0,
        },
    }
    return film_trace(table, _("Popularity"), marker).update(showlegend=False)


def film_trace(table: pd.DataFrame, name: str, marker: dict[str, Any]) -> go.Scattergl:
    """Return a trace of films. Its customdata are the items, see `film_map.handle_click`."""
    style = {"size": 6, "opacity": 0.6, **marker}
    return go.Scattergl(
        x=table["x"],
        y=table["y"],
        mode="markers",
        name=name,
        showlegend=True,
        customdata=table.index.to_numpy(),
        text=[_hover_text(*row) for row in table[["title", "year", "genres", "views"]].itertuples(index=False)],
        hovertemplate="%{text}<extra></extra>",
        marker=style,
        unselected={"marker": {"opacity": style["opacity"]}},  # a click does not fade the other films
    )


def _hover_text(title: str, year: int | None, film_genres: str, views: int) -> str:
    """Return title, year, genres and number of ratings of a film in the HTML of Plotly."""
    label = title if pd.isna(year) else f"{title} ({year})"
    watched = ngettext("watched once", "watched {n:,} times", views)
    return f"<b>{common.plotly_text(label)}</b><br>{common.plotly_text(display_genres(film_genres))}<br>{watched}"


def mark_films(
    figure: go.Figure, table: pd.DataFrame, history: tuple[int, ...], chosen_item: int, neighbours: list[int]
) -> None:
    """Mark the neighbours, the films of the history and the chosen film. Only the chosen film gets a label.

    table: `FilmMap.table` of all items.
    """
    white_edge = {"width": 1.5, "color": "white"}
    ring = {"size": 13, "color": "rgba(0, 0, 0, 0)", "line": {"width": 2, "color": ACCENT}}
    diamond = {"size": 12, "symbol": "diamond", "color": SECOND_ACCENT, "line": white_edge}
    star = {"size": 19, "symbol": "star", "color": ACCENT, "line": white_edge}
    for name, items, marker in (
        (_("Nearest films"), neighbours, ring),
        (_("Your films"), list(dict.fromkeys(history)), diamond),
        (_("Chosen film"), [chosen_item], star),
    ):
        figure.add_trace(film_trace(table.iloc[items], name, {"opacity": 1} | marker))
    film = table.iloc[chosen_item]
    figure.add_annotation(
        x=film["x"],
        y=film["y"],
        text=f"<b>{common.plotly_text(common.short_title(film['title'], 40))}</b>",
        yshift=24,
        showarrow=False,
        font={"size": 13, "color": "white"},
        bgcolor="#0f6b6b",
        borderpad=3,
    )


def label_regions(figure: go.Figure, regions: list[Region], table: pd.DataFrame) -> None:
    """Label the regions whose label has room. On a phone, CSS hides the labels that do not fit there.

    table: `FilmMap.table` of all items.
    """
    labelled = regions_with_room(regions, table, PLOT_SIZE_PX)
    on_phone = regions_with_room(labelled, table, PHONE_PLOT_SIZE_PX)
    hidden_on_phone = [region for region in labelled if region not in on_phone]
    # CSS selects labels by their index, which Plotly counts in the order of creation
    first_hidden = len(figure.layout.annotations) + len(on_phone)
    for region in [*on_phone, *hidden_on_phone]:
        figure.add_annotation(
            x=region.x,
            y=region.y,
            text=common.plotly_text(region_label(region)),
            showarrow=False,
            font={"size": 12},
            bgcolor="white",  # the style sheet replaces it by the colour of the page
            borderpad=2,
        )
    indices = range(first_hidden, first_hidden + len(hidden_on_phone))
    if selectors := ", ".join(f'.st-key-film-map .annotation[data-index="{index}"]' for index in indices):
        st.html(f"<style>@media (max-width: 640px) {{ {selectors} {{ display: none; }} }}</style>")


def regions_with_room(regions: Sequence[Region], table: pd.DataFrame, plot_size_px: tuple[int, int]) -> list[Region]:
    """Return regions whose labels do not overlap in a plot of this size.

    Labels are placed one after the other: first regions with a topic (genre or tag), and larger regions before smaller
    ones. A region whose label would overlap with a placed label is left out.
    """
    map_width, map_height = (float(np.ptp(table[axis])) or 1.0 for axis in ("x", "y"))
    plot_width, plot_height = plot_size_px
    by_priority = sorted(
        (region for region in regions if region.label_terms),
        key=lambda region: (not region.has_topic, -len(region.items)),
    )
    boxes: list[tuple[float, float, float]] = []  # of placed labels: x and y of the centre, and width, in pixels
    labelled = []
    for region in by_priority:
        x, y = region.x / map_width * plot_width, region.y / map_height * plot_height
        label_width = LETTER_WIDTH_PX * len(region_label(region)) + LABEL_PADDING_PX
        if all(
            abs(x - other_x) > (label_width + other_width) / 2 or abs(y - other_y) > LINE_HEIGHT_PX
            for other_x, other_y, other_width in boxes
        ):
            boxes.append((x, y, label_width))
            labelled.append(region)
    return labelled
