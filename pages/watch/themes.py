"""Films by theme: type what you are in the mood for, and films that come near can be added."""

from typing import Any

import streamlit as st

from pages import _sequence as sequence
from pages import _shared as shared
from pages import _words as words
from recsys.data.schema import DataError, Dataset
from recsys.serving import themes
from recsys.serving.themes import Lacking, Near, ThemeIndex

SHOWN = 8  # films


@st.cache_resource(max_entries=4, show_spinner=False)
def index(name: str) -> ThemeIndex:
    """The theme index of a data set; the first one loads the sentence encoder."""
    return themes.open_index(shared.dataset(name))


@st.fragment
def search(name: str) -> None:
    """The panel, closed at first: the encoder is not touched until it is opened. `name`: of the data set."""
    with st.expander(words.THEME, icon=":material/auto_awesome:", key="theme-open", on_change="rerun") as opened:
        if not opened.open:
            return
        st.caption(words.THEME_HELP)
        text = st.text_input(words.THEME_LABEL, key="theme", type="search", live="400ms", placeholder=words.THEME_HINT)
        with st.spinner(words.THEME_WAKING):
            found = index(name)
        lacks(name, found.lacking)
        if text and text.strip():
            show(shared.dataset(name), found.search(text, SHOWN))


def show(dataset: Dataset, found: list[Near]) -> None:
    """The films that came near, each to be added with a click."""
    if not found:
        st.caption(words.THEME_NONE)
    with st.container(key="near", gap=None):
        for near in found:
            offer(dataset, near)


def offer(dataset: Dataset, near: Near) -> None:
    """One film, greyed out where it is in the list already."""
    film, listed = dataset.catalog.films[near.item], near.item in (st.session_state.films or ())
    quiet = words.ALREADY if listed else words.genres(film.genres)
    st.button(
        f"{words.plain(film.label)} :small[:gray[{words.plain(quiet)}]]",
        key=f"near-{film.movie_id}",
        type="tertiary",
        icon=":material/block:" if listed else ":material/add:",
        disabled=listed,
        on_click=take,
        args=(near.item,),
        width="stretch",
    )


def take(item: int) -> None:
    """Add a film that came near; the theme stays, for more of it."""
    if item not in st.session_state.films:
        sequence.add(item)
    st.rerun()  # all of the page, not the search alone


def lacks(name: str, lacking: Lacking) -> None:
    """Say what is missing for a search by meaning, and how to get it."""
    if lacking is Lacking.NOTHING:
        return
    st.caption(f"{words.THEME_LACKING[lacking.value]} {words.THEME_BY_WORDS}")
    if lacking is Lacking.ENCODER:
        if st.button(words.THEME_FETCH, key="theme-fetch", icon=":material/download:"):
            fetch()
    elif lacking in (Lacking.VECTORS, Lacking.LIBRARY):
        st.caption(words.TYPE)
        line = words.CONTENT_LINE.format(data=name) if lacking is Lacking.VECTORS else words.LIBRARY_LINE
        st.code(line, language=None, wrap_lines=True)


def fetch() -> None:
    """Download the encoder while a bar shows how far it is, then search with it."""
    bar = st.progress(0.0, words.THEME_FETCHING)

    def report(event: dict[str, Any]) -> None:
        bar.progress(_share(event), words.THEME_FETCHING)

    try:
        themes.fetch_encoder(report)
    except (DataError, ImportError) as error:
        bar.empty()
        shared.explain(error)
        return
    index.clear()
    st.rerun()


def _share(event: dict[str, Any]) -> float:
    """How much of a download is done, 0…1, as far as it is known."""
    total = event.get("total") or 0
    return min(event.get("done", 0) / total, 1.0) if total else 0.0
