"""The tabs of Compare; only the one that is open is computed."""

import streamlit as st

from pages.compare import words
from pages.compare.film import one_film
from pages.compare.hidden import hide_a_film
from pages.compare.lists import side_by_side
from pages.compare.mix import mix_two
from pages.compare.order import what_order_does
from pages.shared import errors
from recsys.data.schema import Dataset


@st.fragment
@errors.explained()
def tabs(dataset: Dataset, films: tuple[int, ...], names: list[str], k: int) -> None:
    """The lists, any film's rank, the effect of the order, a hidden film, two mixed by hand."""
    lists, film, order, hidden, mixture = st.tabs(words.TABS, on_change="rerun", key="closer")
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
