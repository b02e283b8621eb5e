"""The picture of the map of films: points with colours, names of regions, and the films that are marked."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.inside import charts, words
from pages.ui import format
from pages.ui.i18n import _, count, ngettext
from recsys.serving.insight import embedding_map
from recsys.serving.insight.regions import Region

TICKS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)  # views, on a logarithmic scale
DECADES = (1960, 1970, 1980, 1990, 2000, 2010, 2020)
DECADE_COLOURS = ("#6d5a9c", "#5487c8", "#3a9fb5", "#1f9a94", "#6aa84f", "#d0a02c", "#d9663b")  # old to new
SCALE = [[0, "#6d5a9c"], [0.5, "#1f9a94"], [1, "#e0a243"]]
HEIGHT = 620
ROOM, PHONE_ROOM = (620, 480), (330, 430)  # pixels that the points have on a wide screen and on a phone
LETTER, LINE = 6.6, 22  # pixels that a letter of a region's name is wide, and the name high


def chart(
    table: pd.DataFrame,
    drawn: pd.DataFrame,
    areas: list[Region],
    films: tuple[int, ...],
    chosen: int,
    near: list[int],
    colour: str,
) -> go.Figure:
    """The map of all films (table), of which some are drawn."""
    figure = go.Figure(points(drawn, colour))
    name_regions(figure, areas, table)
    mark(figure, table, films, chosen, near)
    figure.update_layout(
        height=HEIGHT,
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        legend={"orientation": "h", "y": -0.02, "yanchor": "top", "itemsizing": "constant"},
        dragmode="pan",
    )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return figure


def points(table: pd.DataFrame, colour: str) -> list[go.Scattergl]:
    """All films as points: a trace for each frequent genre, or one on a colour scale."""
    if colour == "genre":
        genre = embedding_map.common_genres(table)
        shown = [name for name in genre.value_counts().index if name != embedding_map.OTHER_GENRE]
        traces = [
            dots(table[genre == name], format.display_tag(name), {"color": colour})
            for name, colour in zip(shown, charts.KINDS, strict=False)
        ]
        return [dots(table[genre == embedding_map.OTHER_GENRE], _("Other genres"), {"color": charts.GREY}), *traces]
    if colour == "decade":
        return by_decade(table)
    ticks = [n for n in TICKS if n <= max(table["views"].max(), 1)]
    bar = {"tickvals": np.log10(ticks), "ticktext": [count(n) for n in ticks]}
    marker = {"color": np.log10(table["views"].clip(lower=1)), "colorscale": SCALE, "showscale": True, "colorbar": bar}
    return [dots(table, words.COLOURS["views"], marker, legend=False)]


def by_decade(table: pd.DataFrame) -> list[go.Scattergl]:
    """A trace for each decade, those before the first of DECADES together; the older, the darker."""
    decade = (table["year"] // 10 * 10).astype("Float64").clip(lower=DECADES[0])
    traces = []
    if decade.isna().any():
        traces.append(dots(table[decade.isna()], _("no year"), {"color": charts.GREY}))
    for start, colour in zip(DECADES, DECADE_COLOURS, strict=True):
        films = table[(decade == start).fillna(False)]
        name = _("before {year}", year=DECADES[1]) if start == DECADES[0] else _("{year}s", year=start)
        if len(films):
            traces.append(dots(films, name, {"color": colour}))
    return traces


def dots(table: pd.DataFrame, name: str, marker: dict[str, Any], legend: bool = True) -> go.Scattergl:
    """One trace of films, item numbers with them."""
    look = {"size": 6, "opacity": 0.6, **marker}
    if "colorscale" in marker:
        look["colorbar"] = {"thickness": 10, "outlinewidth": 0, **marker.get("colorbar", {})}
    return go.Scattergl(
        x=table["x"],
        y=table["y"],
        mode="markers",
        name=name,
        showlegend=legend,
        customdata=table.index.to_numpy(),
        text=labels(table),
        hovertemplate="%{text}<extra></extra>",
        marker=look,
        unselected={"marker": {"opacity": look["opacity"]}},  # a click marks a film; the others need not fade
    )


def labels(table: pd.DataFrame) -> list[str]:
    """Title, year, genres and views of each film, for hovering."""
    found = []
    for title, year, genres, views in zip(table["title"], table["year"], table["genres"], table["views"], strict=True):
        name = title if pd.isna(year) else f"{title} ({year})"
        found.append(
            f"<b>{words.in_chart(name)}</b><br>{format.display_genres(genres)}<br>"
            + ngettext("watched once", "watched {n:,} times", views)
        )
    return found


def mark(figure: go.Figure, table: pd.DataFrame, films: tuple[int, ...], chosen: int, near: list[int]) -> None:
    """The chosen film with its name, its neighbours, and the visitor's own films."""
    own = list(dict.fromkeys(films))
    ring = {"color": "rgba(0, 0, 0, 0)", "line": {"width": 2, "color": charts.ACCENT}}
    looks = (
        (_("Its neighbours"), near, ring | {"size": 13}),
        (_("Your films"), own, {"size": 12, "symbol": "diamond", "color": charts.SECOND}),
        (_("Chosen film"), [chosen], {"size": 19, "symbol": "star", "color": charts.ACCENT}),
    )
    for name, items, marker in looks:
        trace = dots(table.iloc[items], name, {"opacity": 1, "line": {"width": 1.5, "color": "white"}} | marker)
        figure.add_trace(trace)
    here = table.iloc[chosen]
    title = f"<b>{words.in_chart(charts.short(here['title'], 40))}</b>"
    figure.add_annotation(
        x=here["x"],
        y=here["y"],
        text=title,
        yshift=24,
        showarrow=False,
        font={"size": 13, "color": "white"},
        bgcolor="#0f6b6b",
        borderpad=3,
    )


