"""The sections of the Library page: one is shown at a time."""

from collections.abc import Callable

import streamlit as st

from pages.library import browse, filters, statistics, together, words
from pages.ui import browser, errors, session
from pages.ui.i18n import _
from recsys.data.dataset import Dataset

SECTIONS: dict[str, Callable[[Dataset], None]] = {
    "browse": browse.show,
    "statistics": statistics.show,
    "together": together.show,
}


@st.fragment
@errors.show_errors()
def show(dataset: Dataset) -> None:
    """The section that was chosen; a choice within it runs nothing but this."""
    filters.begin()
    section = st.segmented_control(
        _("What to see"),
        list(SECTIONS),
        default="browse",
        required=True,
        format_func=words.SECTIONS.__getitem__,
        key="library_section",
        label_visibility="collapsed",
        persist_state="session",
    )
    SECTIONS[section](dataset)
    browser.place_focus()
    session.write_url()  # a fragment ends here, without main.py
