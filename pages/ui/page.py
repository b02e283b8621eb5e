"""Widgets of several pages: navigation, header, popovers, filter controls, and the choice of a user."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.mutable_popover_container import PopoverContainer

from pages.ui import browser, cache, dataset_menu, film_cards, session
from pages.ui.browser import STYLE
from pages.ui.format import display_tag, escape_markdown
from pages.ui.i18n import N_, _, localize, ngettext
from pages.ui.recommenders import TRAIN_PAGE
from pages.ui.visitor import visitor
from pages.ui.widgets import button
from recsys.data.dataset import Dataset
from recsys.paths import is_public
from recsys.serving import history, users
from recsys.serving.filters import POPULARITY_LEVELS, FilmFeatures
from recsys.serving.history import UserHistory
from recsys.serving.recommend import ServingError

WATCH_PAGE = "1_watch_next.py"
# Script → icon, title, help. The number of a script distinguishes it from the package with the widgets of the page.
# Streamlit removes the number from the URL.
PAGES = {
    WATCH_PAGE: ("movie", N_("Watch next"), N_("Add the films you watched and get recommendations.")),
    "2_compare.py": ("view_column", N_("Compare"), N_("Compare what several recommenders suggest.")),
    "3_evaluation.py": ("leaderboard", N_("Evaluation"), N_("See how accurate each recommender is.")),
    "4_inside.py": ("neurology", N_("Inside the model"), N_("See how the network predicts your next film.")),
    "5_library.py": ("video_library", N_("Library"), N_("Browse all films and see statistics.")),
    TRAIN_PAGE: ("model_training", N_("Train"), N_("Train a recommender on this computer.")),
}
POPULARITY_LABELS = {  # level of POPULARITY_LEVELS → label
    "mainstream": N_("Mainstream"),
    "well known": N_("Well known"),
    "any": N_("Any"),
    "lesser known": N_("Lesser known"),
    "hidden gems": N_("Little known"),
}
MAX_TITLES = 8  # film titles in one line


def navigation() -> st.Page:
    """Set the page settings, logo, style and navigation. Return the page to run."""
    st.set_page_config(page_icon=str(STYLE / "mark.svg"), layout="wide", initial_sidebar_state="collapsed")
    st.logo(str(STYLE / "logo.svg"))
    st.html(STYLE / "nextreel.css")
    pages = [
        st.Page(script, title=_(title), icon=f":material/{icon}:", help=_(help), default=script == WATCH_PAGE)
        for script, (icon, title, help) in PAGES.items()
        if script != TRAIN_PAGE or not is_public()
    ]
    current_page = st.navigation(pages, position="top")
    # after `st.navigation`, which also sets a title
    st.set_page_config(_("{page} · {app}", page=current_page.title, app=_("NextReel")))
    return current_page


def header(title: str, caption: str) -> Dataset | None:
    """Show the title, the menu of data sets and the status of downloads, and load the open data set.

    Also convert the visitor's pending films to films of the data set. Return the data set, or None if it is
    unavailable.
    """
    left, right = st.columns([2, 1], vertical_alignment="top")
    with left:
        st.title(title)
        st.caption(caption)
    with right:
        dataset_menu.menu()
    dataset_menu.show_task_status()
    dataset = dataset_menu.load_or_explain(visitor().current.dataset)
    if dataset:
        session.convert_pending(dataset)
    return dataset


def show_notices() -> None:
    """Show the notices about the list, for example about films of the URL that the data set does not have."""
    for notice in visitor().notices:
        st.warning(escape_markdown(localize(notice)), icon=":material/link_off:")


def require_films(dataset: Dataset, advice: str) -> tuple[int, ...]:
    """Show the visitor's list or, if it is empty, advice and example lists. Return the film numbers of the list."""
    films = visitor().current.films
    show_notices()
    if films:
        show_visitor_titles(dataset)
        st.page_link(WATCH_PAGE, label=_("Change the films"), icon=":material/edit:")
    else:
        st.info(advice, icon=":material/playlist_add:")
        show_examples(dataset)
    return films


def show_visitor_titles(dataset: Dataset) -> None:
    """Show the latest titles of the visitor's list in one line."""
    if visitor().current.in_watch_order:
        show_titles(dataset, visitor().current.films, _("Your films, in the order you watched them"))
    else:
        show_titles(dataset, visitor().current.films, _("Your films"), separator=", ")


def show_titles(dataset: Dataset, films: Sequence[int], label: str, separator: str = " → ") -> None:
    """Show a label and the latest titles of a list in one line. films: Film numbers, oldest first."""
    titles = [escape_markdown(dataset.catalog.films[number].label) for number in films]
    latest = titles if len(titles) <= MAX_TITLES else ["…", *titles[-MAX_TITLES:]]
    st.markdown(f":gray[{escape_markdown(label)}:] {separator.join(latest)}")


def show_examples(dataset: Dataset) -> None:
    """Show the example lists with buttons that load them."""

    def load(items: Sequence[int]) -> None:
        session.start_list(items)
        browser.focus_on("search")  # the clicked button disappears

    for example in history.available_sample_lists(cache.title_index(dataset.name)):
        films = [dataset.catalog.films[item] for item in example.items]
        with st.container(border=True, gap="xsmall"):
            st.html(film_cards.example_card(example, films))
            label = _("Start with these *films: {example}*", example=_(example.name))
            button(label, f"take-{example.name}", "playlist_add", load, example.items)


