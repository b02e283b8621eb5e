"""A search box for films, and films as lines to click; what the click does is for the page to say."""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from pages.ui import announce, keyboard, loaders, words
from pages.ui.i18n import _, ngettext
from recsys.data import datasets
from recsys.data.dataset import Film
from recsys.errors import RecsysError
from recsys.serving.films.name_index import PHRASE
from recsys.serving.films.search import Found, TitleIndex

SHOWN = 60  # letters of a query that is quoted
ENOUGH = 3  # letters from which on something is said about other data sets


@loaders.of_set(most=8)
def films_of(name: str) -> TitleIndex:
    """The search index over the films of another set on this machine, without reading its ratings."""
    return TitleIndex(datasets.load(name).catalog)


def box(
    dataset_name: str,
    label: str,
    key: str,
    offer: Callable[[Found], None],
    limit: int,
    found_key: str = "found",
    enter: Callable[[Found], None] | None = None,
    **look: Any,
) -> None:
    """The box, and below it each film found, drawn by `offer`; what is not there is said.

    enter: what Enter does with the best match, if there is a sure one; look: what else the text input is told.
    """
    index = loaders.title_index(dataset_name)
    named = f"{label} :small[:gray[· {words.plain(loaders.data_title(dataset_name))}]]"
    text = st.text_input(named, key=key, type="search", live="200ms", placeholder=hint(index), **look)
    if enter:
        keyboard.on_enter(key, partial(choose_best, dataset_name, enter))
    if not text or not text.strip():
        return
    found = index.search(text, limit=limit)
    sure = [film for film in found if film.sure]
    with st.container(key=found_key, gap=None):
        for film in sure:
            offer(film)
        if notice := missing(dataset_name, text, sure):
            st.caption(f"{notice} " + _("Nearest to it:") if found and not sure else notice)
        for film in [] if sure else found:
            offer(film)
    announce.status(_("Films found: {n}.", n=len(sure)))


def hint(index: TitleIndex) -> str:
    """What stands in an empty box: how many films there are, and of which years."""
    if index.years is None:
        return ngettext("Search {n:,} film", "Search {n:,} films", len(index))
    return ngettext(
        "Search {n:,} film, {first}–{last}",
        "Search {n:,} films, {first}–{last}",
        len(index),
        first=index.years[0],
        last=index.years[1],
    )


def choose_best(dataset_name: str, enter: Callable[[Found], None], text: str) -> None:
    """Enter was pressed: take the best match, unless there is none that is sure. A person's name is that of no film."""
    best = next(iter(loaders.title_index(dataset_name).search(text, limit=1)), None)
    if best and best.sure and not best.by:
        enter(best)


def missing(dataset_name: str, text: str, sure: list[Found]) -> str:
    """Where the set may not have what was typed: that, and the sets on this machine that have it; else ""."""
    if sure and sure[0].score > PHRASE:
        return ""
    elsewhere = in_other_sets(dataset_name, text) if len(text.strip()) >= ENOUGH else []
    if sure:  # with these words in its title: somebody may have meant the film that is called so and no more
        elsewhere = [(title, film) for title, film in elsewhere if film.score > PHRASE]
    said = [] if sure else [not_here(dataset_name, text)]
    said += [_("{data} has {film}.", data=title, film=film.label) for title, film in elsewhere]
    return words.plain(" ".join(said))


def not_here(dataset_name: str, text: str) -> str:
    """That no film of the set is called so."""
    text, n = text.strip(), len(loaders.title_index(dataset_name))
    return ngettext(
        "“{text}” is not the only film of this set.",
        "“{text}” is not among the {n:,} films of this set.",
        n,
        text=text if len(text) <= SHOWN else f"{text[:SHOWN]}…",
    )


def in_other_sets(dataset_name: str, text: str) -> list[tuple[str, Found]]:
    """(title of a set on this machine, its best match) for the sets that have what was typed."""
    found = []
    for name in datasets.prepared_names():
        if name != dataset_name:
            try:
                best = next(iter(films_of(name).search(text, limit=1)), None)
            except RecsysError:  # a damaged set: the page that opens it says so
                continue
            if best and best.sure and not best.by:
                found.append((loaders.data_title(name), best))
    return found


def line(
    film: Film | Found,
    key: str,
    icon: str,
    on_click: Callable[..., None],
    args: tuple[Any, ...],
    reason: str = "",
    note: str = "",
) -> None:
    """A film to click; greyed out with the reason where it cannot be chosen. note: what stands behind its genres."""
    by = film.by if isinstance(film, Found) else ""
    quiet = " · ".join(filter(None, [by, reason or note or words.genres(film.genres)]))
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
