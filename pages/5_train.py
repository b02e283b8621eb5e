"""Train: choose a recommender and some settings, and watch it learn, in a process that outlives this page."""

import streamlit as st

from pages.shared import errors, head, sequence
from pages.shared import words as common
from pages.train import form, runs

with errors.explained():
    dataset = head.open_page(common.TRAIN, common.TRAIN_HELP)
    if dataset:
        sequence.films(dataset)  # read from the address, so that they go along to another data set
    head.show_notices()
    left, right = st.columns([5, 8], gap="large")
    with left:
        if dataset:
            form.show(dataset)
    with right:
        runs.show()
