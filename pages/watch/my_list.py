"""The visitor's films on Watch next: search, the films with their ratings, and the tools below them.

Session state: rate_by ("thumbs" or "stars"), search (the search text).
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from pages.ui import browser, cache, film_cards, film_search, format, session
from pages.ui import page as ui_page
from pages.ui.i18n import _, ngettext
from pages.ui.visitor import visitor
from pages.ui.widgets import button, segmented_control
from pages.watch import import_dialog, saved_history, share, theme_search
from pages.watch.recommendations import ANCHOR, RATINGS_NOTE, RecommendationList
from recsys.data.dataset import Dataset, Film
from recsys.serving import history, substitutes
from recsys.serving.recommend import DISLIKED_STARS, LIKED_STARS, MIN_LIKED_STARS
from recsys.serving.search.search import SearchResult

FILMS_PER_PAGE = 12


def show(dataset: Dataset, films: tuple[int, ...], recommendation_list: RecommendationList | None) -> None:
    """Show the search box, the visitor's films, and the tools.

    recommendation_list: For the notes about the films and the Share popover. None: the recommender has failed.
    """
    st.header(_("Your films"), help=_("Your favourites in any order, or the films you watched, the latest one last."))
    _show_search(dataset.name)
    theme_search.panel(dataset.name)
    ui_page.show_notices()
    user = visitor().current.user
    if user and user.items == films:
        st.caption(ui_page.user_caption(user.n_watched, len(films), cache.dataset_title(dataset.name)))
    if films:
        # the style sheet hides this link in wide windows, where the recommendations are beside the films
        with st.container(key="jump"):
            st.markdown(f"[{_('See the recommendations')}](#{ANCHOR})")
        _show_films(dataset, films, recommendation_list)
        _show_order_toggle(films)
    else:
        st.caption(_("Add a film by its title, or start with a ready-made list or the films of a random person."))
        if dataset.noun == "film":
            import_dialog.offer_saved_history(dataset)
    _show_tools(dataset, films, recommendation_list)
    _show_link_note(dataset, films)
    saved_history.save_requested()
    if not films:
        ui_page.show_examples(dataset)


@st.fragment
def _show_search(dataset_name: str) -> None:
    """Show the search box. While the visitor types, only this fragment runs again."""
    hint = _("To add several films at once, click “Import your history” and paste their titles.")
    film_search.search_box(
        dataset_name,
        _("Add a film"),
        "search",
        _show_result,
        limit=8,
        on_enter=lambda film: _add(film.number),
        several_hint=hint if cache.item_noun(dataset_name) == "film" else "",
        offer_other_search=partial(theme_search.offer, dataset_name),
    )


def _show_result(film: SearchResult) -> None:
    """Show a search result as a button that adds the film."""
    reason = _("already in your list") if film.number in visitor().current.films else ""
    note = _("too few ratings: most recommenders use a similar film") if film.is_infrequent else ""
    film_search.film_button(film, f"found-{film.movie_id}", "add", _add, (film.number,), reason, note)


def _add(number: int) -> None:
    """Add a film. Clear the search box and keep the focus in it."""
    session.add_film(number)
    st.session_state.search = ""
    browser.focus_on("search")
    st.rerun()  # the whole page, not only the fragment


def _show_films(dataset: Dataset, films: tuple[int, ...], recommendation_list: RecommendationList | None) -> None:
    """Show the films in their order. A long list has pages and opens at its end."""
    n_pages = math.ceil(len(films) / FILMS_PER_PAGE)
    # with another number of pages, the key is new, so that the list opens at its end again
    page = st.pagination(n_pages, default=n_pages, key=f"page-of-{n_pages}") if n_pages > 1 else 1
    # a content model has infrequent films as items, so it needs no substitutes
    model_dataset = recommendation_list.predictor.dataset if recommendation_list else dataset
    reads_infrequent = recommendation_list is not None and recommendation_list.predictor.model.reads_infrequent_films
    notes = substitute_notes(model_dataset, films, reads_infrequent)
    with st.container(key="sequence", gap="xsmall"):
        start = (page - 1) * FILMS_PER_PAGE
        for position, number in enumerate(films[start : start + FILMS_PER_PAGE], start):
            film = dataset.catalog.films[number]
            _show_film_row(films, position, film, f"{watch_note(film)} {notes[position]}".strip())


def watch_note(film: Film) -> str:
    """Return sentences about the viewings and the half stars of a film, "" if there are none.

    Both come from an imported history.
    """
    watched_film = visitor().current.watched_by_key.get(session.film_key(film))
    notes = []
    if watched_film and watched_film.has_viewing_date and watched_film.last_date:
        n, day = watched_film.n_viewings, import_dialog.format_day(watched_film.last_date)
        text = ngettext("Watched {n} time, last on {date}.", "Watched {n} times, last on {date}.", n, date=day)
        notes.append(_("Watched on {date}.", date=day) if n == 1 else text)
    elif watched_film and watched_film.n_viewings > 1:
        notes.append(ngettext("Watched {n} time.", "Watched {n} times.", watched_film.n_viewings))
    stars = session.rating(film)
    if stars and stars % 1:  # `_show_stars` shows only whole stars
        notes.append(_("You gave it {stars:.1f} stars.", stars=stars))
    return " ".join(notes)


def substitute_notes(dataset: Dataset, films: tuple[int, ...], reads_infrequent: bool) -> list[str]:
    """Return for each infrequent film of a list how the recommender uses it, and "" for each item.

    Args:
        dataset: The data set of the recommender.
        films: The visitor's list.
        reads_infrequent: Whether the recommender reads the genres, tags and themes of infrequent films. If so, it
            ignores a substitute that is not similar enough, see `substitutes.are_kept`.
    """
    is_replaced = substitutes.are_kept(dataset, films) if reads_infrequent else [True] * len(films)
    notes = [""] * len(films)
    for position, number in enumerate(films):
        substitute = substitutes.label(dataset, number)
        if substitute and is_replaced[position]:
            notes[position] = _("Too few ratings, so {films} is used instead.", films=substitute)
        elif substitute:
            notes[position] = _("Too few ratings, so only its genres, tags and themes are used.")
    return notes


def _show_order_toggle(films: tuple[int, ...]) -> None:
    """If there are several films, show the switch between favourites in no order and a history."""
    if len(films) > 1:
        state = st.session_state
        state.in_watch_order = visitor().current.in_watch_order
        help_text = _(
            "Off: these are favourites, and their order does not matter. On: you watched them in this order, and the "
            "latest films count most. Some recommenders always read them in this order."
        )

        def store() -> None:
            session.set_in_watch_order(state.in_watch_order)

        st.toggle(_("In the order I watched them"), key="in_watch_order", help=help_text, on_change=store)


def _show_film_row(films: tuple[int, ...], position: int, film: Film, note: str) -> None:
    """Show a film of the list with its rating and the buttons that move or remove it."""
    number, movie_id, name = films[position], film.movie_id, format.escape_markdown(film.label)
    is_last = position == len(films) - 1
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall"):
        is_latest = is_last and visitor().current.in_watch_order
        html = film_cards.watched_row(position + 1, film, is_latest, note)
        if st.session_state.get("rate_by") == "stars":
            with st.container(gap=None):
                st.html(html)
                _show_stars(film)
        else:
            st.html(html)
            _show_thumbs(film)
        up, down = _("Move {film} up", film=name), _("Move {film} down", film=name)
        _show_icon_button(up, f"up-{movie_id}", "arrow_upward", _move, number, -1, disabled=position == 0)
        _show_icon_button(down, f"down-{movie_id}", "arrow_downward", _move, number, 1, disabled=is_last)
        _show_icon_button(_("Remove {film}", film=name), f"remove-{movie_id}", "close", _remove, number)


def _show_icon_button(
    label: str, key: str, icon: str, on_click: Callable[..., object], *args: Any, type: str = "tertiary", **options: Any
) -> None:
    """Show a button that shows only an icon. Only screen readers read the text in *…*."""
    button(f"*{label}*", key, icon, on_click, *args, type=type, **options)


def _move(number: int, offset: int) -> None:
    """Move a film up (offset -1) or down (1). The focus stays on the arrow or, if it is disabled now, on the other."""
    session.move_film(number, offset)
    clicked, other = ("up", "down") if offset < 0 else ("down", "up")
    movie_id = _movie_id(number)
    browser.focus_on(f"{clicked}-{movie_id}", f"{other}-{movie_id}")


def _remove(number: int) -> None:
    """Remove a film. The focus moves to the film that takes its position, else to the last film or the search box."""
    films = visitor().current.films
    position = films.index(number) if number in films else len(films)
    session.remove_film(number)
    remaining = visitor().current.films
    next_numbers = remaining[position : position + 1] or remaining[-1:]
    browser.focus_on(*(f"remove-{_movie_id(next_number)}" for next_number in next_numbers), "search")


def _movie_id(number: int) -> int:
    """Return the movie id of a film, for widget keys. Positions in the list change, so keys do not contain them."""
    return cache.dataset(visitor().current.dataset).catalog.films[number].movie_id


def _show_thumbs(film: Film) -> None:
    """Show the buttons "I liked it" and "I did not like it". The given rating is highlighted."""
    stars, name = session.rating(film), format.escape_markdown(film.label)
    is_liked = stars is not None and stars >= MIN_LIKED_STARS
    is_disliked = stars is not None and not is_liked
    like_label = _("Remove your thumbs up for {film}", film=name) if is_liked else _("I liked {film}", film=name)
    dislike_label = (
        _("Remove your thumbs down for {film}", film=name) if is_disliked else _("I did not like {film}", film=name)
    )

    def rate(new_stars: float | None, key: str) -> None:
        session.rate(film, new_stars)
        browser.focus_on(key)

    for label, kind, icon, stars_of_button, is_given in (
        (like_label, "like", "thumb_up", LIKED_STARS, is_liked),
        (dislike_label, "dislike", "thumb_down", DISLIKED_STARS, is_disliked),
    ):
        key = f"{kind}-{film.movie_id}"
        new_stars = None if is_given else stars_of_button  # a second click removes the rating
        _show_icon_button(label, key, icon, rate, new_stars, key, type="primary" if is_given else "tertiary")


def _show_stars(film: Film) -> None:
    """Show the rating as a row of five stars. Half stars are rounded up."""
    key, stars = f"stars-{film.movie_id}", session.rating(film)
    # the value of `st.feedback` is the number of stars minus 1
    st.session_state[key] = None if stars is None else int(stars + 0.5) - 1

    def rate() -> None:
        value = st.session_state[key]
        session.rate(film, None if value is None else value + 1.0)

    st.feedback("stars", key=key, on_change=rate)


def _show_link_note(dataset: Dataset, films: tuple[int, ...]) -> None:
    """If the URL cannot contain all films, show how many films it contains."""
    n_in_url = history.count_films_in_link(dataset.catalog, films)
    if n_in_url < len(films):
        text = ngettext(
            "Your list is too long for the page address. A link or a reload only brings back the latest film.",
            "Your list is too long for the page address. A link or a reload only brings back the latest {n:,} films.",
            n_in_url,
        )
        st.caption(text)


def _show_tools(dataset: Dataset, films: tuple[int, ...], recommendation_list: RecommendationList | None) -> None:
    """Show the buttons and popovers below the list."""

    def undo() -> None:
        session.undo()
        browser.focus_on("undo", "search")  # the last undo step disables the button

    def clear() -> None:
        session.start_list(())
        browser.focus_on("undo")  # "Clear" is disabled now

    with st.container(horizontal=True, gap="small"):
        if films or visitor().undo_stack:
            button(_("Undo"), "undo", "undo", undo, disabled=not visitor().undo_stack)
            button(_("Clear"), "clear", "delete_sweep", clear, disabled=not films)
            share.popover(dataset, films, recommendation_list)
        if films:
            _show_ratings_popover(recommendation_list)
        if dataset.noun == "film":  # import files are from film services
            import_dialog.open_button(dataset)
        _show_random_user_button(dataset, films)
        input_help = ngettext(
            "{data} has {n:,} person. This replaces the films in your list. You can undo it.",
            "{data} has {n:,} people. This replaces the films in your list. You can undo it.",
            dataset.n_users,
            data=cache.dataset_title(dataset.name),
        )
        help_text = _("Fill the list with the films of one person in this data set.")
        ui_page.user_popover(dataset, "person", input_help, session.load_user, help_text)


def _show_ratings_popover(recommendation_list: RecommendationList | None) -> None:
    """Show the choice between thumbs and stars, a note on the effect of ratings, and a button that deletes them."""
    panel = ui_page.popover(_("Ratings"), "ratings-open", "star")
    if not panel.open:
        return
    with panel, ui_page.popover_content("ratings-open"):
        segmented_control(_("Rate your films with"), {"thumbs": _("Thumbs"), "stars": _("Stars")}, "rate_by")
        st.caption(_("Ratings are optional. One or two stars mean that you did not like the film."))
        if recommendation_list:
            st.caption(_(RATINGS_NOTE))
            if visitor().ratings:
                button(_("Clear all ratings"), "ratings-forget", "restart_alt", session.clear_ratings)


def _show_random_user_button(dataset: Dataset, films: tuple[int, ...]) -> None:
    """Show the button that loads the films of a random user. A popover asks before films are replaced."""

    def fill() -> None:
        if user := session.random_user(dataset):
            session.load_user(user)
        browser.focus_on("surprise", "surprise-open")  # if the list was empty, the popover has replaced the button

    label, icon = _("A random person's films"), "casino"
    help_text = _("Fill the list with the films of a random person in this data set.")
    if not films:
        button(label, "surprise", icon, fill, help=help_text)
        return
    panel = ui_page.popover(label, "surprise-open", icon, help_text)
    if panel.open:
        with panel, ui_page.popover_content("surprise-open"):
            text = ngettext(
                "This replaces the film in your list with the films of a random person. You can undo it.",
                "This replaces the {n} films in your list with the films of a random person. You can undo it.",
                len(films),
            )
            st.caption(text)
            button(_("Replace your films"), "surprise", icon, fill)
