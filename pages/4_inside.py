"""Inside the model: what the network does with the visitor's films, one section at a time."""

import streamlit as st

from pages.inside import attention, blanks, film_map, steps, words
from pages.shared import errors, head
from pages.shared import words as common
from pages.shared.frame import enter

SECTIONS = {
    words.HOW_IT_WORKS: steps.show,
    words.ATTENTION: attention.show,
    words.BLANKS: blanks.show,
    words.MAP: film_map.show,
}

enter()
with errors.explained():
    dataset = head.open_page(common.INSIDE, common.INSIDE_HELP)
    films = head.ask_for_films(dataset, words.INSIDE_FIRST_ADD) if dataset else ()
    if dataset and films:
        section = st.segmented_control(
            words.INSIDE_SECTION,
            list(SECTIONS),
            default=words.HOW_IT_WORKS,
            required=True,
            label_visibility="collapsed",
            key="inside_section",
            persist_state="session",
        )
        SECTIONS[section](dataset, films)
