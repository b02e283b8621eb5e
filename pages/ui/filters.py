"""Controls for filters of films, filled with what is asked for and read by whoever asks; a popover to hold them."""

from collections.abc import Callable

import numpy as np
import streamlit as st
from streamlit.elements.lib.mutable_popover_container import PopoverContainer

from pages.ui import popovers, words
from pages.ui.i18n import _
from recsys.serving.filters import KNOWN, Facts

Read = Callable[[], None]  # takes over what the controls say


def popover(key: str, count: int) -> PopoverContainer:
    """The popover of `count` filters that are set."""
    return steady(_("Filters · {n}", n=count) if count else _("Filters"), key, "tune")


def steady(label: str, key: str, icon: str) -> PopoverContainer:
    """A popover whose label waits until it is closed: with another one Streamlit would take it for another popover."""
    state = st.session_state
    if not state.get(key):
        state[f"{key}_label"] = label
    return popovers.popover(state[f"{key}_label"], key, icon)


def years(known: Facts, key: str, now: tuple[int, int] | None, read: Read) -> None:
    """When films were made, as far as the data set goes; nothing where it does not say."""
    if known.span[0] < known.span[1]:
        first, last = now or known.span
        st.session_state[key] = tuple(int(np.clip(year, *known.span)) for year in (first, last))
        st.slider(_("Made between"), *known.span, key=key, on_change=read)


def years_read(known: Facts, key: str) -> tuple[int, int] | None:
    """What the slider says; all years, and a slider that is not there, are no wish."""
    said = tuple(st.session_state.get(key, known.span))
    return None if said == known.span else said


def genres(known: Facts, key: str, now: tuple[str, ...], read: Read, label: str, hint: str) -> None:
    """Some of the genres; another data set may have had others, which stay chosen."""
    st.session_state[key] = list(now)
    options = sorted({*known.genres, *now})
    st.multiselect(label, options, select_all=False, format_func=words.term, key=key, placeholder=hint, on_change=read)


def how_known(key: str, now: str, read: Read) -> None:
    """How well known films are."""
    st.session_state[key] = now
    names = words.KNOWN_STEPS.__getitem__
    st.select_slider(
        _("How well known"),
        list(KNOWN),
        key=key,
        format_func=names,
        help=_(
            "By how many films of this set are watched more often. Mainstream: the top 5% of the films. "
            "Well known: the top 20%. Lesser known: all but those. Hidden gems: the less watched half."
        ),
        on_change=read,
    )
