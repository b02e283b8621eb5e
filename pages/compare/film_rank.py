"""The tab of Compare that ranks a film with each of the compared recommenders.

Session state: rank_film (tuple of the selected film: fingerprint of its data set, item, label).
"""

import streamlit as st

from pages.compare import common
from pages.ui import browser, cache, film_search, format
from pages.ui.i18n import _
from recsys.data.dataset import Dataset
from recsys.serving.filters import Filters
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import RankPosition, Request, rank_positions, rankings, recommend
from recsys.serving.search.search import SearchResult


def show(dataset: Dataset, films: tuple[int, ...], names: list[str]) -> None:
    """Show a search box and the ranks of the selected film. The default is the most popular unwatched film."""
    film_search.search_box(
        dataset.name,
        label=_("Which film?"),
        key="seek",
        render=lambda film: film_search.film_button(
            film,
            key=f"seek-{film.movie_id}",
            icon="search",
            on_click=select_film,
            args=(dataset, film),
            disabled_reason=_(film.unscored_reason),
        ),
        limit=6,
        on_enter=lambda film: select_film(dataset, film),
        help=_(
            "Type a title to see its rank with each recommender. A full bar means rank 1, and an empty bar means the "
            "last rank. The scale is logarithmic."
        ),
        width=420,
    )
    item = find_selected_item(dataset)
    if item is None:
        most_watched = recommend(cache.popularity_predictor(dataset.name), Request(films, k=1))
        item = most_watched[0].item if most_watched else None
    if item is not None:
        show_film(dataset, films, names, item)
    browser.place_focus()


def select_film(dataset: Dataset, film: SearchResult) -> None:
    """Select a film and clear the search box. An infrequent film is ignored, because it has no rank."""
    if not film.is_infrequent:
        st.session_state.rank_film = (dataset.fingerprint, film.number, film.label)
        st.session_state.seek = ""
        browser.focus_on("seek")


def find_selected_item(dataset: Dataset) -> int | None:
    """Return the selected item, or None if no item of this data set is selected.

    A film that was selected in another data set is looked up by its label. If it is not an item of this data set, a
    caption shows why.
    """
    selected = st.session_state.get("rank_film")
    if selected is None:
        return None
    fingerprint, item, label = selected
    if fingerprint == dataset.fingerprint:
        return item
    film = cache.title_index(dataset.name).find_exact(label)
    if film is None or film.is_infrequent:
        title = cache.dataset_title(dataset.name)
        text = (
            _("{film} is not in {data}. Try another title.", film=label, data=title)
            if film is None
            else _("{film} has too few ratings in {data} to be ranked. Try another title.", film=label, data=title)
        )
        st.caption(format.escape_markdown(text))
        return None
    return film.number


def show_film(dataset: Dataset, films: tuple[int, ...], names: list[str], item: int) -> None:
    """Show the rank of a film with each recommender. Watched films are ranked only if the film is watched."""
    label, is_watched = dataset.catalog.films[item].label, item in films
    st.markdown(f"**{format.escape_markdown(label)}**")
    if is_watched:
        text = _("You have watched {film}, so no list shows it. This is its rank among all films.", film=label)
        st.caption(format.escape_markdown(text))
    request = Request(films, filters=Filters(hide_seen=not is_watched))

    def compute_rank(predictor: Predictor) -> RankPosition:
        (ranking,) = rankings(predictor, [request])
        return rank_positions(ranking, [item])[0]

    if ranks := common.compute_for_ready(dataset, names, compute_rank):
        common.show_rank_table(ranks, label, "ranks-of-a-film")
