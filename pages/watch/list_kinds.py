"""The four kinds of lists on Watch next. The kind sets the recommender and the filters.

Session state: list_kind (a key of LIST_KINDS).
"""

from dataclasses import replace
from typing import Literal

import streamlit as st

from pages.ui import cache, recommenders
from pages.ui.i18n import _
from pages.ui.url import LIST_KINDS
from pages.ui.widgets import segmented_control, translate
from recsys.serving.filters import Filters
from recsys.serving.predictor import CONTENT, Predictor, favour_similar_films

BEST, TASTE, LAST, GEMS = LIST_KINDS
LAST_MODEL = "markov"  # recommender of the list LAST
# popularity filter of the list GEMS, unless the visitor has set one
GEMS_POPULARITY: Literal["lesser known"] = "lesser known"


def select() -> str:
    """Show the kinds of lists and return the chosen one."""
    help_text = _(
        "Most likely: what you will probably watch next. To your taste: films most like yours. After your last film: "
        "what people watched next. Hidden gems: films to your taste that fewer people watched."
    )
    return segmented_control(_("Kind of list"), translate(LIST_KINDS), "list_kind", help=help_text, wrap=True)


def select_recommender(kind: str, dataset_name: str) -> str:
    """Show the menu of recommenders, and return the name of the recommender for a kind of list.

    The list LAST always uses LAST_MODEL. If the visitor chooses a recommender while LAST is open, the list BEST opens.
    """

    def leave_last() -> None:
        if kind == LAST:
            st.session_state.list_kind = BEST

    name = recommenders.select(dataset_name, "model", on_change=leave_last)
    return LAST_MODEL if kind == LAST else name


def adapt_predictor(kind: str, predictor: Predictor) -> Predictor:
    """Return the predictor for a kind of list. For TASTE and GEMS, films similar to the history count more."""
    if kind not in (TASTE, GEMS) or predictor.recommender.name == CONTENT:
        return predictor
    return favour_similar_films(predictor, lambda: cache.load_predictor(CONTENT, predictor.dataset.name))


def adapt_filters(kind: str, filters: Filters) -> Filters:
    """Return the filters for a kind of list. For GEMS, GEMS_POPULARITY replaces the default popularity filter."""
    has_default_popularity = filters.popularity == Filters.popularity
    return replace(filters, popularity=GEMS_POPULARITY) if kind == GEMS and has_default_popularity else filters
