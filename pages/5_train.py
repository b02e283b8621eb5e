"""Train: choose a recommender and some settings, and watch it learn, in a process that outlives this page."""

import streamlit as st

from pages.train import form, runs
from pages.ui import errors, page, session
from pages.ui.i18n import _

with errors.show_errors():
    dataset = page.header(
        _("Train"), _("Teach a recommender on this machine; it answers on every page as soon as it is done.")
    )
    if dataset:
        session.films(dataset)  # read from the address, so that they go along to another data set
    page.show_notices()
    left, right = st.columns([5, 8], gap="large")
    with left:
        if dataset:
            form.show(dataset)
    with right:
        runs.show()
