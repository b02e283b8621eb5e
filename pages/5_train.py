"""Train: choose a recommender and some settings, and watch it learn, in a process that outlives this page."""

import streamlit as st

from pages.train import form, runs
from pages.ui import errors, page_header, session
from pages.ui.i18n import _

with errors.explained():
    dataset = page_header.open_page(
        _("Train"), _("Teach a recommender on this machine; it answers on every page as soon as it is done.")
    )
    if dataset:
        session.films(dataset)  # read from the address, so that they go along to another data set
    page_header.show_notices()
    left, right = st.columns([5, 8], gap="large")
    with left:
        if dataset:
            form.show(dataset)
    with right:
        runs.show()
