"""Films by theme: type what you are in the mood for, and similar films can be added."""

from typing import Any

import streamlit as st

from pages.shared import errors, find, loaders, sequence
from pages.shared.fetch import share
from pages.watch import words
from recsys.data.schema import Dataset
from recsys.errors import RecsysError, python, recsys_command
from recsys.serving.films import themes
from recsys.serving.films.themes import Missing, Near, ThemeIndex

SHOWN = 8  # films


@st.cache_resource(max_entries=4, show_spinner=False)
def index(name: str) -> ThemeIndex:
    """The theme index of a data set; the first one loads the sentence encoder."""
    return themes.open_index(loaders.dataset(name))


@st.fragment
@errors.explained()
def search(name: str) -> None:
    """The panel, closed at first: the encoder is not touched until it is opened. `name`: of the data set."""
    with st.expander(words.THEME, icon=":material/auto_awesome:", key="theme-open", on_change="rerun") as opened:
        if not opened.open:
            return
        st.caption(words.THEME_HELP)
        text = st.text_input(words.THEME_LABEL, key="theme", type="search", live="400ms", placeholder=words.THEME_HINT)
        with st.spinner(words.THEME_WAKING):
            found = index(name)
        say_missing(name, found.missing)
        if text and text.strip():
            show(loaders.dataset(name), found.search(text, SHOWN))


def show(dataset: Dataset, found: list[Near]) -> None:
    """The most similar films, each to be added with a click."""
    if not found:
        st.caption(words.THEME_NONE)
    with st.container(key="near", gap=None):
        for near in found:
            offer(dataset, near)


def offer(dataset: Dataset, near: Near) -> None:
    """One film, greyed out where it is in the list already."""
    film = dataset.catalog.films[near.item]
    reason = words.ALREADY if near.item in (st.session_state.films or ()) else ""
    find.line(film, f"near-{film.movie_id}", "add", take, (near.item,), reason)


def take(item: int) -> None:
    """Add a film that was found; the theme stays, for more of it."""
    if item not in st.session_state.films:
        sequence.add(item)
    st.rerun()  # all of the page, not the search alone


def say_missing(name: str, missing: Missing) -> None:
    """Say what is missing for a search by meaning, and how to get it."""
    if missing is Missing.NOTHING:
        return
    st.caption(f"{words.THEME_MISSING[missing.value]} {words.THEME_BY_WORDS}")
    if missing is Missing.ENCODER:
        if st.button(words.THEME_FETCH, key="theme-fetch", icon=":material/download:"):
            fetch()
    elif missing is Missing.VECTORS:
        errors.command(recsys_command("train", "content-sentence", "--dataset", name))
    else:
        errors.command(f"{python()} -m pip install sentence-transformers")


def fetch() -> None:
    """Download the encoder while a bar shows how far it is, then search with it."""
    bar = st.progress(0.0, words.THEME_FETCHING)

    def report(event: dict[str, Any]) -> None:
        bar.progress(share(event), words.THEME_FETCHING)

    try:
        themes.fetch_encoder(report)
    except RecsysError:
        bar.empty()
        raise
    index.clear()
    st.rerun()
