"""The controls above the predictions: which recommender, how many films, how they are shown, which may be shown."""

import streamlit as st

from pages.ui import recommenders
from pages.ui.i18n import _
from pages.ui.url import AS_CARDS, AS_LIST, VIEWS
from pages.watch import filters
from recsys.data.dataset import Dataset


def controls(dataset: Dataset) -> tuple[str, int, str]:
    """Name of the recommender, number of films, cards or list; the filters beside them keep what they are told."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="controls"):
        variant = recommenders.select(dataset.name, "model")
        k = st.segmented_control(
            _("How many"), [5, 10, 20], default=10, required=True, key="how_many", persist_state="session"
        )
        view = st.segmented_control(
            _("Show as"),
            VIEWS,
            default=AS_CARDS,
            required=True,
            format_func={AS_CARDS: _("Cards"), AS_LIST: _("List")}.__getitem__,
            key="view",
            persist_state="session",
        )
        filters.choose(dataset)
        filters.unwanted(dataset)
    return variant, k, view
