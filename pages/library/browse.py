"""Browse: all films of a set as cards, to search, filter and put in order; only those of one page are drawn."""

import math

import streamlit as st

from pages.library import filters, words
from pages.ui import browser, cache, film_cards, film_search, format, session
from pages.ui.i18n import _, count, ngettext
from pages.ui.page import WATCH_PAGE
from recsys.data import datasets
from recsys.data.dataset import Dataset
from recsys.serving.films.links import film_links
from recsys.serving.library import DAMPING, ORDERS, Library

PER_PAGE = 24
FOUND = 240  # films that a search shows at most


def show(dataset: Dataset) -> None:
    """What is looked for, how many films that are, and one page of them."""
    known = filters.library(dataset.name)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="library_bar"):
        text = search(dataset.name)
        order = choose_order(searching=bool(text))
        filters.choose(known)
    found = looked_for(known, text, order)
    say(dataset, known, len(found))
    pages = max(1, -(-len(found) // PER_PAGE))
    page = min(st.session_state.browse_page, pages)
    shelf(known, found[(page - 1) * PER_PAGE : page * PER_PAGE])
    if pages > 1:
        st.session_state.browse_page = page
        st.pagination(pages, key="browse_page", persist_state="session")


def first_page() -> None:
    """What is found now begins with its first page."""
    st.session_state.browse_page = 1


def search(name: str) -> str:
    """The search box."""
    text = st.text_input(
        _("Search by title"),
        key="browse_title",
        type="search",
        live="400ms",
        placeholder=film_search.placeholder(cache.title_index(name)),
        width=340,
        max_chars=100,
        on_change=first_page,
        persist_state="session",
    )
    return (text or "").strip()


def choose_order(searching: bool) -> str:
    """The selector of the order; films that were searched have one of their own."""
    return st.selectbox(
        _("Order"),
        ORDERS,
        format_func=words.ORDERS.__getitem__,
        key="browse_order",
        help=ngettext(
            "Best rated: the mean of the stars, as if {n} more people had rated like all people, so that "
            "five stars of one person do not come first. What a search found stands in the order in "
            "which it fits.",
            "Best rated: the mean of the stars, as if {n} more people had rated like all people, so that "
            "five stars of one person do not come first. What a search found stands in the order in "
            "which it fits.",
            DAMPING,
        ),
        disabled=searching,
        width=170,
        on_change=first_page,
        persist_state="session",
    )


def looked_for(known: Library, text: str, order: str) -> list[int]:
    """The films to show, as `Catalog.films` numbers them; where none is called so, that is said."""
    wish = filters.wish(order)
    if not text:
        return known.find(wish).tolist()
    name = known.dataset.name
    found = cache.title_index(name).search(text, limit=FOUND)
    sure = [film for film in found if film.sure]
    if notice := film_search.missing_note(name, text, sure):
        st.caption(f"{notice} " + _("Nearest to it:") if found and not sure else notice)
    return known.find(wish, [film.item for film in sure or found]).tolist()


def say(dataset: Dataset, known: Library, n: int) -> None:
    """How many films there are, and the way to the visitor's own."""
    mine = len(session.films(dataset))
    kind = "all" if n == len(known) else ("none", "one", "some")[min(n, 2)]
    said, to_list = words.COUNT[kind], words.TO_LIST[min(mine, 2)]
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.markdown(said.format(n=count(n), all=count(len(known))), width="content")
        browser.status(said.format(n=count(n), all=count(len(known))))
        st.page_link(WATCH_PAGE, label=to_list.format(n=mine), icon=":material/playlist_play:")


def shelf(known: Library, films: list[int]) -> None:
    """Some films as cards; what is to be known of those that recommenders do not know stands below."""
    with st.container(key="shelf"), st.grid("auto", min_column_width=140, gap="medium", key="shelf-cards"):
        for film in films:
            with st.container(gap="xsmall"):
                one(known, film)
    if any(film >= known.dataset.n_items for film in films):
        fewest = datasets.min_ratings(known.dataset.name)
        st.caption(words.UNLEARNT_HELP[min(fewest, 2)].format(n=fewest))


def one(known: Library, number: int) -> None:
    """One film: how many watched it, what they thought of it, and whether it is in the visitor's list."""
    catalog, fewest = known.dataset.catalog, datasets.min_ratings(known.dataset.name)
    if number < len(catalog):
        n = int(known.watched[number])
        people = _("1 person") if n == 1 else ngettext("{n:,} person", "{n:,} people", n)
        mean = float(known.rating[number])
        facts = [people if math.isnan(mean) else (f"{people}, " + _("{mean:.1f} stars", mean=mean))]
        st.html(film_cards.library_card(catalog.films[number], facts, film_links(catalog, number)))
    else:
        tag = words.UNLEARNT[min(fewest, 2)].format(n=fewest)
        links = film_links(catalog.complete, number)
        st.html(film_cards.library_card(catalog.films[number], (), links, tag=tag))
    put_in_or_out(known, number)


def put_in_or_out(known: Library, number: int) -> None:
    """A button that puts a film into the visitor's list, or takes it out again."""
    film, there = known.dataset.catalog.films[number], number in st.session_state.films
    key = f"shelf-{film.movie_id}"
    label = _("In your list *{film}: take it out again*") if there else _("Add *{film} to your films*")
    st.button(
        label.format(film=format.escape_markdown(film.label)),
        key=key,
        icon=":material/check:" if there else ":material/add:",
        type="tertiary",
        on_click=toggle,
        args=(number, key),
    )


def toggle(number: int, key: str) -> None:
    """Put a film at the end of the list or take it out; the focus stays where it is."""
    now = st.session_state.films
    if number in now:
        session.set_films([film for film in now if film != number])
    else:
        session.add_film(number)
    browser.focus_on(key)
