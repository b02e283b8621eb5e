"""The left side of Watch next: the sequence of films, how it is added to, and what can be done with it."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.ui import browser, cache, film_cards, film_search, format, session
from pages.ui import page as ui_page
from pages.ui.i18n import _, ngettext
from pages.watch import in_browser, own_history, ratings, share, themes, words
from pages.watch.predictions import Answer
from recsys.data.dataset import Dataset
from recsys.serving import history, stand_ins
from recsys.serving.films.search import Found

ROWS = 12  # films of the sequence on one page


def show(dataset: Dataset, films: tuple[int, ...], answer: Answer | None) -> None:
    """Search, the sequence, and its tools; `answer`: what is predicted after it, for the files."""
    st.header(
        _("Your films"),
        help=_("In the order you watched them, the latest last. Move a film and the predictions follow."),
    )
    search(dataset.name)
    themes.search(dataset.name)
    ui_page.show_notices()
    show_viewer(films)
    if films:
        rows(dataset, films, answer)
    else:
        st.caption(_("Type a title, or start with what a real person watched, or with a ready-made list."))
        if dataset.noun == "film":
            own_history.offer_kept(dataset)
    tools(dataset, films, answer)
    say_what_links_hold(dataset, films)
    in_browser.place()
    if not films:
        ui_page.show_examples(dataset)


@st.fragment
def search(name: str) -> None:
    """The search box; only this part runs again while somebody types."""
    film_search.search_box(name, _("Add a film"), "search", offer, limit=8, on_enter=lambda film: take(film.item))


def offer(film: Found) -> None:
    """One film that was found, to add with a click; greyed out where it is in the list already."""
    reason = _("already in your list") if film.item in st.session_state.films else ""
    note = _("few people rated it, so a similar film stands in for it") if film.left_out else ""
    film_search.film_button(film, f"found-{film.movie_id}", "add", take, (film.item,), reason, note)


def take(item: int) -> None:
    """Add a film that was found, empty the search box, and stay in it for the next one."""
    if item not in st.session_state.films:
        session.add_film(item)
    st.session_state.search = ""
    browser.focus_on("search")
    st.rerun()  # all of the page, not the search alone


def show_viewer(now: tuple[int, ...]) -> None:
    """Whose films these are, while they are still those of a real person."""
    viewer = st.session_state.user
    if viewer and viewer.items == now:
        st.caption(ui_page.user_caption(viewer.watched, len(now), cache.dataset_title(st.session_state.data)))


def rows(dataset: Dataset, films: tuple[int, ...], answer: Answer | None) -> None:
    """The sequence, oldest first; long ones by pages, the latest page first in sight."""
    pages = -(-len(films) // ROWS)
    page = st.pagination(pages, default=pages, key=f"page-of-{pages}") if pages > 1 else 1
    with st.container(key="sequence", gap="xsmall"):
        for position in range((page - 1) * ROWS, min(page * ROWS, len(films))):
            film = films[position]
            said = stand_in(answer.predictor.dataset if answer else dataset, film)
            row(dataset, films, position, f"{own_history.note(dataset.catalog.films[film])} {said}".strip())


def say_what_links_hold(dataset: Dataset, films: tuple[int, ...]) -> None:
    """Where the list is longer than an address: how much of it a link, or a reload, brings back."""
    fit = history.in_a_link(dataset.catalog, films)
    if fit < len(films):
        st.caption(
            ngettext(
                "The address has room for your newest film, not for the {earlier:,} before it: a link, or a "
                "reload of the page, begins with that one.",
                "The address has room for your newest {n:,} films, not for the {earlier:,} before them: a "
                "link, or a reload of the page, begins with those.",
                fit,
                earlier=len(films) - fit,
            )
        )


def stand_in(dataset: Dataset, film: int) -> str:
    """Which films stand in for one that the recommender has not learnt, as a sentence; "" for one that it has."""
    return words.stands_in(stand_ins.labels(dataset, film))


def row(dataset: Dataset, films: tuple[int, ...], position: int, note: str) -> None:
    """One film of the sequence, how it was liked, and its three buttons. note: a sentence about it."""
    film, last = dataset.catalog.films[films[position]], position == len(films) - 1
    name = format.escape_markdown(film.label)
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall"):
        if ratings.by_stars():
            with st.container(gap=None):
                st.html(film_cards.list_row(position + 1, film, last, note))
                ratings.star_row(film)
        else:
            st.html(film_cards.list_row(position + 1, film, last, note))
            ratings.thumbs(film)
        button(_("Move {film} up"), name, f"up-{film.movie_id}", "arrow_upward", move, (position, -1), position == 0)
        button(_("Move {film} down"), name, f"down-{film.movie_id}", "arrow_downward", move, (position, 1), last)
        button(_("Remove {film}"), name, f"remove-{film.movie_id}", "close", remove, (position,))


def move(position: int, by: int) -> None:
    """Move a film; the focus goes along with it, to the other arrow at an end of the list."""
    movie = movie_at(position)
    session.move_film(position, by)
    browser.focus_on(*(f"{way}-{movie}" for way in (("up", "down") if by < 0 else ("down", "up"))))


def remove(position: int) -> None:
    """Take a film out; the focus goes to the one that takes its position, else to the last one, else to the search."""
    n = len(st.session_state.films)
    after = movie_at(position + 1 if position + 1 < n else position - 1) if n > 1 else None
    session.remove_film(position)
    browser.focus_on(f"remove-{after}", "search")


def movie_at(position: int) -> int:
    """The MovieLens id of the film at a position; keys are made of it, as positions change."""
    films = cache.dataset(st.session_state.data).catalog.films
    return films[st.session_state.films[position]].movie_id


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
    """Undo, clear, share, ratings, a history from elsewhere, somebody else's list."""
    with st.container(horizontal=True, gap="small"):
        if films or st.session_state.undo_stack:
            undo_and_clear(films)
            share.popover(dataset, films, answer)
        if films:
            ratings.settings(answer.predictor if answer else None, answer.request.ratings if answer else ())
        if dataset.noun == "film":  # the services that know histories are of films
            own_history.button(dataset)
        surprise(dataset, films)
        by_number(dataset)


