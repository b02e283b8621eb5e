"""A search box for films, and films as lines to click; what the click does is for the page to say."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.shared import loaders, words
from recsys.data.schema import Film
from recsys.serving.films.search import Found


def box(
    dataset_name: str,
    label: str,
    key: str,
    offer: Callable[[Found], None],
    limit: int,
    found_key: str = "found",
    **look: Any,
) -> None:
    """The box, and below it each film found, drawn by `offer`; `look`: what else the text input is told."""
    text = st.text_input(label, key=key, type="search", live="200ms", placeholder=words.SEARCH_HINT, **look)
    if not text:
        return
    found = loaders.title_index(dataset_name).search(text, limit=limit)
    with st.container(key=found_key, gap=None):
        for film in found:
            offer(film)
    if not found:
        st.caption(words.NOTHING_FOUND)


def line(
    film: Film | Found, key: str, icon: str, on_click: Callable[..., None], args: tuple[Any, ...], reason: str = ""
) -> None:
    """A film to click; greyed out with the reason where it cannot be chosen."""
    quiet = reason or words.genres(film.genres)
    st.button(
        f"{words.plain(film.label)} :small[:gray[{words.plain(quiet)}]]",
        key=key,
        type="tertiary",
        icon=":material/block:" if reason else f":material/{icon}:",
        disabled=bool(reason),
        on_click=on_click,
        args=args,
        width="stretch",
    )
