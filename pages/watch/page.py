"""Build a watch sequence and see what comes next."""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from pages import _cards as cards
from pages import _explain as explain
from pages import _filters as filtering
from pages import _plan as plan
from pages import _posters as posters
from pages import _sequence as sequence
from pages import _shared as shared
from pages import _themes as themes
from pages import _what_if as what_if
from pages import _words as words
from recsys.data.schema import Dataset
from recsys.serving import export, models
from recsys.serving.links import film_links
from recsys.serving.recommend import Recommendation, recommend
from recsys.serving.search import Found

ROWS = 12  # films of the sequence on one page


@dataclass(frozen=True)
class Answer:
    """What a recommender says to the visitor's films."""

    variant: models.Variant
    model: models.Recommender
    k: int  # films asked for
    allowed: np.ndarray | None  # (I,) which films may be shown; None: all
    picks: list[Recommendation]


def your_films(dataset: Dataset, films: tuple[int, ...], answer: Answer | None) -> None:
    """The left side: search, the sequence, and what can be done with it."""
    st.subheader(words.YOURS, help=words.YOURS_HELP)
    search(dataset.name)
    themes.search(dataset.name)
    sequence.show_notices()
    sequence.show_viewer(films)
    if films:
        rows(dataset, films)
    if not films:
        st.caption(words.START)
    tools(dataset, films, answer)
    if not films:
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


def tools(dataset: Dataset, films: tuple[int, ...], answer: Answer | None) -> None:
    """Undo, clear, share, somebody else's films."""
    past = bool(st.session_state.past)
    with st.container(horizontal=True, gap="small"):
        if films or past:
            st.button(words.UNDO, key="undo", icon=":material/undo:", on_click=sequence.undo, disabled=not past)
            st.button(
                words.CLEAR,
                key="clear",
                icon=":material/delete_sweep:",
                on_click=sequence.change,
                args=((),),
                disabled=not films,
            )
            share(dataset, films, answer)
        st.button(
            words.SURPRISE_AGAIN if films else words.SURPRISE,
            key="surprise",
            icon=":material/casino:",
            help=words.SURPRISE if films else None,
            on_click=sequence.surprise,
            args=(dataset,),
        )


def share(dataset: Dataset, films: tuple[int, ...], answer: Answer | None) -> None:
    """A link and files, made when the popover is opened."""
    panel = st.popover(words.SHARE, icon=":material/share:", key="share", on_change="rerun", disabled=not films)
    if not (panel.open and films):
        return
    with panel:
        st.markdown(f"**{words.LINK}**")
        page = (st.context.url or "").partition("?")[0]
        st.code(f"{page}?{urlencode(sequence.address())}", language=None, wrap_lines=True)
        st.caption(words.SHARE_HELP)
        st.markdown(f"**{words.FILES}**")
        with st.container(horizontal=True, gap="small"):
            files(dataset, films, answer)
        st.caption(words.FILES_HELP)


def files(dataset: Dataset, films: tuple[int, ...], answer: Answer | None) -> None:
    """The sequence and its predictions for other programs."""
    catalog = dataset.catalog
    picks, title = (answer.picks, answer.variant.title) if answer else ([], "")
    made = (
        (words.FILMS_FILE, "films.csv", "text/csv", export.for_spreadsheet(export.films_csv(catalog, films))),
        (words.PICKS_FILE, "next.csv", "text/csv", export.for_spreadsheet(export.predictions_csv(catalog, picks))),
        (words.JSON_FILE, "films.json", "application/json", export.as_json(dataset.name, title, catalog, films, picks)),
        (words.LETTERBOXD_FILE, "letterboxd.csv", "text/csv", export.letterboxd(catalog, films)),
    )
    for label, name, mime, data in made:
        file = f"nextreel-{name}"
        st.download_button(
            label, data, file, mime, key=f"file-{name}", icon=":material/download:", type="tertiary", on_click="ignore"
        )


def what_comes_next(dataset: Dataset, films: tuple[int, ...]) -> Answer | None:
    """The right side: controls and predictions; None where no recommender could answer."""
    st.subheader(words.NEXT)
    variant, k, view = controls(dataset)
    try:
        answer = ask(dataset, films, variant, k)
    except shared.TROUBLE as error:
        shared.explain(error)
        return None
    if not films:
        st.caption(words.NEWCOMER.format(model=answer.variant.title))
    if note := getattr(answer.model, "note", ""):
        st.caption(words.plain(note))
    if not answer.picks:
        filtering.nothing_left(dataset, films)
        return answer
    show = grid if view == words.CARDS else listing
    show(dataset, answer, films)
    chances = words.CHANCES if answer.picks[0].probability is not None else words.NO_CHANCES
    st.caption(chances.format(model=answer.variant.title))
    return answer


