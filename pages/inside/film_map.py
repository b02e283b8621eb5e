"""The section Map: film embeddings in the plane, with named regions and nearest neighbours."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.inside import common
from pages.ui import cache, charts, errors, film_search, recommenders, session, tasks
from pages.ui.charts import ACCENT, GREY, SECOND_ACCENT
from pages.ui.format import display_genres, display_group, display_tag, escape_markdown, percent
from pages.ui.i18n import _, count, localize_chart, ngettext
from pages.ui.url import COLOUR_OPTIONS, PROJECTIONS
from pages.ui.widgets import segmented_control, translated
from recsys import paths
from recsys.data.dataset import Dataset
from recsys.errors import python
from recsys.serving.insight import embedding_map, tsne
from recsys.serving.insight.embedding_map import OTHER_GENRE, PCA, TSNE, FilmMap, Region, Term
from recsys.serving.predictor import Predictor

CHART_KEY = "film-points"
MAX_TERMS = 3  # terms of a region in the table
MAX_EXAMPLE_FILMS = 3  # films of a region in the table

HEIGHT_PX = 620
PLOT_SIZE_PX = (620, 480)  # width and height on a wide screen
PHONE_PLOT_SIZE_PX = (330, 430)  # width and height on a phone
# size of the label of a region
LETTER_WIDTH_PX = 6.6  # mean width
LABEL_PADDING_PX = 8  # left and right together
LINE_HEIGHT_PX = 22
VIEW_TICKS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)  # numbers of ratings of a film
VIEW_SCALE = [[0, "#6d5a9c"], [0.5, "#1f9a94"], [1, "#e0a243"]]
GENRE_COLOURS = ("#5487c8", "#cf5b7f", "#a08c2e", "#8a75c4", "#5f9e5a", "#d9772f", "#1f9a94")
DECADE_COLOURS = {
    1960: "#6d5a9c",  # also of earlier films
    1970: "#5487c8",
    1980: "#3a9fb5",
    1990: "#1f9a94",
    2000: "#6aa84f",
    2010: "#d0a02c",
    2020: "#d9663b",
}


@cache.cached_for_predictor(max_entries=8)
def _film_map(predictor: Predictor, method: str) -> FilmMap:
    return embedding_map.embedding_map(predictor, method)


@cache.cached_for_predictor(max_entries=8)
def _tsne_regions(predictor: Predictor) -> list[Region]:
    points = _film_map(predictor, TSNE).table[["x", "y"]].to_numpy()
    return embedding_map.find_regions(points, predictor.dataset.catalog, predictor.dataset.counts)


@st.fragment
@errors.show_errors()
def show(dataset: Dataset, films: tuple[int, ...]) -> None:
    """Show the menus, the map with its tables, the search, and the neighbours of the chosen film.

    films: Items of the visitor's list. A similar item replaces each infrequent film.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="map-controls"):
        name = common.choose_recommender(lambda model: model.has_item_embeddings, dataset, "mapped", width=240)
        method = segmented_control(_("Projection"), {name: name for name in PROJECTIONS}, "projection")
        colour = segmented_control(_("Colour by"), translated(COLOUR_OPTIONS), "map_colour")
    session.write_url()  # main.py does not run again when a choice in this fragment changes
    predictor = recommenders.predictor(name, dataset)
    if predictor is None:
        return
    if method == TSNE and not ensure_tsne_map(predictor):
        method = PCA
    film_map = _film_map(predictor, method)
    map_regions = _tsne_regions(predictor) if method == TSNE else []
    text = _(
        "For {model}, each film is an **embedding** of {n} numbers. Films with a similar place in people's histories "
        "have similar embeddings. The map shows films in two dimensions. Search for a film or click a point.",
        n=film_map.unit_vectors.shape[1],
        model=escape_markdown(cache.recommender_title(predictor)),
    )
    st.markdown(text)
    chosen = chosen_film(dataset, films)
    map_column, side_column = st.columns([5, 3], gap="large")
    with side_column:
        film_search.search_box(
            dataset.name,
            label=_("Find a film"),
            key="map_search",
            render=lambda film: film_search.film_button(
                film,
                key=f"mark-{film.movie_id}",
                icon="location_searching",
                on_click=choose_film,
                args=(dataset.fingerprint, film.number),
                disabled_reason=_(film.unscored_reason),
            ),
            limit=5,
            results_key="found-on-map",
            on_enter=lambda film: choose_film(dataset.fingerprint, film.number) if not film.is_infrequent else None,
        )
        show_neighbours(predictor, film_map, chosen)
    with map_column:
        show_map(predictor, film_map, map_regions, films, chosen, colour)
        if map_regions:
            common.table_expander(region_table(dataset, map_regions), _("regions of the map"), "regions")
        charts.download_buttons(film_map.table, f"map-{common.file_name(predictor)}")


