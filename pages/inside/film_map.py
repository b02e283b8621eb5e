"""The section Map: film embeddings in the plane, with named regions and nearest neighbours."""

from functools import partial

import pandas as pd
import streamlit as st

from pages.inside import common, film_map_chart
from pages.inside.film_map_chart import display_term, region_label
from pages.ui import cache, charts, errors, film_search, recommenders, tasks
from pages.ui.format import escape_markdown, percent
from pages.ui.i18n import _, count, localize_chart, ngettext
from pages.ui.url import COLOUR_OPTIONS, PROJECTIONS
from pages.ui.widgets import segmented_control, translate
from recsys import paths
from recsys.data.dataset import Dataset
from recsys.errors import python
from recsys.serving.insight import embedding_map, tsne
from recsys.serving.insight.embedding_map import PCA, TSNE, FilmMap, Region
from recsys.serving.predictor import Predictor

CHART_KEY = "film-points"
MAX_TERMS = 3  # terms of a region in the table
MAX_EXAMPLE_FILMS = 3  # films of a region in the table


_cached_map = cache.cached_for_predictor(max_entries=8)(embedding_map.make_film_map)


@cache.cached_for_predictor(max_entries=8)
def _tsne_regions(predictor: Predictor) -> list[Region]:
    """Return the regions of the t-SNE map."""
    points = _cached_map(predictor, TSNE).table[["x", "y"]].to_numpy()
    return embedding_map.find_regions(points, predictor.dataset.catalog, predictor.dataset.counts)


