"""Evaluation: how well each recommender finds the film that people really watched next, one section at a time."""

import streamlit as st

from pages.evaluation import choice, sections
from pages.ui import errors, page
from pages.ui.i18n import _
from recsys.data import datasets
from recsys.errors import recsys_command
from recsys.evaluation import results

with errors.show_errors():
    st.title(_("Evaluation"))
    st.caption(_("How well each recommender finds the film that people really watched next."))
    page.show_notices()
    available = results.available()
    if available or st.session_state.data not in datasets.SETS:
        sections.report(*choice.dataset_and_protocol(available))
    else:
        st.info(_("No recommender has been measured yet. Measure one first."), icon=":material/leaderboard:")
        errors.show_command(
            recsys_command("evaluate", "popular", "--dataset", datasets.DEFAULT_DATASET, "--protocol", "full")
        )
