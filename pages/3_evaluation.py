"""The page Evaluation: metrics of all recommenders by data set and protocol."""

import streamlit as st

from pages.evaluation import page
from pages.ui import errors, url
from pages.ui import page as ui_page
from pages.ui.i18n import _
from recsys.data import datasets
from recsys.errors import recsys_command

with errors.show_errors():
    st.title(_("Evaluation"))
    st.caption(_("How well each recommender predicts films that people watched or liked."))
    ui_page.show_notices()
    if url.evaluation_datasets():
        page.show(*page.select_dataset_and_protocol())
    else:
        st.info(_("No recommender has been evaluated yet. Evaluate one first."), icon=":material/leaderboard:")
        errors.show_command(
            recsys_command("evaluate", "popular", "--dataset", datasets.DEFAULT_DATASET, "--protocol", "full")
        )