def name_regions(figure: go.Figure, areas: list[Region], table: pd.DataFrame) -> None:
    """The names of the regions in their middles, as far as there is room; on a phone style.css hides some of them."""
    dark = st.context.theme.type == "dark"
    named = with_room(areas, table, ROOM)
    on_phone = with_room(named, table, PHONE_ROOM)
    for area in [*on_phone, *(area for area in named if area not in on_phone)]:
        figure.add_annotation(
            x=area.x,
            y=area.y,
            text=words.in_chart(words.region(area.label)),
            showarrow=False,
            font={"size": 12, "color": "#ecebe8" if dark else "#1d1d1f"},
            bgcolor="rgba(20, 21, 24, 0.78)" if dark else "rgba(251, 250, 248, 0.82)",
            borderpad=2,
        )
    hidden = ", ".join(f'.st-key-film-map .annotation[data-index="{n}"]' for n in range(len(on_phone), len(named)))
    if hidden:
        st.html(f"<style>@media (max-width: 640px) {{ {hidden} {{ display: none; }} }}</style>")


def with_room(areas: Sequence[Region], table: pd.DataFrame, room: tuple[int, int]) -> list[Region]:
    """The regions whose names do not lie over each other in a room of so many pixels; those that say most come first.

    A name that tells what films are about comes before one that tells only when they are from or how often watched.
    """
    width, height = (float(np.ptp(table[axis])) or 1.0 for axis in ("x", "y"))
    order = sorted((area for area in areas if area.label), key=lambda area: (not area.tells_what, -len(area.items)))
    taken: list[tuple[float, float, float]] = []
    found = []
    for area in order:
        x, y, wide = area.x / width * room[0], area.y / height * room[1], LETTER * len(words.region(area.label)) + 8
        if all(abs(x - a) > (wide + other) / 2 or abs(y - b) > LINE for a, b, other in taken):
            taken.append((x, y, wide))
            found.append(area)
    return found
