"""The left side of Watch next: the sequence of films, how it is added to, and what can be done with it."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.shared import cards, find, head, loaders, sequence
from pages.shared import words as common
from pages.watch import share, themes, words
from pages.watch.predictions import Answer
from recsys.data.schema import Dataset
from recsys.serving.films.search import Found

ROWS = 12  # films of the sequence on one page


def show(dataset: Dataset, films: tuple[int, ...], answer: Answer | None) -> None:
    """Search, the sequence, and its tools; `answer`: what is predicted after it, for the files."""
    st.subheader(words.YOURS, help=words.YOURS_HELP)
    search(dataset.name)
    themes.search(dataset.name)
    head.show_notices()
    show_viewer(films)
    if films:
        rows(dataset, films)
    else:
        st.caption(words.START)
    tools(dataset, films, answer)
    if not films:
        head.choose_example(dataset)


@st.fragment
def search(name: str) -> None:
    """The search box; only this part runs again while somebody types."""
    find.box(name, words.SEARCH, "search", offer, limit=8)


def offer(film: Found) -> None:
    """One film that was found, to add with a click; greyed out with the reason where it cannot be."""
    reason = words.ALREADY if film.item in st.session_state.films else film.reason
    find.line(film, f"found-{film.movie_id}", "add", take, (film.item,), reason)


def take(item: int) -> None:
    """Add a film that was found and empty the search box."""
    sequence.add(item)
    st.session_state.search = ""
    st.rerun()  # all of the page, not the search alone


def show_viewer(now: tuple[int, ...]) -> None:
    """Whose films these are, while they are still those of a real person."""
    viewer = st.session_state.viewer
    if viewer and viewer.items == now:
        st.caption(common.viewer(viewer.watched, len(now), loaders.data_title(st.session_state.data)))


def rows(dataset: Dataset, films: tuple[int, ...]) -> None:
    """The sequence, oldest first; long ones by pages, the latest page first in sight."""
    pages = -(-len(films) // ROWS)
    page = st.pagination(pages, default=pages, key=f"page-of-{pages}") if pages > 1 else 1
    with st.container(key="sequence", gap="xsmall"):
        for position in range((page - 1) * ROWS, min(page * ROWS, len(films))):
            row(dataset, films, position)


def row(dataset: Dataset, films: tuple[int, ...], position: int) -> None:
    """One film of the sequence with its three buttons."""
    film, last = dataset.catalog.films[films[position]], position == len(films) - 1
    name = common.plain(film.label)
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall"):
        st.html(cards.watched(position + 1, film, last))
        button(words.UP, name, f"up-{position}", "arrow_upward", sequence.move, (position, -1), position == 0)
        button(words.DOWN, name, f"down-{position}", "arrow_downward", sequence.move, (position, 1), last)
        button(words.REMOVE, name, f"remove-{position}", "close", sequence.remove, (position,))


def button(
    sentence: str,
    film: str,
    key: str,
    icon: str,
    action: Callable[..., None],
    args: tuple[Any, ...],
    disabled: bool = False,
) -> None:
    """An icon; the words in *…* tell a screen reader what it does to which film."""
    label = f"*{sentence.format(film=film)}*"
    st.button(label, key=key, icon=f":material/{icon}:", type="tertiary", on_click=action, args=args, disabled=disabled)


def tools(dataset: Dataset, films: tuple[int, ...], answer: Answer | None) -> None:
    """Undo, clear, share, somebody else's films."""
    with st.container(horizontal=True, gap="small"):
        if films or st.session_state.past:
            undo_and_clear(films)
            share.popover(dataset, films, answer)
        st.button(
            words.SURPRISE_AGAIN if films else words.SURPRISE,
            key="surprise",
            icon=":material/casino:",
            help=words.SURPRISE if films else None,
            on_click=sequence.surprise,
            args=(dataset,),
        )


def undo_and_clear(films: tuple[int, ...]) -> None:
    """Take back the last step, or all films."""
    past = bool(st.session_state.past)
    st.button(words.UNDO, key="undo", icon=":material/undo:", on_click=sequence.undo, disabled=not past)
    st.button(
        words.CLEAR,
        key="clear",
        icon=":material/delete_sweep:",
        on_click=sequence.change,
        args=((),),
        disabled=not films,
    )