def ensure_tsne_map(predictor: Predictor) -> bool:
    """Return whether the t-SNE map exists. If not, show the progress of its computation, or how to start it."""
    if tsne.load_points(predictor) is not None:
        return True
    task_name, key = f"tsne/{predictor.key}", f"tsne-{common.file_name(predictor)}"
    task = tasks.find(task_name)

    def start() -> None:
        tasks.start(task_name, partial(tsne.compute_map, predictor))

    with st.container(border=True, key="tsne"):
        text = ngettext(
            "{model} has no t-SNE map of this data set yet, so the map uses PCA. The t-SNE map of {n:,} film can be "
            "computed on this computer. This is needed only once.",
            "{model} has no t-SNE map of this data set yet, so the map uses PCA. The t-SNE map of {n:,} films can be "
            "computed on this computer. This is needed only once.",
            predictor.dataset.n_items,
            model=escape_markdown(cache.recommender_title(predictor)),
        )
        st.markdown(text)
        if paths.is_public():  # the computation uses all cores for minutes
            errors.show_command(f"{python()} -m {tsne.__name__} {predictor.dataset.name} {predictor.recommender.name}")
        elif task and not task.is_finished:
            tasks.show_progress(
                task_name,
                lambda event: _("Computing the map: {share:.0%}", share=tasks.completed_share(event)),
                _("Cancel *computing the map*"),
                f"stop-{key}",
            )
        elif task and task.error:
            tasks.show_failure(task_name, task.error, f"again-{key}", retry=start)
        else:
            st.button(_("Compute the t-SNE map"), key=key, icon=":material/scatter_plot:", on_click=start)
    return False


def chosen_film(dataset: Dataset, films: tuple[int, ...]) -> int:
    """Return the item that was searched or clicked. By default, return the visitor's newest film."""
    fingerprint, item = st.session_state.get("map_film", (None, None))
    return item if fingerprint == dataset.fingerprint else films[-1]


def choose_film(fingerprint: str, item: int) -> None:
    """Choose the film that is marked on the map, and empty the search box. fingerprint: Of the data set."""
    st.session_state.map_film = (fingerprint, item)
    st.session_state.map_search = ""


def handle_click(fingerprint: str, n_items: int) -> None:
    """Choose the clicked film. Ignore a selection event without a film."""
    points = st.session_state[CHART_KEY].selection.points
    item = points[0].get("customdata") if points else None
    if isinstance(item, list) and item:  # customdata is a number or a list of one number
        item = item[0]
    if isinstance(item, int) and 0 <= item < n_items:
        choose_film(fingerprint, item)


def show_neighbours(predictor: Predictor, film_map: FilmMap, chosen: int) -> None:
    """Show the films with the most similar embeddings."""
    films = predictor.dataset.catalog.films
    neighbours = embedding_map.neighbours(film_map.unit_vectors, chosen)
    st.header(
        escape_markdown(_("Nearest to {film}", film=films[chosen].label)),
        help=_("Cosine similarity of the full embeddings: 1.00 is the same direction, 0.00 means unrelated."),
    )
    common.show_neighbours(films, neighbours)
    table = pd.DataFrame([{**films[item]._asdict(), "cosine": cosine} for item, cosine in neighbours])
    charts.download_buttons(table, f"neighbours-{common.file_name(predictor)}")


