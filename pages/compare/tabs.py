"""The tabs of Compare; only the one that is open is computed.

Session state: closer (name of the open tab) · closer_place (its place, from 0).
"""

import streamlit as st

from pages.compare import words
from pages.compare.film import one_film
from pages.compare.hidden import hide_a_film
from pages.compare.lists import side_by_side
from pages.compare.mix import mix_two
from pages.compare.order import what_order_does
from pages.ui import errors
from recsys.data.dataset import Dataset


def keep_open() -> None:
    """Let the tab stay open when its name changes with the language: Streamlit knows tabs by what they are called."""
    state = st.session_state
    if state.get("closer", words.TABS[0]) not in words.TABS:
        state.closer = words.TABS[state.get("closer_place", 0)]


@st.fragment
@errors.show_errors()
def tabs(dataset: Dataset, films: tuple[int, ...], names: list[str], k: int) -> None:
    """The lists, any film's rank, the effect of the order, a hidden film, two mixed by hand."""
    keep_open()
    lists, film, order, hidden, mixture = every = st.tabs(words.TABS, on_change="rerun", key="closer")
    st.session_state.closer_place = next((place for place, tab in enumerate(every) if tab.open), 0)
    with lists:
        if lists.open:
            side_by_side(dataset, films, names, k)
    with film:
        if film.open:
            one_film(dataset, films, names)
    with order:
        if order.open:
            what_order_does(dataset, films, names, k)
    with hidden:
        if hidden.open:
            hide_a_film(dataset, films, names)
    with mixture:
        if mixture.open:
            mix_two(dataset, films, names, k)
