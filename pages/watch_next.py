"""Build a watch sequence and see what comes next."""

from collections.abc import Callable
from urllib.parse import urlencode

import streamlit as st

from pages import _cards as cards
from pages import _explain as explain
from pages import _plan as plan
from pages import _posters as posters
from pages import _sequence as sequence
from pages import _shared as shared
from pages import _themes as themes
from pages import _what_if as what_if
from pages import _words as words
from recsys.data.schema import Dataset
from recsys.serving import models
from recsys.serving.recommend import Recommendation, recommend
from recsys.serving.search import Found

ROWS = 12  # films of the sequence on one page


def your_films(dataset: Dataset) -> None:
    """The left side: search, the sequence, and what can be done with it."""
    films = sequence.films(dataset)
    st.subheader(words.YOURS, help=words.YOURS_HELP)
    search(dataset.name)
    themes.search(dataset.name)
    sequence.show_notices()
    if films:
        rows(dataset, films)
    tools(films)
    if not films:
        st.caption(words.START)
        sequence.choose_example(dataset)


@st.fragment
def search(name: str) -> None:
    """The search box; only this part runs again while somebody types."""
    text = st.text_input(words.SEARCH, key="search", type="search", live="200ms", placeholder=words.SEARCH_HINT)
    if not text:
        return
    found = shared.title_index(name).search(text, limit=8)
    with st.container(key="found", gap=None):
        for film in found:
            offer(film)
    if not found:
        st.caption(words.NOTHING_FOUND)


def offer(film: Found) -> None:
    """One film that was found, to add with a click; greyed out with the reason where it cannot be."""
    reason = words.ALREADY if film.item in st.session_state.films else film.reason
    quiet = reason or words.genres(film.genres)
    st.button(
        f"{words.plain(film.label)} :small[:gray[{words.plain(quiet)}]]",
        key=f"found-{film.movie_id}",
        type="tertiary",
        icon=":material/block:" if reason else ":material/add:",
        disabled=bool(reason),
        on_click=take,
        args=(film.item,),
        width="stretch",
    )


def take(item: int) -> None:
    """Add a film that was found and empty the search box."""
    sequence.add(item)
    st.session_state.search = ""
    st.rerun()  # all of the page, not the search alone


