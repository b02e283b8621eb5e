"""Evaluation: how well each recommender finds the film that people really watched next, one section at a time."""

import streamlit as st

from pages.evaluation import choice, sections, words
from pages.ui import errors, page_header
from pages.ui import words as common
from recsys.data import datasets
from recsys.errors import recsys_command
from recsys.evaluation import results

with errors.explained():
    st.title(common.EVALUATION)
    st.caption(common.EVALUATION_HELP)
    page_header.show_notices()
    available = results.available()
    if available or st.session_state.data not in datasets.SETS:
        sections.report(*choice.dataset_and_protocol(available))
    else:
        st.info(words.NO_RESULTS, icon=":material/leaderboard:")
        errors.command(
            recsys_command("evaluate", "popular", "--dataset", datasets.DEFAULT_DATASET, "--protocol", "full")
        )
