"""The page Evaluation: metrics of all recommenders by data set and protocol."""

import streamlit as st

from pages.evaluation import page
from pages.ui import errors
from pages.ui import page as ui_page
from pages.ui.i18n import _
from pages.ui.visitor import visitor
from recsys.data import datasets
from recsys.errors import recsys_command
from recsys.evaluation import results

with errors.show_errors():
    st.title(_("Evaluation"))
    st.caption(_("How well each recommender predicts films that people watched or liked."))
    ui_page.show_notices()
    available = results.available()  # pairs (data set, protocol)
    is_own = visitor().current.dataset not in datasets.SETS  # without results, the page has a button that computes them
    if available or is_own:
        page.show(*page.select_dataset_and_protocol(available))
    else:
        st.info(_("No recommender has been evaluated yet. Evaluate one first."), icon=":material/leaderboard:")
        errors.show_command(
            recsys_command("evaluate", "popular", "--dataset", datasets.DEFAULT_DATASET, "--protocol", "full")
        )
