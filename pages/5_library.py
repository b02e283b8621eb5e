"""Library: all films of a data set, its statistics, and films for two people. One section is open at a time."""

import streamlit as st

from pages.library import browse, filters, statistics, together
from pages.ui import browser, errors, page, session
from pages.ui.i18n import N_, _
from recsys.data.dataset import Dataset

SECTIONS = {
    "browse": (N_("Browse"), browse.show),
    "statistics": (N_("Statistics"), statistics.show),
    "together": (N_("Watch together"), together.show),
}


@st.fragment
@errors.show_errors()
def show_section(dataset: Dataset) -> None:
    """Render the selector and the selected section."""
    filters.set_defaults()
    section = st.segmented_control(
        _("What to see"),
        list(SECTIONS),
        default="browse",
        required=True,
        format_func=lambda name: _(SECTIONS[name][0]),
        key="library_section",
        label_visibility="collapsed",
        persist_state="session",
    )
    SECTIONS[section][1](dataset)
    browser.place_focus()
    session.write_url()  # main.py does not run when the fragment reruns


with errors.show_errors():
    dataset = page.header(
        _("Library"), _("Browse all films of a data set, see its statistics, and find films to watch together.")
    )
    if dataset:
        session.films(dataset)  # reads the films of the link before a section needs them
        page.show_notices()
        show_section(dataset)
