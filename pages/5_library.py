"""The page Library: all films of a data set, its statistics, and films for two people, in three sections."""

import streamlit as st

from pages.library import browse, filters, statistics, together
from pages.ui import browser, errors, page, session
from pages.ui.i18n import _
from pages.ui.url import LIBRARY_SECTIONS
from pages.ui.widgets import segmented_control, translate
from recsys.data.dataset import Dataset

SHOW_SECTION = {"browse": browse.show, "statistics": statistics.show, "together": together.show}


@st.fragment
@errors.show_errors()
def show_section(dataset: Dataset) -> None:
    """Show the menu of sections and the selected section."""
    filters.set_defaults()
    titles = translate(LIBRARY_SECTIONS)
    section = segmented_control(_("Section"), titles, "library_section", label_visibility="collapsed")
    SHOW_SECTION[section](dataset)
    browser.place_focus()
    session.write_url()  # main.py does not run again when a widget of this fragment changes


with errors.show_errors():
    dataset = page.header(
        _("Library"), _("Browse all films of a data set, see its statistics, and find films to watch together.")
    )
    if dataset:
        page.show_notices()
        show_section(dataset)
