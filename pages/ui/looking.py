"""Where films that are hidden stand in a recommender's list, kept for whoever asks again."""

import streamlit as st

from pages.ui import loaders
from recsys.serving.insight import hidden
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Standing


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs=loaders.BY_KEY)
def look_for(predictor: Predictor, films: tuple[int, ...], positions: tuple[int, ...]) -> list[Standing]:
    """`hidden.look_for`, kept."""
    return hidden.look_for(predictor, films, positions)
