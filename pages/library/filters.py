"""Which films of the library are shown, and which of them two people are offered: years, genres, renown, tags.

They are not those of Watch next: whoever looks for old westerns that they have watched does not want nothing else
recommended. Session state: library_years (None: all) · library_genres · library_known · library_tags.
"""

from functools import partial

import streamlit as st

from pages.ui import cache, page
from pages.ui.i18n import _, count
from pages.ui.page import popover_content
from recsys.serving.filters import Filters
from recsys.serving.library import Library, Wish

OFFERED = 300  # tags; a menu of thousands is slow
OPEN = "library_filters_open"


@cache.cached_for_dataset()
def library(name: str) -> Library:
    """All films of a data set."""
    return Library.of(cache.dataset(name))


def begin() -> None:
    """Ask for nothing, where a link does not."""
    for key, value in NOTHING.items():
        st.session_state.setdefault(key, value)


def wish(order: str = Wish.order) -> Wish:
    """What the visitor has chosen."""
    state = st.session_state
    asked = Filters(state.library_years, tuple(state.library_genres), known=state.library_known)
    return Wish(asked, tuple(state.library_tags), order)


def choose(known: Library) -> None:
    """The popover; what it holds is made when it is opened."""
    active = sum(st.session_state[key] != value for key, value in NOTHING.items() if key != "browse_page")
    panel = page.filter_popover(OPEN, active)
    if panel.open:
        with panel, popover_content(OPEN):
            _controls(known)
    if active:
        st.button(
            "*" + _("Reset filters") + "*",
            key="library-reset",
            icon=":material/filter_alt_off:",
            type="tertiary",
            on_click=reset,
        )


def reset() -> None:
    """Ask for nothing."""
    st.session_state.update(NOTHING)


def _controls(known: Library) -> None:
    """One control for each filter."""
    now, read = wish(), partial(_read, known)
    page.year_slider(known.facts, "in_years", now.filters.years, read)
    page.genre_menu(known.facts, "in_genres", now.filters.genres, read, _("Only these genres"), _("Any genre"))
    page.popularity_slider("in_known", now.filters.known, read)
    if n := len(known.dataset.catalog.tags.words):
        st.session_state.in_tags = list(now.tags)
        st.multiselect(
            _("Tagged"),
            sorted({*known.tags(OFFERED), *now.tags}),
            select_all=False,
            key="in_tags",
            accept_new_options=True,
            placeholder=_("Any tag"),
            help=_(
                "Only films with all of these tags. You can type any tag; of {all}, those of most films are offered.",
                all=count(n),
            ),
            on_change=read,
        )


def _read(known: Library) -> None:
    """Take over what the controls say; the first page of what is found then comes first."""
    state = st.session_state
    state.library_years = page.chosen_years(known.facts, "in_years")
    state.library_genres, state.library_known = tuple(state.in_genres), state.in_known
    state.library_tags = tuple(dict.fromkeys(" ".join(tag.lower().split()) for tag in state.get("in_tags", ())))
    state.browse_page = 1


NOTHING = {"library_years": None, "library_genres": (), "library_known": "any", "library_tags": (), "browse_page": 1}
