"""Which films may be recommended: the popover with its controls, and the films that are not wanted.

Session state: filters (a Filters, kept from page to page); the widgets are filled from it whenever the popover opens.
"""

from typing import Literal

import numpy as np
import streamlit as st
from streamlit.elements.lib.mutable_popover_container import PopoverContainer

from pages.shared import loaders, rated, sequence
from pages.shared import words as common
from pages.watch import words
from pages.watch.popovers import content, popover
from recsys.data.schema import Dataset
from recsys.serving.filters import KNOWN, Facts, Filters, too_strict
from recsys.serving.recommend import Request


def chosen() -> Filters:
    """What the visitor has chosen."""
    return st.session_state.setdefault("filters", Filters())


def request(dataset: Dataset, films: tuple[int, ...], k: int) -> Request:
    """What is wanted: k films after the visitor's, among those that may be recommended."""
    return Request(films, k, chosen(), st.session_state.unwanted, rated.given(dataset, films))


def among(request: Request) -> str:
    """Which films a list is chosen from, as words.PROBABILITIES has it: their probabilities add up to 100 %."""
    if request.filters.narrow or request.unwanted:
        return "allowed"
    return "unwatched" if request.filters.hide_seen and request.history else "all"


def choose(dataset: Dataset) -> None:
    """The popover; what it holds is made when it is opened."""
    count = len(chosen().active)
    panel = _popover(words.FILTERS_ON.format(n=count) if count else words.FILTERS, "filters_open", "tune")
    if panel.open:
        with panel, content("filters_open"):
            _controls(loaders.facts(dataset.name))
    if count:
        reset_button("reset", label=f"*{words.RESET}*", type="tertiary")


def _popover(label: str, key: str, icon: str) -> PopoverContainer:
    """A popover whose label waits until it is closed: with another one Streamlit would take it for another popover."""
    state = st.session_state
    if not state.get(key):
        state[f"{key}_label"] = label
    return popover(state[f"{key}_label"], key, icon)


def _controls(known: Facts) -> None:
    """One control for each filter."""
    _fill(known)
    st.toggle(words.HIDE_SEEN, key="hide_seen", on_change=_read, args=(known,))
    st.toggle(words.NO_NEWER, key="no_newer", help=words.NO_NEWER_HELP, on_change=_read, args=(known,))
    if known.span[0] < known.span[1]:
        st.slider(words.YEARS, *known.span, key="years", on_change=_read, args=(known,))
    _genres(known, words.GENRES, "genres", chosen().genres, words.ANY_GENRE)
    _genres(known, words.WITHOUT, "without", chosen().without, words.NO_GENRE)
    _how_known(known)
    _diversity(known)


def _genres(known: Facts, label: str, key: str, now: tuple[str, ...], hint: str) -> None:
    options = sorted({*known.genres, *now})  # another data set may have had others
    st.multiselect(label, options, key=key, placeholder=hint, on_change=_read, args=(known,))


def _how_known(known: Facts) -> None:
    st.select_slider(
        words.KNOWN,
        list(KNOWN),
        key="known",
        format_func=words.KNOWN_STEPS.__getitem__,
        help=words.KNOWN_HELP,
        on_change=_read,
        args=(known,),
    )


def _diversity(known: Facts) -> None:
    st.slider(
        words.DIVERSITY,
        0.0,
        1.0,
        step=0.1,
        format="percent",
        key="diversity",
        help=words.DIVERSITY_HELP,
        on_change=_read,
        args=(known,),
    )


def reset_button(key: str, label: str = "", type: Literal["secondary", "tertiary"] = "secondary") -> None:
    """Every filter back to how it was at first."""
    st.button(label or words.RESET, key=key, icon=":material/filter_alt_off:", on_click=reset, type=type)


def reset() -> None:
    """Ask for nothing."""
    st.session_state.filters = Filters()


def _fill(known: Facts) -> None:
    """Show in the widgets what is asked for; years as far as this data set has them."""
    state, wish = st.session_state, chosen()
    first, last = wish.years or known.span
    state.years = tuple(int(np.clip(year, *known.span)) for year in (first, last))
    state.hide_seen, state.no_newer = wish.hide_seen, wish.no_newer
    state.known, state.diversity = wish.known, wish.diversity
    state.genres, state.without = list(wish.genres), list(wish.without)


def _read(known: Facts) -> None:
    """Take over what the widgets say; all years are no wish."""
    state = st.session_state
    state.filters = Filters(
        years=None if tuple(state.years) == known.span else tuple(state.years),
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
        st.info(words.NONE_LEFT)
        return
    strict = too_strict(loaders.facts(dataset.name), chosen(), films, st.session_state.unwanted)
    st.info(words.too_strict(strict), icon=":material/filter_alt:")
    reset_button("reset-here")


def unwanted(dataset: Dataset) -> None:
    """The films that are not wanted, each to be taken back; nothing where there are none."""
    items = st.session_state.unwanted
    if not items:
        return
    panel = _popover(words.UNWANTED.format(n=len(items)), "unwanted_open", "thumb_down")
    if panel.open:
        with panel, content("unwanted_open"):
            st.caption(words.UNWANTED_HELP)
            for item in items:
                _take_back(dataset, item)


def _take_back(dataset: Dataset, item: int) -> None:
    film = common.plain(dataset.catalog.films[item].label)
    st.button(
        words.TAKE_BACK.format(film=film),
        key=f"back-{item}",
        type="tertiary",
        icon=":material/undo:",
        on_click=sequence.take_back,
        args=(item,),
    )
