"""A map of a model's film embeddings, with named regions, and neighbours in all their dimensions."""

from typing import Any

import pandas as pd
import streamlit as st

from pages.inside import charts, map_chart, offered, step, words
from pages.ui import cache, errors, film_cards, film_search, format, recommenders
from pages.ui import charts as ui_charts
from pages.ui.i18n import _, count, localised, ngettext, number, say
from recsys import paths
from recsys.data.dataset import Dataset
from recsys.errors import python
from recsys.serving.films.search import Found
from recsys.serving.insight import embedding_map, regions, tsne
from recsys.serving.insight.embedding_map import PCA, TSNE, FilmMap
from recsys.serving.insight.regions import Region
from recsys.serving.predictor import Predictor

POINTS = "film-points"  # the chart's key
TERMS, FIRST = 3, 3  # of a region, in the table: what sets it apart, and films


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=cache.PREDICTOR_HASH)
def _map(predictor: Predictor, method: str) -> FilmMap:
    return embedding_map.embedding_map(predictor, method)


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=cache.PREDICTOR_HASH)
def _regions(predictor: Predictor) -> list[Region]:
    table = _map(predictor, TSNE).table
    dataset = predictor.dataset
    return regions.regions(table[["x", "y"]].to_numpy(), dataset.catalog, dataset.counts)


@st.fragment
@errors.show_errors()
def show(dataset: Dataset, films: tuple[int, ...]) -> None:
    """Choose a model and a colour; search or click a film; see the map and the neighbours."""
    name, method, colour = choose(dataset.name)
    predictor = recommenders.predictor(name, dataset)
    if predictor is None:
        return
    if method == TSNE and not has_tsne(predictor):
        method = PCA
    found = _map(predictor, method)
    areas = _regions(predictor) if method == TSNE else []
    st.markdown(
        ngettext(
            "Every film is an **embedding** of {n} numbers to {model}: films that are watched in the "
            "same company have similar ones. The map puts all of them on a plane. Search for a film, or "
            "click a point.",
            "Every film is an **embedding** of {n} numbers to {model}: films that are watched in the "
            "same company have similar ones. The map puts all of them on a plane. Search for a film, or "
            "click a point.",
            found.directions.shape[1],
            model=format.escape_markdown(cache.recommender_title(predictor)),
        )
    )
    chosen = chosen_film(dataset, films)
    chart, side = st.columns([5, 3], gap="large")
    with side:
        film_search.search_box(
            dataset.name,
            _("Find a film"),
            "map_search",
            lambda film: offer(dataset.name, film),
            5,
            "found-on-map",
            on_enter=lambda film: choose_film(dataset.name, film.item) if film.selectable else None,
        )
        neighbours(dataset, found, chosen, f"{name}-{dataset.name}")
    with chart:
        draw(dataset, found, areas, films, chosen, colour, cache.recommender_title(predictor))
        if areas:
            charts.as_table(region_table(dataset, areas), _("the regions of the map"), "regions")
        ui_charts.download_buttons(found.table, f"map-{name}-{dataset.name}")


def has_tsne(predictor: Predictor) -> bool:
    """Whether its t-SNE map is there; where it is not, the button that computes it is shown."""
    if tsne.kept(predictor) is not None:
        return True
    room = st.empty()
    with room.container(border=True, key="tsne"):
        st.markdown(
            ngettext(
                "The t-SNE map of {model} on this set has not been computed yet, so this is PCA. Computing "
                "it for {n:,} films runs on this machine, once.",
                "The t-SNE map of {model} on this set has not been computed yet, so this is PCA. Computing "
                "it for {n:,} films runs on this machine, once.",
                predictor.dataset.n_items,
                model=format.escape_markdown(cache.recommender_title(predictor)),
            )
        )
        name = f"tsne-{predictor.variant.name}-{predictor.dataset.name}"
        asked = st.session_state.setdefault("tsne_asked", set())
        if paths.is_public():  # minutes of all cores are nothing that a visitor may start
            errors.show_command(f"{python()} -m {tsne.__name__} {predictor.dataset.name} {predictor.variant.name}")
            return False
        if name not in asked:
            st.button(
                _("Compute the t-SNE map"), key=name, icon=":material/scatter_plot:", on_click=asked.add, args=(name,)
            )
            return False
        asked.discard(name)  # whoever leaves meanwhile asks again
        bar = st.progress(0.0, _("Computing the map: {share}", share=number(0, ".0%")))

        def report(event: dict[str, Any]) -> None:
            share = event["done"] / event["total"]
            bar.progress(share, _("Computing the map: {share}", share=number(share, ".0%")))

        tsne.compute(predictor, report)
    room.empty()
    return True


