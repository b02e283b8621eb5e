"""What the network does with the visitor's films."""

import streamlit as st

from pages import _inside_attention, _inside_blanks, _inside_map, _inside_steps
from pages import _sequence as sequence
from pages import _shared as shared
from pages import _words as words
from recsys.data.schema import Dataset

SECTIONS = {
    words.HOW_IT_WORKS: _inside_steps.show,
    words.ATTENTION: _inside_attention.show,
    words.BLANKS: _inside_blanks.show,
    words.MAP: _inside_map.show,
}


def inside(dataset: Dataset) -> None:
    """The page below its head; only the section that was chosen runs."""
    films = sequence.ask_for_films(dataset, words.INSIDE_FIRST_ADD)
    if not films:
        return
    section = st.segmented_control(
        words.INSIDE_SECTION,
        list(SECTIONS),
        default=words.HOW_IT_WORKS,
        required=True,
        label_visibility="collapsed",
        key="inside_section",
        persist_state="session",
    )
    try:
        SECTIONS[section](dataset, films)
    except shared.TROUBLE as error:
        shared.explain(error)


shared.enter()
dataset = sequence.open_page(words.INSIDE, words.INSIDE_HELP)
if dataset:
    inside(dataset)
