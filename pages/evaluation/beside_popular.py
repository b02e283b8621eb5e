"""A recommender beside "most popular", which gives everybody the same list: whether personalization helps."""

import streamlit as st

from pages.evaluation.measured import Shown
from pages.ui import recommenders
from pages.ui.i18n import _, number
from recsys.serving.predictor import FALLBACK as POPULAR

METRIC = "hr@10"


def show(shown: Shown) -> None:
    """Show the share of people for whom each of the two finds the next item; nothing where one was not measured."""
    rows = shown.board.set_index("variant")
    others = [variant for variant in rows.index if variant != POPULAR]
    if POPULAR not in rows.index or not others:
        return
    on_watch_next = (st.session_state.get("model"), recommenders.default(shown.dataset))
    chosen = next((variant for variant in on_watch_next if variant in others), others[0])  # else the best
    with st.container(horizontal=True, gap="large"):
        for variant in (chosen, POPULAR):
            row = rows.loc[variant]
            st.metric(row["title"], number(row[METRIC], ".1%"), width="content")
    st.caption(
        _(
            "Share of people whose hidden film is among the first ten. “Most popular” gives everybody "
            "the same list: a recommender helps where its share is clearly higher."
        )
    )
