"""Train: a form for a new training, and the list of trainings, which run in a process of their own."""

import streamlit as st

from pages.train import form, trainings
from pages.ui import errors, page_header, session
from pages.ui.i18n import _

with errors.explained():
    dataset = page_header.open_page(
        _("Train"), _("Train a model on this computer. When it is ready, you can use it on every page.")
    )
    if dataset:
        session.films(dataset)  # reads the URL, so that the films are kept when the data set changes
    page_header.show_notices()
    left, right = st.columns([5, 8], gap="large")
    with left:
        if dataset:
            form.show(dataset)
    with right:
        trainings.show()