def rows(dataset: Dataset, films: tuple[int, ...]) -> None:
    """The sequence, oldest first; long ones by pages, the latest page first in sight."""
    pages = -(-len(films) // ROWS)
    page = st.pagination(pages, default=pages, key=f"page-of-{pages}") if pages > 1 else 1
    with st.container(key="sequence", gap="xsmall"):
        for place in range((page - 1) * ROWS, min(page * ROWS, len(films))):
            row(dataset, films, place)


def row(dataset: Dataset, films: tuple[int, ...], place: int) -> None:
    """One film of the sequence with its three buttons; the words in *…* are for screen readers."""
    film, last = dataset.catalog.films[films[place]], place == len(films) - 1
    name = words.plain(film.label)
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall"):
        st.html(cards.watched(place + 1, film, last))
        button(words.UP, name, f"up-{place}", "arrow_upward", sequence.move, (place, -1), disabled=place == 0)
        button(words.DOWN, name, f"down-{place}", "arrow_downward", sequence.move, (place, 1), disabled=last)
        button(words.REMOVE, name, f"remove-{place}", "close", sequence.remove, (place,))


def button(
    sentence: str, film: str, key: str, icon: str, action: Callable, args: tuple, disabled: bool = False
) -> None:
    """An icon that says to a screen reader what it does to which film."""
    label = f"*{sentence.format(film=film)}*"
    st.button(label, key=key, icon=f":material/{icon}:", type="tertiary", on_click=action, args=args, disabled=disabled)


def tools(films: tuple[int, ...]) -> None:
    """Undo, clear, share."""
    past = bool(st.session_state.past)
    if not (films or past):
        return
    with st.container(horizontal=True, gap="small"):
        st.button(words.UNDO, key="undo", icon=":material/undo:", on_click=sequence.undo, disabled=not past)
        st.button(
            words.CLEAR,
            key="clear",
            icon=":material/delete_sweep:",
            on_click=sequence.change,
            args=((),),
            disabled=not films,
        )
        with st.popover(words.SHARE, icon=":material/link:", disabled=not films):
            st.caption(words.SHARE_HELP)
            page = (st.context.url or "").partition("?")[0]
            st.code(f"{page}?{urlencode(sequence.address())}", language=None, wrap_lines=True)


def what_comes_next(dataset: Dataset) -> None:
    """The right side: controls and predictions."""
    st.subheader(words.NEXT)
    variant, k, hide_seen, view = controls()
    films = sequence.films(dataset)
    try:
        variant, model = ready(variant, dataset)
        picks = recommend(dataset, model, films, k, hide_seen)
    except shared.TROUBLE as error:
        shared.explain(error)
        return
    if not films:
        st.caption(words.NEWCOMER.format(model=variant.title))
    if note := getattr(model, "note", ""):
        st.caption(words.plain(note))
    if not picks:
        st.info(words.NONE_LEFT)
        return
    items = [dataset.catalog.item_of[pick.movie_id] for pick in picks]
    shown = posters.addresses(dataset, items) if view == words.CARDS else {}
    if view == words.CARDS:
        grid(picks, items, films, shown)
    else:
        listing(picks, items, films)
    chances = words.CHANCES if picks[0].probability is not None else words.NO_CHANCES
    st.caption(chances.format(model=variant.title))
    if shown:
        posters.attribution()
    with st.container(horizontal=True, gap="small"):
        explain.menu(dataset, variant, model, films, items)
        posters.settings()
    what_if.panel(dataset, variant, model, films, k, hide_seen)
    plan.panel(dataset, variant, model, films)


def ready(variant: models.Variant, dataset: Dataset) -> tuple[models.Variant, models.Recommender]:
    """The recommender that was chosen; where it is not trained yet, the fallback, and the page says so."""
    try:
        return variant, shared.model(variant, dataset.name)
    except models.StoreError as error:
        shared.explain(error)
        variant = shared.fallback()
        st.caption(words.INSTEAD.format(model=variant.title))
        return variant, shared.model(variant, dataset.name)


def controls() -> tuple[models.Variant, int, bool, str]:
    """Which recommender, how many films, seen ones hidden or not, cards or list."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="controls"):
        variant = shared.choose_model()
        k = st.segmented_control(
            words.HOW_MANY, [5, 10, 20], default=10, required=True, key="how_many", persist_state="session"
        )
        view = st.segmented_control(
            words.VIEW,
            [words.CARDS, words.LIST],
            default=words.CARDS,
            required=True,
            key="view",
            persist_state="session",
        )
        hide_seen = st.toggle(words.HIDE_SEEN, value=True, key="hide_seen", persist_state="session")
    return variant, k, hide_seen, view


def grid(picks: list[Recommendation], items: list[int], films: tuple[int, ...], posters: dict[int, str]) -> None:
    """Predictions as cards; `posters`: addresses of those that have one."""
    with st.container(key="picks"), st.grid("auto", min_column_width=120, gap="small"):
        for pick, item in zip(picks, items, strict=True):
            with st.container(gap=None):
                st.html(cards.card(pick, picks[0].probability, posters.get(item)))
                add_button(pick, item, disabled=item in films)


def listing(picks: list[Recommendation], items: list[int], films: tuple[int, ...]) -> None:
    """Predictions as rows."""
    with st.container(key="picks", gap="xsmall"):
        for pick, item in zip(picks, items, strict=True):
            with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
                st.html(cards.line(pick, picks[0].probability))
                add_button(pick, item, disabled=item in films)


def add_button(pick: Recommendation, item: int, disabled: bool) -> None:
    """Put a recommended film at the end of the sequence."""
    st.button(
        words.ADD.format(film=words.plain(cards.label(pick))),
        key=f"pick-{pick.movie_id}",
        icon=":material/add:",
        type="tertiary",
        on_click=sequence.add,
        args=(item,),
        disabled=disabled,
    )


shared.enter()
dataset = sequence.open_page(words.WATCH, words.WATCH_HELP)
if dataset:
    left, right = st.columns([5, 8], gap="large")
    with left:
        your_films(dataset)
    with right:
        what_comes_next(dataset)
