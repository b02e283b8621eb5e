"""The page Train: a form for a new training, and the list of trainings. A separate process runs them."""

import streamlit as st

from pages.train import form, trainings
from pages.ui import errors, page
from pages.ui.i18n import _

with errors.show_errors():
    dataset = page.header(
        _("Train"), _("Train a recommender on this computer. When it is ready, you can use it on every page.")
    )
    page.show_notices()
    left, right = st.columns([5, 8], gap="large")
    with left:
        if dataset:
            form.show(dataset)
    with right:
        trainings.show()
