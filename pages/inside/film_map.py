"""A map of a model's film embeddings, with neighbours in all their dimensions."""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.inside import charts, offered, words
from pages.shared import cards, download, errors, find, loaders
from pages.shared import words as common
from recsys.data.schema import Dataset
from recsys.serving.films.search import Found
from recsys.serving.insight import embedding_map
from recsys.serving.insight.embedding_map import FilmMap
from recsys.serving.predictor import Predictor

POINTS = "film-points"  # the chart's key
TICKS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)  # views, on a logarithmic scale
SCALE = [[0, "#6d5a9c"], [0.5, "#1f9a94"], [1, "#e0a243"]]


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=loaders.BY_KEY)
def _map(predictor: Predictor, method: str) -> FilmMap:
    return embedding_map.embedding_map(predictor, method)


@st.fragment
@errors.explained()
def show(dataset: Dataset, films: tuple[int, ...]) -> None:
    """Choose a model and a colour; search or click a film; see the map and the neighbours."""
    name, method, colour = choose()
    predictor = loaders.predictor(name, dataset.name)
    found = _map(predictor, method)
    st.markdown(words.MAP_HELP.format(n=found.directions.shape[1], model=common.plain(predictor.title)))
    chosen = chosen_film(dataset, films)
    chart, side = st.columns([5, 3], gap="large")
    with side:
        find.box(
            dataset.name, words.FIND_ON_MAP, "map_search", lambda film: offer(dataset.name, film), 5, "found-on-map"
        )
        neighbours(dataset, found, chosen, f"{name}-{dataset.name}")
    with chart:
        draw(dataset, found, films, chosen, colour, predictor.title)
        download.csv(found.table, f"map-{name}-{dataset.name}")


def choose() -> tuple[str, str, str]:
    """Recommender, projection (where there are several), what the colour says."""
    methods = embedding_map.methods()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="map-controls"):
        name = offered.choose(offered.with_embeddings(), "mapped", width=220)
        colour = st.segmented_control(
            words.COLOUR_BY,
            list(words.COLOURS),
            default="genre",
            required=True,
            format_func=lambda name: words.COLOURS[name],
            key="map_colour",
            persist_state="session",
        )
        method = methods[0]
        if len(methods) > 1:
            method = st.segmented_control(
                words.PROJECTION, methods, default=methods[0], required=True, key="projection", persist_state="session"
            )
    return name, method, colour


def chosen_film(dataset: Dataset, films: tuple[int, ...]) -> int:
    """The film that was searched or clicked in this data set, else the visitor's newest."""
    name, item = st.session_state.get("map_film", (None, None))
    return item if name == dataset.name else films[-1]


def choose_film(name: str, item: int) -> None:
    """Mark a film on the map."""
    st.session_state.map_film = (name, item)
    st.session_state.map_search = ""


def clicked(name: str, n_items: int) -> None:
    """Mark the film whose point was clicked; whatever else a chart may send is passed over."""
    points = st.session_state[POINTS].selection.points
    item = points[0].get("customdata") if points else None
    item = item[0] if isinstance(item, list) and item else item
    if isinstance(item, int) and 0 <= item < n_items:
        choose_film(name, item)


def offer(name: str, film: Found) -> None:
    """One film that was found, to be marked with a click; greyed out with the reason where no model knows it."""
    find.line(film, f"mark-{film.movie_id}", "location_searching", choose_film, (name, film.item), film.reason)


def neighbours(dataset: Dataset, found: FilmMap, chosen: int, name: str) -> None:
    """The films nearest to the chosen one, by all dimensions."""
    films = dataset.catalog.films
    near = found.neighbours(chosen)
    st.subheader(common.plain(words.NEAREST.format(film=films[chosen].label)), help=words.NEAREST_HELP)
    rows = [
        cards.measured(rank, films[item], cosine, f"{cosine:.2f}") for rank, (item, cosine) in enumerate(near, start=1)
    ]
    st.html(f'<div class="nr-rows">{"".join(rows)}</div>')
    table = pd.DataFrame([{**films[item]._asdict(), "cosine": cosine} for item, cosine in near])
    download.csv(table, f"neighbours-{name}")


