"""The section Browse: all films of a data set as cards in pages, with a search, an order and filters.

Session state: browse_page (number of the page, from 1; `filters.set_defaults` sets the default).
"""

import math
from collections.abc import Callable

import streamlit as st

from pages.library import filters
from pages.ui import browser, cache, film_cards, film_search, format, session
from pages.ui.i18n import N_, _, ngettext
from pages.ui.page import WATCH_PAGE
from pages.ui.url import MAX_QUERY_CHARACTERS
from pages.ui.visitor import visitor
from pages.ui.widgets import button, selectbox, translate
from recsys.data import datasets
from recsys.data.dataset import Dataset
from recsys.serving.export import film_links
from recsys.serving.library import DAMPING, Library

FILMS_PER_PAGE = 24
MAX_SEARCH_RESULTS = 240
ORDER_TITLES = {  # `library.ORDERS` → title
    "most watched": N_("Most watched"),
    "best rated": N_("Best rated"),
    "newest": N_("Newest"),
    "oldest": N_("Oldest"),
    "title": N_("Title"),
}


def show(dataset: Dataset) -> None:
    """Show the search, the order, the filters, and one page of the matching films."""
    library = filters.load_library(dataset.name)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="library_bar"):
        text = st.text_input(
            _("Search by title"),
            key="browse_title",
            type="search",
            live="400ms",
            placeholder=film_search.placeholder(cache.title_index(dataset.name)),
            width=340,
            max_chars=MAX_QUERY_CHARACTERS,
            on_change=open_first_page,
            persist_state="session",
        )
        text = (text or "").strip()
        order = selectbox(
            _("Order"),
            translate(ORDER_TITLES),
            "browse_order",
            help=_(
                "“Best rated” adds {n} average ratings to each film, so that a single five-star rating does not put a "
                "film at the top. Search results are ordered by how well they match.",
                n=DAMPING,
            ),
            disabled=bool(text),
            width=170,
            on_change=open_first_page,
        )
        filters.show(library)
    films = matching_films(library, text, order)
    show_count(n_matching=len(films), n_total=len(library))
    n_pages = max(1, math.ceil(len(films) / FILMS_PER_PAGE))
    page = min(st.session_state.browse_page, n_pages)  # a change of the filters can remove pages
    show_cards(library, films[(page - 1) * FILMS_PER_PAGE : page * FILMS_PER_PAGE])
    if n_pages > 1:
        st.session_state.browse_page = page
        st.pagination(n_pages, key="browse_page", persist_state="session")


def open_first_page() -> None:
    """Open the first page, because the search or the order changes."""
    st.session_state.browse_page = 1


def matching_films(library: Library, text: str, order: str) -> list[int]:
    """Return the numbers of the films that match the filters and the search text, in the selected order.

    The films of a search are ordered by how well they match. If no title matches well, films with similar titles are
    returned. If the data set lacks the film that the text names, a caption is shown.
    """
    query = filters.query(order)
    if not text:
        return library.search(query).tolist()
    name = library.dataset.name
    results = cache.title_index(name).search(text, limit=MAX_SEARCH_RESULTS)
    confident_results = [film for film in results if film.is_confident]
    if note := film_search.missing_note(name, text, confident_results):
        has_only_similar = bool(results) and not confident_results
        st.caption(f"{note} {_('Similar titles:')}" if has_only_similar else note)
    return library.search(query, [film.number for film in confident_results or results]).tolist()


def show_count(n_matching: int, n_total: int) -> None:
    """Show the number of matching films, and a link to the visitor's list."""
    if n_matching == n_total:
        text = ngettext("{n:,} film", "{n:,} films", n_total)
    elif n_matching:
        text = ngettext("{n:,} of {total:,} films", "{n:,} of {total:,} films", n_matching, total=n_total)
    else:
        text = _("None of the {total:,} films matches your search and filters.", total=n_total)
    n_listed = len(visitor().current.films)
    label = (
        ngettext("See what comes next after your film", "See what comes next after your {n} films", n_listed)
        if n_listed
        else _("Your list is empty: add a film to see what comes next")
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.markdown(text, width="content")
        browser.place_status(text)
        st.page_link(WATCH_PAGE, label=label, icon=":material/playlist_play:")


def show_cards(library: Library, films: list[int]) -> None:
    """Show films as cards. If some films are infrequent, also show which recommenders use them."""
    with st.container(key="shelf"), st.grid("auto", min_column_width=140, gap="medium", key="shelf-cards"):
        for film in films:
            with st.container(gap="xsmall"):
                show_card(library, film)
    if any(film >= library.dataset.n_items for film in films):
        min_ratings = datasets.min_ratings(library.dataset.name)
        st.caption(
            _(
                "You can also add films without ratings. “Best guess” and the “Content” recommenders compare their "
                "genres, tags and themes. Other recommenders use the most similar film with ratings instead."
            )
            if min_ratings < 2
            else ngettext(
                "You can also add films with fewer than {n} rating. “Best guess” and the “Content” recommenders "
                "compare their genres, tags and themes. Other recommenders use the most similar film with enough "
                "ratings instead.",
                "You can also add films with fewer than {n} ratings. “Best guess” and the “Content” recommenders "
                "compare their genres, tags and themes. Other recommenders use the most similar film with enough "
                "ratings instead.",
                min_ratings,
            )
        )


def show_card(library: Library, number: int) -> None:
    """Show a film with its number of viewers and mean rating, and a button that adds it to the list or removes it."""
    catalog = library.dataset.catalog
    film = catalog.films[number]
    details, tag = [], ""
    if number < library.dataset.n_items:
        n_viewers, mean = int(library.n_viewers[number]), float(library.mean_stars[number])
        details.append(ngettext("{n:,} person", "{n:,} people", n_viewers))
        if not math.isnan(mean):
            details[0] += ", " + _("{mean:.1f} stars", mean=mean)
    else:  # an infrequent film
        min_ratings, tag = datasets.min_ratings(library.dataset.name), _("No ratings")
        if min_ratings > 1:
            tag = ngettext("Fewer than {n} rating", "Fewer than {n} ratings", min_ratings)
    links = film_links(catalog.complete, number)  # `catalog.movies` has no infrequent films
    st.html(film_cards.library_card(film, details, links, tag))
    name, key = format.escape_markdown(film.label), f"shelf-{film.movie_id}"
    # only screen readers read the text in *…*
    if number in visitor().current.films:
        label, icon, change = _("In your list *{film}: remove it*", film=name), "check", session.remove_film
    else:
        label, icon, change = _("Add *{film} to your films*", film=name), "add", session.add_film
    button(label, key, icon, change_list, change, number, key, type="tertiary")


def change_list(change: Callable[[int], None], number: int, key: str) -> None:
    """Add a film to the list or remove it. Keep the focus on the button.

    Args:
        change: `session.add_film` or `session.remove_film`.
        number: Film number.
        key: Widget key of the button.
    """
    change(number)
    browser.focus_on(key)