def show(dataset: Dataset, history: tuple[int, ...]) -> None:
    """Show the menus, the map and its tables, the search box, and the neighbours of the chosen film.

    history: Items of the visitor's list.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="map-controls"):
        name = common.choose_recommender(lambda model: model.has_item_embeddings, dataset, "mapped")
        method = segmented_control(_("Projection"), {title: title for title in PROJECTIONS}, "projection")
        colour_by = segmented_control(_("Colour by"), translate(COLOUR_OPTIONS), "map_colour")
    predictor = recommenders.predictor(name, dataset)
    if predictor is None:
        return
    if method == TSNE and not show_tsne_status(predictor):
        method = PCA
    film_map = _cached_map(predictor, method)
    regions = _tsne_regions(predictor) if method == TSNE else []
    text = _(
        "For {model}, each film is an **embedding** of {n} numbers. Films with a similar place in people's histories "
        "have similar embeddings. The map shows films in two dimensions. Search for a film or click a point.",
        n=film_map.unit_vectors.shape[1],
        model=escape_markdown(cache.recommender_title(predictor)),
    )
    st.markdown(text)
    chosen_item = find_chosen_item(dataset, history)
    neighbours = embedding_map.neighbours(film_map.unit_vectors, chosen_item)
    choose = partial(choose_film, dataset.fingerprint)
    map_column, side_column = st.columns([5, 3], gap="large")
    with side_column:
        film_search.search_box(
            dataset.name,
            label=_("Find a film"),
            key="map_search",
            render=lambda film: film_search.film_button(
                film, f"mark-{film.movie_id}", "location_searching", choose, (film.number,), _(film.unscored_reason)
            ),
            limit=5,
            results_key="found-on-map",
            on_enter=lambda film: choose(film.number) if not film.is_infrequent else None,  # the map has only items
        )
        show_neighbours(predictor, chosen_item, neighbours)
    with map_column:
        show_map(predictor, film_map, regions, history, chosen_item, [item for item, _cosine in neighbours], colour_by)
        if regions:
            common.show_table_expander(region_table(dataset, regions), _("regions of the map"), "regions")
        charts.download_buttons(film_map.table, f"map-{common.slug(predictor)}", _("Map"))


def show_tsne_status(predictor: Predictor) -> bool:
    """Return whether the t-SNE map exists. If not, show how to start its computation, or the progress or an error."""
    if tsne.load_points(predictor) is not None:
        return True
    task_name, key = f"tsne/{predictor.key}", f"tsne-{common.slug(predictor)}"
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


def find_chosen_item(dataset: Dataset, history: tuple[int, ...]) -> int:
    """Return the item that the visitor has chosen on the map or in the search, else the newest item of the history."""
    fingerprint, item = st.session_state.get("map_film", (None, None))
    return item if fingerprint == dataset.fingerprint else history[-1]


def choose_film(fingerprint: str, item: int) -> None:
    """Mark an item on the map, and empty the search box. fingerprint: Fingerprint of the data set."""
    st.session_state.map_film = (fingerprint, item)
    st.session_state.map_search = ""


def handle_click(fingerprint: str, n_items: int) -> None:
    """Choose the clicked film. Ignore selection events of Plotly without a valid item.

    n_items: Number of items of the data set with this fingerprint.
    """
    points = st.session_state[CHART_KEY].selection.points
    item = points[0].get("customdata") if points else None
    if isinstance(item, list) and item:  # customdata is a number or a list of one number
        item = item[0]
    if isinstance(item, int) and 0 <= item < n_items:
        choose_film(fingerprint, item)


def show_neighbours(predictor: Predictor, chosen_item: int, neighbours: list[tuple[int, float]]) -> None:
    """Show the films with the most similar embeddings. neighbours: `embedding_map.neighbours` of the chosen item."""
    films = predictor.dataset.catalog.films
    title = _("Nearest to {film}", film=films[chosen_item].label)
    help_text = _("Cosine similarity of the full embeddings: 1.00 is the same direction, 0.00 means unrelated.")
    st.header(escape_markdown(title), help=help_text)
    common.show_neighbours(films, neighbours)
    table = pd.DataFrame([{**films[item]._asdict(), "cosine": cosine} for item, cosine in neighbours])
    charts.download_buttons(table, f"neighbours-{common.slug(predictor)}", title)


def show_map(
    predictor: Predictor,
    film_map: FilmMap,
    regions: list[Region],
    history: tuple[int, ...],
    chosen_item: int,
    neighbours: list[int],
    colour_by: str,
) -> None:
    """Show the map with labels of regions and marked films, and notes about it.

    Args:
        predictor: The recommender.
        film_map: The positions of all items.
        regions: [] for PCA.
        history: Items of the visitor's list, to mark.
        chosen_item: Item to mark.
        neighbours: Items to mark.
        colour_by: Key of COLOUR_OPTIONS.
    """
    dataset, model = predictor.dataset, cache.recommender_title(predictor)
    visible_films = embedding_map.limit_films(film_map.table, [*history, chosen_item, *neighbours])
    figure = film_map_chart.plot_films(visible_films, colour_by)
    film_map_chart.label_regions(figure, regions, film_map.table)
    film_map_chart.mark_films(figure, film_map.table, history, chosen_item, neighbours)
    # Plotly keeps the zoom until `uirevision` changes
    figure.update_layout(uirevision=f"{dataset.name}-{model}-{film_map.method}")
    alt = ngettext(
        "Map of {n:,} film in {model}, coloured by {colour}. {film} is marked.",
        "Map of {n:,} films in {model}, coloured by {colour}. {film} is marked.",
        len(visible_films),
        model=model,
        colour=_(COLOUR_OPTIONS[colour_by]),
        film=dataset.catalog.films[chosen_item].label,
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
    if colour_by == "genre":
        text = _(
            "A film with several genres counts towards the rarest of them, not counting genres that fewer than 5% of "
            "the films have. The seven genres with the most films have a colour. All other films are “Other genres”."
        )
        st.caption(text)


def map_notes(film_map: FilmMap, n_visible: int) -> list[str]:
    """Return sentences about the axes, the regions, and the number of visible films if the map leaves films out."""
    if film_map.variance_shares is None:  # t-SNE
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
        x, y = film_map.variance_shares
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
            "The map shows the most watched of the {all:,} films.",
            "The map shows the {n:,} most watched of the {all:,} films.",
            n_visible,
            all=len(film_map.table),
        )
        notes.append(text)
    return notes


def region_table(dataset: Dataset, regions: list[Region]) -> pd.DataFrame:
    """Return a table with a row for each region: number of films, terms that describe it, most watched films."""
    films = dataset.catalog.films
    rows = [
        {
            _("Region"): region_label(region) or _("(no typical term)"),
            _("Films"): count(len(region.items)),
            _("More frequent here"): "; ".join(
                _(
                    "{name} {here:.0%}, among all films {everywhere:.0%}",
                    name=display_term(term),
                    here=term.region_share,
                    everywhere=term.catalog_share,
                )
                for term in region.terms[:MAX_TERMS]
            ),
            _("Most watched"): ", ".join(films[item].label for item in region.items[:MAX_EXAMPLE_FILMS].tolist()),
        }
        for region in regions
    ]
    return pd.DataFrame(rows).set_index(_("Region"))
