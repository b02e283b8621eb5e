"""Which films may be recommended: the popover with its controls, and the films that are not wanted.

Session state: filters (a Filters, kept from page to page); the widgets are filled from it whenever the popover opens.
"""

from functools import partial
from typing import Literal

import streamlit as st

from pages.ui import browser, cache, format, page, session
from pages.ui.i18n import _
from pages.ui.page import popover_content
from pages.watch import words
from recsys.data.dataset import Dataset
from recsys.serving.filters import Facts, Filters, too_strict
from recsys.serving.recommend import Request


def chosen() -> Filters:
    """What the visitor has chosen."""
    return st.session_state.setdefault("filters", Filters())


def request(dataset: Dataset, films: tuple[int, ...], k: int) -> Request:
    """What is wanted: k films after the visitor's, among those that may be recommended."""
    return Request(films, k, chosen(), st.session_state.unwanted, session.current_ratings(dataset, films))


def among(request: Request) -> str:
    """Which films a list is chosen from, as words.PROBABILITIES has it: their probabilities add up to 100 %."""
    if request.filters.narrow or request.unwanted:
        return "allowed"
    return "unwatched" if request.filters.hide_seen and request.history else "all"


def choose(dataset: Dataset) -> None:
    """The popover; what it holds is made when it is opened."""
    count = len(chosen().active)
    panel = page.filter_popover("filters_open", count)
    if panel.open:
        with panel, popover_content("filters_open"):
            _controls(cache.film_features(dataset.name))
    if count:
        reset_button("reset", label="*" + _("Reset filters") + "*", type="tertiary")


def _controls(known: Facts) -> None:
    """One control for each filter."""
    state, now, read = st.session_state, chosen(), partial(_read, known)
    state.hide_seen, state.no_newer, state.diversity = now.hide_seen, now.no_newer, now.diversity
    st.toggle(_("Hide watched"), key="hide_seen", on_change=read)
    st.toggle(
        _("Nothing newer than your last film"),
        key="no_newer",
        help=_(
            "Should somebody whose list ends in 2007 be shown a film of 2015? This keeps to what had come out by then."
        ),
        on_change=read,
    )
    page.year_slider(known, "years", now.years, read)
    page.genre_menu(known, "genres", now.genres, read, _("Only these genres"), _("Any genre"))
    page.genre_menu(known, "without", now.without, read, _("None of these genres"), _("Nothing left out"))
    page.popularity_slider("known", now.known, read)
    st.slider(
        _("Variety"),
        0.0,
        1.0,
        step=0.1,
        format="percent",
        key="diversity",
        help=_(
            "Trades probable films for films unlike those above them: unlike by what the recommender has "
            "learnt, or where it keeps no vectors of films, by genre (maximal marginal relevance, "
            "Carbonell and Goldstein 1998). At 0% the ranking is the recommender's own."
        ),
        on_change=read,
    )


def reset_button(key: str, label: str = "", type: Literal["secondary", "tertiary"] = "secondary") -> None:
    """Every filter back to how it was at first."""
    st.button(label or _("Reset filters"), key=key, icon=":material/filter_alt_off:", on_click=reset, type=type)


def reset() -> None:
    """Ask for nothing."""
    st.session_state.filters = Filters()
    browser.focus_on("filters_open")


def _read(known: Facts) -> None:
    """Take over what the widgets say; all years are no wish."""
    state = st.session_state
    state.filters = Filters(
        years=page.chosen_years(known, "years"),
        genres=tuple(state.genres),
        without=tuple(state.without),
        known=state.known,
        no_newer=state.no_newer,
        hide_seen=state.hide_seen,
        diversity=state.diversity,
    )


def nothing_left(dataset: Dataset, films: tuple[int, ...]) -> None:
    """Why no film is recommended, and what to do."""
    if not chosen().narrow:
        st.info(
            _("There is no film left to recommend. Remove a film from your list, or show the ones already watched.")
        )
        return
    strict = too_strict(cache.film_features(dataset.name), chosen(), films, st.session_state.unwanted)
    st.info(words.too_strict(strict), icon=":material/filter_alt:")
    reset_button("reset-here")


def unwanted(dataset: Dataset) -> None:
    """The films that are not wanted, each to be taken back; nothing where there are none."""
    items = st.session_state.unwanted
    if not items:
        return
    panel = page.stable_popover(_("Not for me · {n}", n=len(items)), "unwanted_open", "thumb_down")
    if panel.open:
        with panel, popover_content("unwanted_open"):
            st.caption(_("These films are not recommended to you. Undo brings the last one back, too."))
            for position, item in enumerate(items):
                others = items[position + 1 :] + items[:position]
                _take_back(dataset, item, [f"back-{other}" for other in others])


def _take_back(dataset: Dataset, item: int, others: list[str]) -> None:
    """A button that lets a film be recommended again. others: keys of the buttons that may have the focus then."""
    film = format.escape_markdown(dataset.catalog.films[item].label)
    st.button(
        _("Recommend {film} again", film=film),
        key=f"back-{item}",
        type="tertiary",
        icon=":material/undo:",
        on_click=_allow,
        args=(item, others),
    )


def _allow(item: int, others: list[str]) -> None:
    session.unhide_film(item)
    browser.focus_on(*others, "filters_open")
