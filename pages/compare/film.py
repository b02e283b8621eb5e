"""The rank of any film in several recommenders' lists: a tab of Compare.

Session state: sought (data set, item and title of the film that was looked up last).
"""

import streamlit as st

from pages.compare import chosen, tables
from pages.ui import browser, cache, charts, film_search, format
from pages.ui.i18n import _, say
from recsys.data.dataset import Dataset
from recsys.serving.films.search import Found
from recsys.serving.insight import hidden
from recsys.serving.recommend import Request, recommend, standing


def one_film(dataset: Dataset, films: tuple[int, ...], names: list[str]) -> None:
    """A search box, and the rank of the film that was chosen in it."""
    film_search.search_box(
        dataset.name,
        _("Which film?"),
        "seek",
        lambda film: offer(dataset.name, film),
        6,
        on_enter=lambda film: seek(dataset.name, film),
        help=_(
            "Type any title to see its rank with each recommender. The bar is full for rank 1 and empty "
            "for the last rank, on a logarithmic scale."
        ),
        width=420,
    )
    item = sought(dataset)
    if item is None:
        item = start(dataset, films)
    if item is not None:
        show(dataset, films, names, item)
    browser.place_focus()


def offer(name: str, film: Found) -> None:
    """One film that was found, to look up with a click; greyed out with the reason where no model knows it."""
    film_search.film_button(film, f"seek-{film.movie_id}", "search", seek, (name, film), say(film.reason))


def seek(name: str, film: Found) -> None:
    """Remember the film and empty the search box; not one that no model knows."""
    if film.selectable:
        st.session_state.sought = (name, film.item, film.label)
        st.session_state.seek = ""
        browser.focus_on("seek")


def sought(dataset: Dataset) -> int | None:
    """The item that was looked up last, found again by its title in another data set; None, and said, if it is gone."""
    name, item, label = st.session_state.get("sought", (dataset.name, None, ""))
    if name == dataset.name:
        return item
    film = cache.title_index(dataset.name).exact(label)
    if film is None or not film.selectable:
        st.caption(
            format.escape_markdown(
                _("{film} is not in {data}. Type another title.", film=label, data=cache.dataset_title(dataset.name))
            )
        )
        return None
    return film.item


def start(dataset: Dataset, films: tuple[int, ...]) -> int | None:
    """The most watched film that the visitor has not seen, before any was looked up; None where there is none."""
    return next((pick.item for pick in recommend(cache.popularity_predictor(dataset.name), Request(films, k=1))), None)


def show(dataset: Dataset, films: tuple[int, ...], names: list[str], item: int) -> None:
    """The rank of a film in each list; of one that was watched, as if watched films were listed too."""
    label, watched = dataset.catalog.films[item].label, item in films
    st.markdown(f"**{format.escape_markdown(label)}**")
    if watched:
        st.caption(
            format.escape_markdown(
                _(
                    "You have watched {film}, so no list shows it. This is its rank if watched films were listed too.",
                    film=label,
                )
            )
        )
    rows = chosen.each(dataset, names, lambda predictor: standing(predictor, films, item, hide_seen=not watched))
    if rows:
        st.html(tables.standings(rows, _("The rank of {film} in each recommender's list", film=label)))
        charts.download_buttons(hidden.table({name: [row] for name, row in rows.items()}, [label]), "ranks-of-a-film")