def popover(
    label: str, key: str, icon: str, help: str | None = None, disabled: bool = False, focus: tuple[str, ...] = ()
) -> PopoverContainer:
    """Return a popover that moves the keyboard focus into its content when it opens.

    The Tab key does not reach the content, because Streamlit renders it at the end of the page. Callers render it in
    `popover_content(key)`, and only while the popover is open.

    focus: Keys of widgets. The first enabled one gets the focus. Empty: the first widget of the content gets it.
    """

    def move_focus() -> None:
        if st.session_state.get(key):  # the popover opens
            browser.focus_on(*(focus or (f"in-{key}",)))

    return st.popover(label, icon=f":material/{icon}:", key=key, help=help, disabled=disabled, on_change=move_focus)


def popover_content(key: str) -> DeltaGenerator:
    """Return the container for the content of a popover."""
    return st.container(key=f"in-{key}")


def filter_popover(key: str, n_active: int) -> PopoverContainer:
    """Return the popover of filters. Its label has the number of active filters."""
    return stable_popover(_("Filters · {n}", n=n_active) if n_active else _("Filters"), key, "tune")


def stable_popover(label: str, key: str, icon: str) -> PopoverContainer:
    """Return a popover whose label stays the same while it is open. With a new label, Streamlit would close it."""
    state, label_key = st.session_state, f"{key}_label"
    if not state.get(key):  # the popover is closed
        state[label_key] = label
    return popover(state[label_key], key, icon)


def year_slider(features: FilmFeatures, key: str, years: tuple[int, int] | None, on_change: Callable[[], None]) -> None:
    """Show a slider for release years, unless all films are of one year. years: Selected years, None for all."""
    if features.year_range[0] < features.year_range[1]:
        current_years = years or features.year_range
        st.session_state[key] = tuple(int(np.clip(year, *features.year_range)) for year in current_years)
        st.slider(_("Released between"), *features.year_range, key=key, on_change=on_change)


def selected_years(features: FilmFeatures, key: str) -> tuple[int, int] | None:
    """Return the years of `year_slider`, or None for all years."""
    years = tuple(st.session_state.get(key, features.year_range))
    return None if years == features.year_range else years


def genre_menu(
    features: FilmFeatures,
    key: str,
    genres: tuple[str, ...],
    on_change: Callable[[], None],
    label: str,
    placeholder: str,
) -> None:
    """Show a menu of genres. genres: The selected genres."""
    multiselect(key, features.genres, genres, on_change, label, placeholder, format_func=display_tag)


def multiselect(
    key: str,
    values: Sequence[str],
    selection: tuple[str, ...],
    on_change: Callable[[], None],
    label: str,
    placeholder: str,
    **options: Any,
) -> None:
    """Show a menu of values. Selected values that the data set does not have stay in the menu.

    options: Further arguments of `st.multiselect`.
    """
    st.session_state[key] = list(selection)
    values = list(dict.fromkeys([*values, *selection]))
    st.multiselect(label, values, select_all=False, key=key, placeholder=placeholder, on_change=on_change, **options)


def popularity_slider(key: str, value: str, on_change: Callable[[], None]) -> None:
    """Show a slider for the popularity of films. value: The selected level of POPULARITY_LEVELS."""
    st.session_state[key] = value
    help_text = _(
        "Based on how many ratings a film has in this data set. Mainstream: the top 5% of the films. Well known: "
        "the top 20%. Lesser known: all others. Little known: the half with the fewest ratings."
    )
    st.select_slider(
        _("How well known"),
        list(POPULARITY_LEVELS),
        key=key,
        format_func=lambda level: _(POPULARITY_LABELS[level]),
        help=help_text,
        on_change=on_change,
    )


def user_input(dataset: Dataset, key: str, help: str) -> UserHistory | None:
    """Show an input for the id or name of a user. Return the user's history, or None if the user does not exist."""
    if dataset.user_names is not None:
        default = str(dataset.user_names[0])
        user: int | str = st.text_input(_("Name of the person in the file"), default, key=f"{key}_named", help=help)
    else:
        lowest, highest = int(dataset.user_ids[0]), int(dataset.user_ids[-1])  # ids are sorted
        label = _("Number of the person in the ratings file")
        user = int(st.number_input(label, lowest, highest, step=1, key=key, help=help))
    try:
        return history.user_history(dataset, users.user_row(dataset, user))
    except ServingError:
        st.caption(
            _("There is no person {number}. Not every number is used.", number=user)
            if dataset.user_names is None
            else _("There is no person of that name.")
        )
        return None


def user_popover(
    dataset: Dataset, key: str, input_help: str, on_use: Callable[[UserHistory], None], help: str | None = None
) -> None:
    """Show a popover with `user_input` and a button that calls `on_use` with the user's history.

    input_help: Help text of the input. help: Help text of the popover.
    """
    open_key = f"{key}-open"
    panel = popover(_("Choose a person"), open_key, "tag", help)
    if panel.open:
        with panel, popover_content(open_key):
            if user := user_input(dataset, key, input_help):
                button(_("Use these films"), f"take-{key}", "person", on_use, user)


def user_caption(n_watched: int, n_shown: int, dataset_title: str) -> str:
    """Return a sentence about a user who watched `n_watched` films. The newest `n_shown` of them are in the list."""
    if n_shown == n_watched:
        return ngettext(
            "A real person from {data} who watched {n:,} film.",
            "A real person from {data}, with all {n:,} films that they watched.",
            n_watched,
            data=dataset_title,
        )
    return _(
        "A real person from {data}, who watched {n:,} films. These are the latest {shown}.",
        n=n_watched,
        shown=n_shown,
        data=dataset_title,
    )