def choose(data: str) -> tuple[str, str, str]:
    """Recommender, projection, what the colour says."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="map-controls"):
        name = offered.choose(offered.with_embeddings(), data, "mapped", width=240)
        method = st.segmented_control(
            _("Projection"), [TSNE, PCA], default=TSNE, required=True, key="projection", persist_state="session"
        )
        colour = st.segmented_control(
            _("Colour by"),
            list(words.COLOURS),
            default="decade",
            required=True,
            format_func=lambda name: words.COLOURS[name],
            key="map_colour",
            persist_state="session",
        )
    return name, method, colour


def chosen_film(dataset: Dataset, films: tuple[int, ...]) -> int:
    """The film that was searched or clicked in this data set, else the visitor's newest."""
    name, item = st.session_state.get("map_film", (None, None))
    return item if name == dataset.name and item is not None and item < dataset.n_items else films[-1]


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
    film_search.film_button(
        film, f"mark-{film.movie_id}", "location_searching", choose_film, (name, film.item), say(film.reason)
    )


def neighbours(dataset: Dataset, found: FilmMap, chosen: int, name: str) -> None:
    """The films nearest to the chosen one, by all dimensions."""
    films = dataset.catalog.films
    near = found.neighbours(chosen)
    st.header(
        format.escape_markdown(_("Nearest to {film}", film=films[chosen].label)),
        help=_(
            "By the angle between their numbers, all of them: 1.00 is the same direction, 0.00 has nothing in common."
        ),
    )
    rows = [
        film_cards.film_bar_row(rank, films[item], cosine, number(cosine, ".2f"))
        for rank, (item, cosine) in enumerate(near, start=1)
    ]
    step.rows(rows)
    table = pd.DataFrame([{**films[item]._asdict(), "cosine": cosine} for item, cosine in near])
    ui_charts.download_buttons(table, f"neighbours-{name}")


def draw(
    dataset: Dataset,
    found: FilmMap,
    areas: list[Region],
    films: tuple[int, ...],
    chosen: int,
    colour: str,
    model: str,
) -> None:
    """The chart, and what its axes and its labels mean."""
    near = [item for item, _unused in found.neighbours(chosen)]
    table = embedding_map.to_draw(found.table, [*films, chosen, *near])
    figure = map_chart.chart(found.table, table, areas, films, chosen, near, colour)
    figure.update_layout(uirevision=f"{dataset.name}-{model}-{found.shares is None}")
    label = dataset.catalog.films[chosen].label
    about = ngettext(
        "A map of {n:,} films as {model} sees them, coloured by {colour}; {film} is marked",
        "A map of {n:,} films as {model} sees them, coloured by {colour}; {film} is marked",
        len(table),
        model=model,
        colour=words.COLOURS[colour],
        film=label,
    )
    with st.container(key="film-map"):
        st.plotly_chart(
            localised(figure),
            alt=about,
            key=POINTS,
            on_select=lambda: clicked(dataset.name, dataset.n_items),
            selection_mode="points",
            config={"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d"]},
        )
    st.caption(explained(found, len(table)))
    if colour == "genre":
        st.caption(_("A film with several genres has the colour of the rarest one that at least 5% of the films have."))


def explained(found: FilmMap, n_drawn: int) -> str:
    """What the picture shows of the embeddings, in a sentence or two."""
    if found.shares is None:
        said = (
            _(
                "t-SNE keeps films together that are neighbours in all numbers. Who is near whom means "
                "something; the distance between far regions, and the axes, do not."
            )
            + " "
            + _(
                "The regions were found by k-means. Each is called by the genre, tag or decade that is more "
                "frequent there than in the whole set, by six standard errors and more. The tenth of the "
                "films with the most ratings are widely watched, the third with the fewest seldom."
            )
        )
    else:
        x, y = found.shares
        said = _(
            "These two axes explain {share} of the variance ({x} from left to right, {y} upwards). The "
            "neighbours are found with all numbers.",
            share=format.percent(x + y),
            x=format.percent(x),
            y=format.percent(y),
        )
    part = (
        ngettext(
            "The {n:,} films watched most are drawn, of {all:,}.",
            "The {n:,} films watched most are drawn, of {all:,}.",
            n_drawn,
            all=len(found.table),
        )
        if n_drawn < len(found.table)
        else ""
    )
    return f"{said} {part}".strip()


def region_table(dataset: Dataset, areas: list[Region]) -> pd.DataFrame:
    """Each region with what sets it apart and the films watched most."""
    known = dataset.catalog.films
    rows = [
        {
            _("Region"): words.region(area.label) or _("(nothing stands out)"),
            _("Films"): count(len(area.items)),
            _("More frequent here"): "; ".join(
                _(
                    "{name} {here:.0%}, of all films {everywhere:.0%}",
                    name=format.display_tag(term.name),
                    here=term.here,
                    everywhere=term.everywhere,
                )
                for term in area.terms[:TERMS]
            ),
            _("Watched most"): ", ".join(known[item].label for item in area.items[:FIRST].tolist()),
        }
        for area in areas
    ]
    return pd.DataFrame(rows).set_index(_("Region"))