def surprise(dataset: Dataset, films: tuple[int, ...]) -> None:
    """The films of a real person; where there are films already, only after a second click."""
    if not films:
        st.button(
            _("Surprise me"),
            key="surprise",
            icon=":material/casino:",
            help=_("Fills the list with the films of a real person of this data set, drawn at random."),
            on_click=surprise_first,
            args=(dataset,),
        )
        return
    panel = ui_page.popover(
        _("Surprise me"),
        "surprise-open",
        "casino",
        _("Fills the list with the films of a real person of this data set, drawn at random."),
    )
    if panel.open:
        with panel, ui_page.popover_content("surprise-open"):
            st.caption(words.SURPRISE_ASK[min(len(films), 2)].format(n=len(films)))
            st.button(
                _("Replace my films"), key="surprise", icon=":material/casino:", on_click=replace, args=(dataset,)
            )


def surprise_first(dataset: Dataset) -> None:
    """Draw a real person; a popover takes the place of the button."""
    session.load_random_user(dataset)
    browser.focus_on("surprise-open", "surprise")


def by_number(dataset: Dataset) -> None:
    """The films of the person with a number of the ratings file."""
    panel = ui_page.popover(
        _("By number"),
        "person-open",
        "tag",
        _("Fills the list with the films of one particular person of this data set."),
        focus=("person",),
    )
    if panel.open:
        with panel, ui_page.popover_content("person-open"):
            about = ngettext(
                "{data} has {n:,} person. Films of your list are replaced; Undo brings them back.",
                "{data} has {n:,} people. Films of your list are replaced; Undo brings them back.",
                dataset.n_users,
                data=cache.dataset_title(dataset.name),
            )
            if viewer := ui_page.user_input(dataset, "person", about):
                st.button(
                    _("Take their films"),
                    key="take-person",
                    icon=":material/person:",
                    on_click=session.load_user,
                    args=(viewer,),
                )


def replace(dataset: Dataset) -> None:
    """Draw a real person; the question stays open for another one."""
    session.load_random_user(dataset)
    browser.focus_on("surprise")


def undo_and_clear(films: tuple[int, ...]) -> None:
    """Take back the last step, or all films."""
    past = bool(st.session_state.undo_stack)
    st.button(_("Undo"), key="undo", icon=":material/undo:", on_click=undo, disabled=not past)
    st.button(
        _("Clear"),
        key="clear",
        icon=":material/delete_sweep:",
        on_click=clear,
        disabled=not films,
    )


def undo() -> None:
    """Take back the last step. The focus goes to the search box when there is nothing left to take back."""
    session.undo()
    browser.focus_on("undo", "search")


def clear() -> None:
    """Remove all films; the focus goes to Undo, as Clear is disabled now."""
    session.set_films(())
    browser.focus_on("undo")
