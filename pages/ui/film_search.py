"""The search box for films, its notes about missing films, and films as buttons."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import streamlit as st

from pages.ui import browser, cache
from pages.ui.format import display_genres, escape_markdown
from pages.ui.i18n import _, ngettext
from pages.ui.widgets import button
from recsys.data import datasets
from recsys.data.dataset import Film
from recsys.errors import RecsysError
from recsys.serving.search.name_index import PHRASE
from recsys.serving.search.search import SearchResult, TitleIndex

MAX_QUOTED_CHARACTERS = 60  # of the query in a note
MAX_TITLE_WORDS = 5  # a longer query without results may be several titles
MIN_QUERY_CHARACTERS = 3  # a shorter query is not searched in other data sets


def search_box(
    dataset_name: str,
    label: str,
    key: str,
    render: Callable[[SearchResult], None],
    limit: int,
    results_key: str = "found",
    on_enter: Callable[[SearchResult], None] | None = None,
    several_hint: str = "",
    offer_other_search: Callable[[str], bool] | None = None,
    **options: Any,
) -> None:
    """Show a search box and its results.

    Args:
        dataset_name: Data set to search.
        label: Label of the box.
        key: Widget key of the box.
        render: Shows one result.
        limit: Maximum number of results.
        results_key: Key of the container with the results.
        on_enter: Called with the best result when Enter is pressed in the box, see `choose_best`.
        several_hint: Text that is shown if there is no result and the query may be several titles.
        offer_other_search: Called with the query, unless the best result matches a person. If another kind of search
            fits the query, it shows a button for that search. It returns whether it has shown a button.
        options: Further arguments of `st.text_input`.
    """
    index = cache.title_index(dataset_name)
    full_label = f"{label} :small[:gray[· {escape_markdown(cache.dataset_title(dataset_name))}]]"
    text = st.text_input(full_label, key=key, type="search", live="200ms", placeholder=placeholder(index), **options)
    if on_enter:
        browser.on_enter(key, partial(choose_best, dataset_name, on_enter))
    if not text or not text.strip():
        return
    results = index.search(text, limit=limit)
    confident_results = [result for result in results if result.is_confident]
    with st.container(key=results_key, gap=None):
        for result in confident_results:
            render(result)
        has_person = bool(confident_results and confident_results[0].matched_person)
        has_offer = bool(offer_other_search and not has_person and offer_other_search(text.strip()))
        similar_results = [] if confident_results or has_offer else results
        if note := missing_note(dataset_name, text, confident_results, has_offer):
            st.caption(f"{note} {_('Most similar titles:')}" if similar_results else note)
        for result in similar_results:
            render(result)
        if several_hint and not confident_results and ("," in text or len(text.split()) > MAX_TITLE_WORDS):
            st.caption(several_hint)
    browser.place_status(_("Films found: {n}.", n=len(confident_results)))


def placeholder(index: TitleIndex) -> str:
    """Return the placeholder of a search box: the number of films and, if known, their years."""
    if index.years is None:
        return ngettext("Search {n:,} film", "Search {n:,} films", len(index))
    oldest, newest = index.years
    return ngettext(
        "Search {n:,} film, {first}–{last}", "Search {n:,} films, {first}–{last}", len(index), first=oldest, last=newest
    )


def choose_best(dataset_name: str, on_enter: Callable[[SearchResult], None], text: str) -> None:
    """Call `on_enter` with the `_best_match` of a query, if any."""
    if best := _best_match(cache.title_index(dataset_name), text):
        on_enter(best)


def _best_match(index: TitleIndex, text: str) -> SearchResult | None:
    """Return the best result of a query, or None if it is not confident or only a person matches."""
    best = next(iter(index.search(text, limit=1)), None)
    return best if best and best.is_confident and not best.matched_person else None


def missing_note(dataset_name: str, text: str, confident_results: list[SearchResult], has_offer: bool = False) -> str:
    """Return a Markdown note about a film that the data set lacks, with the other data sets that have it, or "".

    Args:
        dataset_name: Data set that was searched.
        text: The query.
        confident_results: Its confident results in this data set.
        has_offer: Whether the query may be no title, because the page offers another kind of search for it. The note
            then only names other data sets.
    """
    if confident_results and confident_results[0].score > PHRASE:  # the best title starts with the query
        return ""
    matches = matches_in_other_datasets(dataset_name, text) if len(text.strip()) >= MIN_QUERY_CHARACTERS else []
    if confident_results:  # then only a title that starts with the query is worth a note
        matches = [(title, film) for title, film in matches if film.score > PHRASE]
    sentences = [_("{film} is in {data}.", data=title, film=film.label) for title, film in matches]
    if not confident_results and not has_offer:
        query = text.strip()
        not_found = ngettext(
            "“{text}” is not the title of the only film in this data set.",
            "“{text}” is not among the {n:,} films in this data set.",
            len(cache.title_index(dataset_name)),
            text=query if len(query) <= MAX_QUOTED_CHARACTERS else f"{query[:MAX_QUOTED_CHARACTERS]}…",
        )
        sentences = [not_found, *sentences]
    return escape_markdown(" ".join(sentences))


def matches_in_other_datasets(dataset_name: str, text: str) -> list[tuple[str, SearchResult]]:
    """Return (title of the data set, best match) for each other data set that has a `_best_match`."""
    matches = []
    for name in datasets.prepared_names():
        with suppress(RecsysError):  # a damaged data set, whose error is shown when it is opened
            if name != dataset_name and (best := _best_match(cache.catalog_index(name), text)):
                matches.append((cache.dataset_title(name), best))
    return matches


def film_button(
    film: Film | SearchResult,
    key: str,
    icon: str,
    on_click: Callable[..., None],
    args: tuple[Any, ...],
    disabled_reason: str = "",
    note: str = "",
) -> None:
    """Show a film as a button.

    Args:
        film: The film.
        key: Widget key.
        icon: Material icon of an enabled button.
        on_click: Callback.
        args: Arguments of the callback.
        disabled_reason: If given, the button is disabled and shows the reason in place of the genres.
        note: If given, the button shows it in place of the genres.
    """
    person = film.matched_person if isinstance(film, SearchResult) else ""
    details = " · ".join(filter(None, [person, disabled_reason or note or display_genres(film.genres)]))
    button(
        f"{escape_markdown(film.label)} :small[:gray[{escape_markdown(details)}]]",
        key,
        "block" if disabled_reason else icon,
        on_click,
        *args,
        type="tertiary",
        disabled=bool(disabled_reason),
        width="stretch",
    )