def show_map(
    predictor: Predictor, film_map: FilmMap, map_regions: list[Region], films: tuple[int, ...], chosen: int, colour: str
) -> None:
    """Show the map with region labels and marked films. chosen: Item. colour: Key of COLOUR_OPTIONS."""
    dataset, model = predictor.dataset, cache.recommender_title(predictor)
    neighbours = [item for item, _cosine in embedding_map.neighbours(film_map.unit_vectors, chosen)]
    visible_films = embedding_map.limit_films(film_map.table, [*films, chosen, *neighbours])
    figure = go.Figure(view_trace(visible_films) if colour == "views" else group_traces(visible_films, colour))
    label_regions(figure, map_regions, film_map.table)
    mark_films(figure, film_map.table, films, chosen, neighbours)
    is_tsne = film_map.shares is None  # only PCA has shares of the variance
    figure.update_layout(
        height=HEIGHT_PX,
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        legend={"orientation": "h", "y": -0.02, "yanchor": "top", "itemsizing": "constant"},
        dragmode="pan",
        uirevision=f"{dataset.name}-{model}-{is_tsne}",  # Plotly keeps the zoom until this value changes
    )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    alt = ngettext(
        "Map of {n:,} film in {model}, coloured by {colour}. {film} is marked.",
        "Map of {n:,} films in {model}, coloured by {colour}. {film} is marked.",
        len(visible_films),
        model=model,
        colour=_(COLOUR_OPTIONS[colour]),
        film=dataset.catalog.films[chosen].label,
    )
    with st.container(key="film-map"):
        st.plotly_chart(
            localize_chart(figure),
            alt=alt,
            key=CHART_KEY,
            on_select=lambda: handle_click(dataset.fingerprint, dataset.n_items),
            selection_mode="points",
            config={"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d"]},
        )
    st.caption(" ".join(map_notes(film_map, len(visible_films))))
    if colour == "genre":
        st.caption(
            _(
                "A film with several genres has the colour of its rarest genre. Genres of fewer than 5% of the "
                "films are not used."
            )
        )


def map_notes(film_map: FilmMap, n_visible: int) -> list[str]:
    """Return sentences about the axes, the regions and the films on the map."""
    if film_map.shares is None:  # t-SNE
        notes = [
            _(
                "t-SNE keeps similar films close together. Small distances are meaningful. Large distances and the "
                "axes are not."
            ),
            _(
                "The regions come from k-means. Each region is named after genres, tags or decades that are much "
                "more frequent there than in the whole data set (by at least six standard errors). “Widely watched” "
                "means the 10% of films with the most ratings, “rarely watched” the third of films with the fewest."
            ),
        ]
    else:
        x, y = film_map.shares
        notes = [
            _(
                "The two axes explain {share} of the variance ({x} horizontally, {y} vertically). The nearest films "
                "are found with the full embeddings.",
                share=percent(x + y),
                x=percent(x),
                y=percent(y),
            )
        ]
    if n_visible < len(film_map.table):
        text = ngettext(
            "The map shows the most watched film of {all:,}.",
            "The map shows the {n:,} most watched films of {all:,}.",
            n_visible,
            all=len(film_map.table),
        )
        notes.append(text)
    return notes


def region_table(dataset: Dataset, map_regions: list[Region]) -> pd.DataFrame:
    """Return a table of the regions with their terms and most watched films."""
    films = dataset.catalog.films
    rows = [
        {
            _("Region"): region_label(region) or _("(no typical term)"),
            _("Films"): count(len(region.items)),
            _("More frequent here"): "; ".join(
                _(
                    "{name} {here:.0%}, in all films {everywhere:.0%}",
                    name=display_term(term),
                    here=term.region_share,
                    everywhere=term.catalog_share,
                )
                for term in region.terms[:MAX_TERMS]
            ),
            _("Most watched"): ", ".join(films[item].label for item in region.items[:MAX_EXAMPLE_FILMS].tolist()),
        }
        for region in map_regions
    ]
    return pd.DataFrame(rows).set_index(_("Region"))


def region_label(region: Region) -> str:
    """Return the label of a region, such as "Horror · 1980s", in the language of the visitor. "" without terms."""
    return " · ".join(map(display_term, region.label_terms))


def display_term(term: Term) -> str:
    """Return the name of a term in the language of the visitor. Tags stay as users wrote them."""
    return display_group(term.name) if term.kind in ("decade", "views") else display_tag(term.name)