def ask(dataset: Dataset, films: tuple[int, ...], variant: models.Variant, k: int) -> Answer:
    """The k films that a recommender puts first among those that may be shown."""
    variant, model = ready(variant, dataset)
    asked = filtering.asked()
    allowed = filtering.mask(dataset, films)
    return Answer(
        variant, model, k, allowed, recommend(dataset, model, films, k, asked.hide_seen, allowed, asked.diversity)
    )


def look_further(dataset: Dataset, films: tuple[int, ...], answer: Answer) -> None:
    """What if, an evening, posters; all closed until somebody opens them."""
    hide_seen = filtering.asked().hide_seen
    what_if.panel(dataset, answer.variant, answer.model, films, answer.k, hide_seen, answer.allowed)
    plan.panel(dataset, answer.variant, answer.model, films, answer.allowed)
    posters.settings()


def ready(variant: models.Variant, dataset: Dataset) -> tuple[models.Variant, models.Recommender]:
    """The recommender that was chosen; where it is not trained yet, the fallback, and the page says so."""
    try:
        return variant, shared.model(variant, dataset.name)
    except models.StoreError as error:
        shared.explain(error)
        variant = shared.fallback()
        st.caption(words.INSTEAD.format(model=variant.title))
        return variant, shared.model(variant, dataset.name)


def controls(dataset: Dataset) -> tuple[models.Variant, int, str]:
    """Which recommender, how many films, cards or list; what may be shown; what must not be."""
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
        filtering.choose(dataset)
        filtering.unwanted(dataset)
    return variant, k, view


def grid(dataset: Dataset, answer: Answer, films: tuple[int, ...]) -> None:
    """Predictions as poster cards."""
    items = [dataset.catalog.item_of[pick.movie_id] for pick in answer.picks]
    photos = posters.addresses(dataset, items)
    with st.container(key="picks"), st.grid("auto", min_column_width=120, gap="small", key="cards"):
        for pick, item in zip(answer.picks, items, strict=True):
            with st.container(gap=None):
                links = film_links(dataset.catalog, item)
                st.html(cards.card(pick, answer.picks[0].probability, links, photos.get(item)))
                actions(dataset, answer, pick, item, films)
    if photos:
        posters.attribution()


def listing(dataset: Dataset, answer: Answer, films: tuple[int, ...]) -> None:
    """Predictions as rows."""
    with st.container(key="picks", gap="xsmall"):
        for pick in answer.picks:
            item = dataset.catalog.item_of[pick.movie_id]
            with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall"):
                st.html(cards.line(pick, answer.picks[0].probability, film_links(dataset.catalog, item)))
                actions(dataset, answer, pick, item, films)


def actions(dataset: Dataset, answer: Answer, pick: Recommendation, item: int, films: tuple[int, ...]) -> None:
    """Put a recommended film at the end of the sequence; in a menu, what else can be done with it."""
    name, menu = words.plain(cards.label(pick)), f"more-{pick.movie_id}"
    st.button(
        words.ADD.format(film=name),
        key=f"pick-{pick.movie_id}",
        icon=":material/add:",
        type="tertiary",
        on_click=sequence.add,
        args=(item,),
        disabled=item in films,
    )
    chosen = st.menu_button(
        words.MORE.format(film=name),
        [words.WHY, words.NOT_FOR_ME],
        key=menu,
        icon=":material/more_horiz:",
        type="tertiary",
        on_click=choose_from_menu,
        args=(menu, item),
    )
    if chosen == words.WHY:
        explain.why(dataset, answer.variant, answer.model, films, item)


def choose_from_menu(menu: str, item: int) -> None:
    """Do what changes the page; a dialog opens in the run that follows."""
    if st.session_state[menu] == words.NOT_FOR_ME:
        sequence.refuse(item)


shared.enter()
dataset = sequence.open_page(words.WATCH, words.WATCH_HELP)
if dataset:
    films = sequence.films(dataset)
    left, right = st.columns([5, 8], gap="large")
    with right:  # first, although it stands to the right: predictions are what people wait for
        answer = what_comes_next(dataset, films)
    with left:
        your_films(dataset, films, answer)
    with right:
        if answer:
            look_further(dataset, films, answer)
