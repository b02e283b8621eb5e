"""The rank of any film in several recommenders' lists: a tab of Compare.

Session state: sought (data set, item and title of the film that was looked up last).
"""

import streamlit as st

from pages import _compare_ask as ask
from pages import _compare_html as html
from pages import _download as download
from pages import _shared as shared
from pages import _words as words
from recsys.data.schema import Dataset
from recsys.serving import hidden
from recsys.serving.models import Variant
from recsys.serving.recommend import recommend, standings
from recsys.serving.search import Found


def one_film(dataset: Dataset, films: tuple[int, ...], chosen: list[Variant]) -> None:
    """A search box, and where the film that was chosen in it stands."""
    search(dataset)
    item = sought(dataset)
    if item is None:
        item = start(dataset, films)
    if item is not None:
        show(dataset, films, chosen, item)


def search(dataset: Dataset) -> None:
    """The search box and what it finds."""
    text = st.text_input(
        words.SEEK,
        key="seek",
        type="search",
        live="200ms",
        placeholder=words.SEARCH_HINT,
        help=words.SEEK_HELP,
        width=420,
    )
    if not text:
        return
    found = shared.title_index(dataset.name).search(text, limit=6)
    with st.container(key="found", gap=None):
        for film in found:
            offer(dataset.name, film)
    if not found:
        st.caption(words.NOTHING_FOUND)


def offer(name: str, film: Found) -> None:
    """One film that was found, to look up with a click; greyed out with the reason where no model knows it."""
    quiet = film.reason or words.genres(film.genres)
    st.button(
        f"{words.plain(film.label)} :small[:gray[{words.plain(quiet)}]]",
        key=f"seek-{film.movie_id}",
        type="tertiary",
        icon=":material/block:" if film.reason else ":material/search:",
        disabled=not film.selectable,
        on_click=seek,
        args=(name, film),
        width="stretch",
    )


def seek(name: str, film: Found) -> None:
    """Remember the film and empty the search box."""
    st.session_state.sought = (name, film.item, film.label)
    st.session_state.seek = ""


def sought(dataset: Dataset) -> int | None:
    """The item that was looked up last, found again by its title in another data set; None, and said, if it is gone."""
    name, item, label = st.session_state.get("sought", (dataset.name, None, ""))
    if name == dataset.name:
        return item
    film = shared.title_index(dataset.name).exact(label)
    if film is None or film.item is None:
        st.caption(words.plain(words.SEEK_LOST.format(film=label, data=shared.data_title(dataset.name))))
        return None
    return film.item


def start(dataset: Dataset, films: tuple[int, ...]) -> int | None:
    """The most watched film that the visitor has not seen, before any was looked up; None where there is none."""
    first = recommend(dataset, shared.model(shared.fallback(), dataset.name), films, k=1)
    return dataset.catalog.item_of[first[0].movie_id] if first else None


def show(dataset: Dataset, films: tuple[int, ...], chosen: list[Variant], item: int) -> None:
    """Where a film stands in each list; one that was watched, as if watched films counted too."""
    label, watched = dataset.catalog.films[item].label, item in films
    st.markdown(f"**{words.plain(label)}**")
    if watched:
        st.caption(words.plain(words.SEEK_WATCHED.format(film=label)))
    rows = ask.each(
        dataset, chosen, lambda _, model: standings(dataset, model, [films], [item], hide_seen=not watched)[0]
    )
    if rows:
        st.html(html.standings(rows, words.RANKS_OF.format(film=label)))
        download.csv(hidden.table({name: [row] for name, row in rows.items()}, [label]), "ranks-of-a-film")
