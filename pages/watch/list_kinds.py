"""The four kinds of lists on Watch next. The kind sets the recommender and the filters.

Session state: list_kind (a key of LIST_KINDS).
"""

from dataclasses import replace
from typing import Literal

import streamlit as st

from pages.ui import cache, recommenders
from pages.ui.i18n import _
from pages.ui.url import LIST_KINDS
from pages.ui.widgets import segmented_control, translated
from recsys.serving.filters import Filters
from recsys.serving.predictor import CONTENT, Predictor, by_taste

BEST, TASTE, LAST, GEMS = LIST_KINDS
LAST_MODEL = "markov"  # recommender of the list LAST
GEMS_POPULARITY: Literal["lesser known"] = "lesser known"  # filter of the list GEMS, unless the visitor has set one


def select() -> str:
    """Show the kinds of lists and return the chosen one."""
    help_text = _(
        "Best guess: what you will probably watch next. In your taste: films most like yours. Like the last one: what "
        "people watched after your last film. Hidden gems: films in your taste that fewer people watched."
    )
    return segmented_control(_("Kind of list"), translated(LIST_KINDS), "list_kind", help=help_text, wrap=True)


def select_recommender(kind: str, data: str) -> str:
    """Show the menu of recommenders, and return the name of the recommender for a kind of list.

    The list LAST ignores the menu. A choice in the menu therefore selects the list BEST.
    """

    def open_best() -> None:
        if kind == LAST:
            st.session_state.list_kind = BEST

    chosen = recommenders.select(data, "model", on_change=open_best)
    return LAST_MODEL if kind == LAST else chosen


def predictor(kind: str, chosen: Predictor) -> Predictor:
    """Return the predictor for a kind of list: TASTE and GEMS give similar films more weight than `chosen` does."""
    if kind not in (TASTE, GEMS) or chosen.recommender.name == CONTENT:
        return chosen
    return by_taste(chosen, lambda: cache.load_predictor(CONTENT, chosen.dataset.name))


def filters(kind: str, chosen: Filters) -> Filters:
    """Return the filters for a kind of list. chosen: Filters of the visitor."""
    if kind == GEMS and chosen.popularity == Filters.popularity:
        return replace(chosen, popularity=GEMS_POPULARITY)
    return chosen
