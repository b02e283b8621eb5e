"""Which recommenders a section can show, by what they are able to do."""

import streamlit as st

from pages.ui import cache, recommenders
from pages.ui.i18n import _
from recsys.serving.predictor import Recommender, is_there, variants_with


def filling_blanks() -> list[str]:
    """Names of the recommenders that fill blanks."""
    return first_model(variants_with(lambda model: model.can_fill_masks))


def with_steps(data: str) -> list[str]:
    """Names of the recommenders that the lesson can be about: they fill blanks and have attention.

    The first, and of the others those that are there for a data set.
    """
    first, *others = first_model(variants_with(lambda model: model.can_fill_masks and model.has_attention))
    return [first, *(name for name in others if is_there(name, data))]


def attending() -> list[str]:
    """Names of the recommenders that have attention."""
    return first_model(variants_with(lambda model: model.has_attention))


def with_embeddings() -> list[str]:
    """Names of the recommenders that have an embedding for every film."""
    return first_model(variants_with(lambda model: model.has_item_embeddings))


def first_model(variants: tuple[Recommender, ...]) -> list[str]:
    """Their names in the order of every menu, with the one that the app offers first in front."""
    return sorted(recommenders.ordered(variants), key=lambda name: name != cache.DEFAULT_MODEL)


def choose(names: list[str], data: str, key: str, width: int) -> str:
    """The selector of one of them; those that are not there yet for a data set are marked."""
    labels = recommenders.menu(data)
    recommenders.preserve_widget_value(key)
    return st.selectbox(
        _("Recommender"),
        names,
        format_func=labels.__getitem__,
        key=key,
        width=width,
        persist_state="session",
    )
