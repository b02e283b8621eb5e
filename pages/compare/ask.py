"""One question to several recommenders, for the tabs of Compare."""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from pages import _shared as shared
from pages import _words as words
from recsys.data.schema import Dataset
from recsys.serving.models import Recommender, Variant

Answer = TypeVar("Answer")


def each(
    dataset: Dataset, chosen: list[Variant], question: Callable[[Variant, Recommender], Answer]
) -> dict[str, Answer]:
    """Title → what a recommender answers; those that cannot are named in a line."""
    answers, silent = {}, []
    for variant in chosen:
        try:
            answers[variant.title] = question(variant, shared.model(variant, dataset.name))
        except shared.TROUBLE:
            silent.append(variant.title)
    if silent:
        st.caption(words.SILENT.format(models=words.listed(silent)))
    return answers
