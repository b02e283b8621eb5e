"""The filters of Browse and Watch together. Watch next has other filters.

Session state:
    library_years: Oldest and newest release year, or None.
    library_genres, library_tags: The selected genres and tags.
    library_known: The selected level of POPULARITY_LEVELS.
    in_years, in_genres, in_tags, in_known: The same values in the widgets. Streamlit deletes them with the widgets.
"""

from functools import partial

import streamlit as st

from pages.ui import cache, page
from pages.ui.i18n import _
from pages.ui.widgets import button
from recsys.serving.filters import Filters
from recsys.serving.library import Library, LibraryQuery

FILTER_DEFAULTS = {"library_years": None, "library_genres": (), "library_known": "any", "library_tags": ()}
DEFAULTS = {**FILTER_DEFAULTS, "browse_page": 1}  # a reset also opens the first page
MAX_TAGS = 300  # tags in the menu, because a menu with thousands of tags is slow
OPEN_KEY = "library_filters_open"  # widget key of the popover


@cache.cached_for_dataset()
def load_library(name: str) -> Library:
    """Return the library of a data set."""
    return Library.from_dataset(cache.dataset(name))


def set_defaults() -> None:
    """Set the filters and the page of Browse to their defaults if they have no value yet."""
    for key, value in DEFAULTS.items():
        st.session_state.setdefault(key, value)


def query(order: str = LibraryQuery.order) -> LibraryQuery:
    """Return the query with the selected filters and tags. order: One of `library.ORDERS`."""
    state = st.session_state
    filters = Filters(years=state.library_years, genres=tuple(state.library_genres), popularity=state.library_known)
    return LibraryQuery(filters, tuple(state.library_tags), order)


def show(library: Library) -> None:
    """Show the popover with the filters and, if a filter is active, a reset button."""
    n_active = sum(st.session_state[key] != value for key, value in FILTER_DEFAULTS.items())
    panel = page.filter_popover(OPEN_KEY, n_active)
    if panel.open:
        with panel, page.popover_content(OPEN_KEY):
            show_controls(library)
    if n_active:
        label = "*" + _("Reset filters") + "*"  # only screen readers read the text in *…*
        button(label, "library-reset", "filter_alt_off", st.session_state.update, DEFAULTS, type="tertiary")


def show_controls(library: Library) -> None:
    """Show a control for each filter. A change of a control stores the values of all controls."""
    current, on_change = query(), partial(store_filters, library)
    page.year_slider(library.features, "in_years", current.filters.years, on_change)
    page.genre_menu(
        library.features, "in_genres", current.filters.genres, on_change, _("Only these genres"), _("Any genre")
    )
    page.popularity_slider("in_known", current.filters.popularity, on_change)
    if n_tags := len(library.dataset.catalog.tags.texts):
        page.multiselect(
            "in_tags",
            sorted({*library.common_tags(MAX_TAGS), *current.tags}),
            current.tags,
            on_change,
            _("Tagged"),
            _("Any tag"),
            accept_new_options=True,
            help=_(
                "Only films with all of these tags. The menu lists the most frequent of {n:,} tags. You can type any "
                "other tag.",
                n=n_tags,
            ),
        )


def store_filters(library: Library) -> None:
    """Store the values of the controls, and open the first page of Browse."""
    state = st.session_state
    state.library_years = page.selected_years(library.features, "in_years")
    state.library_genres = tuple(state.in_genres)
    state.library_known = state.in_known
    tags = [" ".join(tag.lower().split()) for tag in state.get("in_tags", ())]  # as in the catalogue
    state.library_tags = tuple(dict.fromkeys(tags))
    state.browse_page = 1