def draw(dataset: Dataset, found: FilmMap, films: tuple[int, ...], chosen: int, colour: str, model: str) -> None:
    """The chart and how much of the variance it shows."""
    near = [item for item, _ in found.neighbours(chosen)]
    table = embedding_map.to_draw(found.table, [*films, chosen, *near])
    figure = go.Figure(points(table, colour))
    mark(figure, found.table, films, chosen, near)
    figure.update_layout(
        height=620,
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        legend={"orientation": "h", "y": -0.02, "yanchor": "top", "itemsizing": "constant"},
        uirevision=f"{dataset.name}-{model}",
        dragmode="pan",
    )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    label = dataset.catalog.films[chosen].label
    about = words.MAP_CHART.format(n=len(table), model=model, colour=words.COLOURS[colour], film=label)
    st.plotly_chart(
        figure,
        alt=about,
        key=POINTS,
        on_select=lambda: clicked(dataset.name, dataset.n_items),
        selection_mode="points",
        config={"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d"]},
    )
    st.caption(explained(found, len(table)))


def explained(found: FilmMap, n_drawn: int) -> str:
    """What the picture shows of the embeddings, in a sentence or two."""
    if found.shares is None:
        said = words.MAP_UMAP
    else:
        x, y = found.shares
        said = words.MAP_SHARE.format(share=common.percent(x + y), x=common.percent(x), y=common.percent(y))
    part = words.MAP_PART.format(n=n_drawn, all=len(found.table)) if n_drawn < len(found.table) else ""
    return f"{said} {part}".strip()


def points(table: pd.DataFrame, colour: str) -> list[go.Scattergl]:
    """All films as points: a trace for each frequent genre, or one on a colour scale."""
    if colour == "genre":
        genre = embedding_map.common_genres(table)
        shown = [name for name in genre.value_counts().index if name != embedding_map.OTHER_GENRE]
        traces = [
            dots(table[genre == name], name, {"color": colour})
            for name, colour in zip(shown, charts.KINDS, strict=False)
        ]
        return [dots(table[genre == embedding_map.OTHER_GENRE], words.OTHER_GENRES, {"color": charts.GREY}), *traces]
    if colour == "year":
        known = table["year"].notna()
        marker = {"color": table["year"][known].astype(int), "colorscale": SCALE, "showscale": True}
        dated = dots(table[known], words.COLOURS["year"], marker, legend=False)
        return [dots(table[~known], words.NO_YEAR, {"color": charts.GREY}), dated] if (~known).any() else [dated]
    ticks = [n for n in TICKS if n <= max(table["views"].max(), 1)]
    bar = {"tickvals": np.log10(ticks), "ticktext": [f"{n:,}" for n in ticks]}
    marker = {"color": np.log10(table["views"].clip(lower=1)), "colorscale": SCALE, "showscale": True, "colorbar": bar}
    return [dots(table, words.COLOURS["views"], marker, legend=False)]


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
        found.append(f"<b>{words.in_chart(name)}</b><br>{common.genres(genres)}<br>{words.MAP_WATCHED.format(n=views)}")
    return found


def mark(figure: go.Figure, table: pd.DataFrame, films: tuple[int, ...], chosen: int, near: list[int]) -> None:
    """The chosen film with its name, its neighbours, and the visitor's own films."""
    own = list(dict.fromkeys(films))
    ring = {"color": "rgba(0, 0, 0, 0)", "line": {"width": 2, "color": charts.ACCENT}}
    looks = (
        (words.NEAR_ON_MAP, near, ring | {"size": 13}),
        (words.YOUR_FILMS_ON_MAP, own, {"size": 12, "symbol": "diamond", "color": charts.SECOND}),
        (words.CHOSEN_ON_MAP, [chosen], {"size": 19, "symbol": "star", "color": charts.ACCENT}),
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
