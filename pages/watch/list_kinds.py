"""The four kinds of lists on Watch next. Each kind changes the recommender or the filters.

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
RECOMMENDER_FOR_LAST = "markov"
POPULARITY_FOR_GEMS: Literal["lesser known"] = "lesser known"  # unless the visitor has set the popularity filter


def select() -> str:
    """Show the menu of the kinds of lists, and return the chosen kind."""
    help_text = _(
        "Most likely: what you will probably enjoy next. To your taste: films most like yours. After your last film: "
        "what people watched next. Hidden gems: films to your taste that fewer people watched."
    )
    return segmented_control(_("Kind of list"), translate(LIST_KINDS), "list_kind", help=help_text, wrap=True)


def select_recommender(kind: str, dataset_name: str) -> str:
    """Show the menu of recommenders, and return the name of the recommender for a kind of list.

    The kind LAST always uses RECOMMENDER_FOR_LAST. A choice in the menu replaces LAST by the kind BEST.
    """

    def leave_last() -> None:
        if kind == LAST:
            st.session_state.list_kind = BEST

    name = recommenders.select(dataset_name, "model", on_change=leave_last)
    return RECOMMENDER_FOR_LAST if kind == LAST else name


def adapt_predictor(kind: str, predictor: Predictor) -> Predictor:
    """Return the predictor for a kind of list. For TASTE and GEMS, films similar to the history get higher scores.

    The recommender CONTENT stays as it is, because it only compares films with the history.
    """
    if kind not in (TASTE, GEMS) or predictor.recommender.name == CONTENT:
        return predictor
    return favour_similar_films(predictor, lambda: cache.load_predictor(CONTENT, predictor.dataset.name))


def adapt_filters(kind: str, filters: Filters) -> Filters:
    """Return the filters for a kind of list. For GEMS, POPULARITY_FOR_GEMS replaces the default popularity filter."""
    has_default_popularity = filters.popularity == Filters.popularity
    return replace(filters, popularity=POPULARITY_FOR_GEMS) if kind == GEMS and has_default_popularity else filters