def group_traces(table: pd.DataFrame, colour: str) -> list[go.Scattergl]:
    """Return a trace for each frequent genre or each decade. The grey trace is first, below the others."""
    if colour == "genre":
        genre = embedding_map.common_genres(table)
        names = [name for name in genre.value_counts().index if name != OTHER_GENRE]
        groups = [(genre == OTHER_GENRE, _("Other genres"), GREY)]  # (mask of the films, name, colour)
        groups += [(genre == name, display_tag(name), hue) for name, hue in zip(names, GENRE_COLOURS, strict=False)]
    else:
        earliest = min(DECADE_COLOURS)
        decade = (table["year"] // 10 * 10).clip(lower=earliest)
        groups = [(decade.isna(), _("no year"), GREY)]
        for start, hue in DECADE_COLOURS.items():
            name = _("before {year}", year=start + 10) if start == earliest else _("{year}s", year=start)
            groups.append(((decade == start).fillna(False), name, hue))
    return [film_trace(table[is_member], name, {"color": hue}) for is_member, name, hue in groups if is_member.any()]


def view_trace(table: pd.DataFrame) -> go.Scattergl:
    """Return one trace, coloured by the logarithm of the number of ratings."""
    ticks = [tick for tick in VIEW_TICKS if tick <= max(table["views"].max(), 1)]
    marker = {
        "color": np.log10(table["views"].clip(lower=1)),
        "colorscale": VIEW_SCALE,
        "showscale": True,
        "colorbar": {
            "tickvals": np.log10(ticks),
            "ticktext": [count(tick) for tick in ticks],
            "thickness": 10,
            "outlinewidth": 0,
        },
    }
    return film_trace(table, _("Popularity"), marker).update(showlegend=False)


def film_trace(table: pd.DataFrame, name: str, marker: dict[str, Any]) -> go.Scattergl:
    """Return a trace of films. Its customdata are the items, see `handle_click`."""
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
    label = title if pd.isna(year) else f"{title} ({year})"
    watched = ngettext("watched once", "watched {n:,} times", views)
    return f"<b>{common.plotly_text(label)}</b><br>{common.plotly_text(display_genres(film_genres))}<br>{watched}"


def mark_films(
    figure: go.Figure, table: pd.DataFrame, films: tuple[int, ...], chosen: int, neighbours: list[int]
) -> None:
    """Mark the neighbours, the visitor's films and the chosen film, which also gets its title."""
    white_edge = {"width": 1.5, "color": "white"}
    ring = {"size": 13, "color": "rgba(0, 0, 0, 0)", "line": {"width": 2, "color": ACCENT}}
    diamond = {"size": 12, "symbol": "diamond", "color": SECOND_ACCENT, "line": white_edge}
    star = {"size": 19, "symbol": "star", "color": ACCENT, "line": white_edge}
    for name, items, marker in (
        (_("Nearest films"), neighbours, ring),
        (_("Your films"), list(dict.fromkeys(films)), diamond),
        (_("Chosen film"), [chosen], star),
    ):
        figure.add_trace(film_trace(table.iloc[items], name, {"opacity": 1} | marker))
    film = table.iloc[chosen]
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


def label_regions(figure: go.Figure, map_regions: list[Region], table: pd.DataFrame) -> None:
    """Label the regions whose label has room. On a phone, CSS hides labels that have no room there."""
    is_dark = st.context.theme.type == "dark"
    labelled = regions_with_room(map_regions, table, PLOT_SIZE_PX)
    on_phone = regions_with_room(labelled, table, PHONE_PLOT_SIZE_PX)
    hidden_on_phone = [region for region in labelled if region not in on_phone]
    for region in [*on_phone, *hidden_on_phone]:
        figure.add_annotation(
            x=region.x,
            y=region.y,
            text=common.plotly_text(region_label(region)),
            showarrow=False,
            font={"size": 12, "color": "#ecebe8" if is_dark else "#1d1d1f"},
            bgcolor="rgba(20, 21, 24, 0.78)" if is_dark else "rgba(251, 250, 248, 0.82)",
            borderpad=2,
        )
    indices = range(len(on_phone), len(labelled))  # Plotly numbers annotations in the order of creation
    if selectors := ", ".join(f'.st-key-film-map .annotation[data-index="{index}"]' for index in indices):
        st.html(f"<style>@media (max-width: 640px) {{ {selectors} {{ display: none; }} }}</style>")


def regions_with_room(
    map_regions: Sequence[Region], table: pd.DataFrame, plot_size_px: tuple[int, int]
) -> list[Region]:
    """Return regions whose labels do not overlap.

    Regions with a topic (genre or tag) come before regions without one, and larger regions before smaller ones.
    """
    map_width, map_height = (float(np.ptp(table[axis])) or 1.0 for axis in ("x", "y"))
    plot_width, plot_height = plot_size_px
    by_priority = sorted(
        (region for region in map_regions if region.label_terms),
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
