"""The films of the other person in Watch together: from a search, a link, or a user of the data set.

Session state:
    other: The films in the format of `group.format_list`, "" for none.
    other_in_watch_order: True if the films are a history, False if they are favourites in no order.
"""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from pages.ui import browser, cache, errors, film_search, format, page, session
from pages.ui.i18n import _, localize, ngettext
from pages.ui.visitor import visitor
from pages.ui.widgets import button
from recsys.data import datasets
from recsys.data.dataset import Dataset
from recsys.errors import RecsysError
from recsys.serving import group, history
from recsys.serving.predictor import Predictor, for_unordered_list
from recsys.serving.search.search import SearchResult

LINK_POPOVER_KEY = "other_link_open"


def resolve_films(dataset: Dataset) -> tuple[int, ...]:
    """Return the film numbers of the other person's films. Show a notice about films that are not in the data set.

    If the films are from another data set, they are matched by title and year.
    """
    # "ml-1m.1-260": name of a data set, which may contain dots, then movie ids
    source, _dot, ids = st.session_state.setdefault("other", "").rpartition(".")
    if not source:
        return ()
    if source != dataset.name and source not in datasets.prepared_names():
        title = cache.dataset_title(source)
        text = _("The other person's films are from {data}, which is not on this computer.", data=title)
        st.caption(format.escape_markdown(text))
        return ()
    catalog = dataset.catalog if source == dataset.name else cache.dataset(source).catalog
    numbers, messages = history.from_url_params({"s": ids}, catalog)  # the ids have the format of the URL parameter s
    notices = [localize(message) for message in messages]
    if source != dataset.name:
        index = cache.title_index(dataset.name)
        results = [index.find_exact(catalog.films[number].label) for number in numbers]
        matches = [result.number for result in results if result]
        if n_missing := len(numbers) - len(matches):
            text = ngettext(
                "{n} of their {total} films is not in {data}.",
                "{n} of their {total} films are not in {data}.",
                n_missing,
                total=len(numbers),
                data=cache.dataset_title(dataset.name),
            )
            notices.append(text)
        numbers = list(dict.fromkeys(matches))
    for notice in notices:
        st.caption(format.escape_markdown(notice))
    return tuple(numbers)


def show_controls(dataset: Dataset, numbers: tuple[int, ...]) -> None:
    """Show the controls that add and remove films of the other person. numbers: Film numbers of the current films."""

    def show_result(film: SearchResult) -> None:
        reason = _("already in their list") if film.number in numbers else ""
        film_search.film_button(film, f"other-{film.movie_id}", "add", add_film, (dataset, numbers, film), reason)

    label, on_enter = _("Add a film for the other person"), partial(add_film, dataset, numbers)
    film_search.search_box(dataset.name, label, "other_search", show_result, limit=6, on_enter=on_enter)
    if numbers:
        show_films(dataset, numbers)
    with st.container(horizontal=True, gap="small"):
        button(_("A real person"), "other-random", "casino", use_random_user, dataset)
        input_help = ngettext(
            "{data} has {n:,} person. The latest films of the chosen person replace the list.",
            "{data} has {n:,} people. The latest films of the chosen person replace the list.",
            dataset.n_users,
            data=cache.dataset_title(dataset.name),
        )
        page.user_popover(dataset, "other_person", input_help, partial(use_films_of_user, dataset))
        link_popover()


def show_films(dataset: Dataset, numbers: tuple[int, ...]) -> None:
    """Show the films in a menu that can remove them, and a switch between favourites and a history."""
    labels = {number: dataset.catalog.films[number].label for number in numbers}
    st.session_state.other_films = list(numbers)
    st.multiselect(
        _("Their films, in the order they watched them")
        if st.session_state.get("other_in_watch_order")
        else _("Their films"),
        numbers,
        select_all=False,
        format_func=labels.__getitem__,
        key="other_films",
        wrap=True,
        on_change=lambda: replace_films(dataset, st.session_state.other_films),
    )
    if len(numbers) > 1:
        st.toggle(_("In the order they watched them"), key="other_in_watch_order", persist_state="session")


def adapt_to_list(predictor: Predictor) -> Predictor:
    """Return the predictor for the other person's list, which is a history or favourites in no order."""
    return predictor if st.session_state.get("other_in_watch_order") else for_unordered_list(predictor)


def replace_films(dataset: Dataset, numbers: Sequence[int]) -> None:
    """Replace the films of the other person. An empty list has no order."""
    ids = [dataset.catalog.films[number].movie_id for number in numbers]
    st.session_state.other = group.format_list(dataset.name, ids)
    if not numbers:
        st.session_state.other_in_watch_order = False


def add_film(dataset: Dataset, numbers: tuple[int, ...], film: SearchResult) -> None:
    """Add a search result, unless the list has it. Clear the search box, and keep the focus in it."""
    if film.number not in numbers:
        replace_films(dataset, [*numbers, film.number])
    st.session_state.other_search = ""
    browser.focus_on("other_search")


def use_random_user(dataset: Dataset) -> None:
    """Replace the films by the films of a random user."""
    if user := session.random_user(dataset):
        use_films_of_user(dataset, user)


def use_films_of_user(dataset: Dataset, user: history.UserHistory) -> None:
    """Replace the films by the films of a user, which are a history."""
    replace_films(dataset, user.items)
    st.session_state.other_in_watch_order = True


def link_popover() -> None:
    """Show a popover that reads the films from a link of this app."""
    help_text = _("Paste a link that the other person has copied from the address bar or from “Share”.")
    panel = page.popover(_("A link"), LINK_POPOVER_KEY, "link", help_text, focus=("other_link",))
    if panel.open:
        with panel, page.popover_content(LINK_POPOVER_KEY):
            label, example = _("Link to their films"), "https://…?s=1-260"
            st.text_input(label, key="other_link", placeholder=example, on_change=read_link)
            if error := visitor().flash.get("other_link"):
                errors.show_error(error)


def read_link() -> None:
    """Read the films of the pasted link, or store the error for the popover."""
    link = (st.session_state.other_link or "").strip()
    try:
        if link:
            st.session_state.other = group.list_from_link(link)
            st.session_state.other_in_watch_order = session.is_link_to_ordered_list(link)
        visitor().flash.pop("other_link", None)
    except RecsysError as error:
        visitor().flash["other_link"] = error
