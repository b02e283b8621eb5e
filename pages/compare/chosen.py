"""The recommenders that are compared: chosen by name, and each of them run."""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from pages.compare import words
from pages.shared import loaders
from pages.shared import words as common
from recsys.data.schema import Dataset
from recsys.errors import RecsysError
from recsys.serving.predictor import Predictor

MOST = 6  # lists that can still be read side by side
FIRST = ("bert4rec", "sasrec-softmax", "gru4rec-ce", "ials", "content-sentence", "popular")  # one of each kind

Answer = TypeVar("Answer")


def choose() -> tuple[list[str], int]:
    """Names of the recommenders, and how many films of each."""
    known = loaders.recommenders()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        names = st.multiselect(
            words.CHOOSE,
            list(known),
            default=[name for name in FIRST if name in known],
            format_func=lambda name: known[name].title,
            max_selections=MOST,
            placeholder=words.CHOOSE_HINT,
            help=words.CHOOSE_HELP.format(n=MOST),
            width=820,
            wrap=True,
            key="compared",
            persist_state="session",
        )
        k = st.segmented_control(
            common.HOW_MANY, [5, 10, 20], default=10, required=True, key="how_many_each", persist_state="session"
        )
    return names, k


def enough(names: list[str]) -> bool:
    """Whether there is something to compare; says so where there is not."""
    if len(names) < 2:
        st.info(words.FIRST_CHOOSE)
    return len(names) > 1


def each(dataset: Dataset, names: list[str], question: Callable[[Predictor], Answer]) -> dict[str, Answer]:
    """Title → what a recommender answers; those that cannot are named in a line."""
    answers, silent = {}, []
    for name in names:
        try:
            predictor = loaders.predictor(name, dataset.name)
            answers[predictor.title] = question(predictor)
        except RecsysError:  # the tab of the lists says why
            silent.append(loaders.recommenders()[name].title)
    if silent:
        st.caption(words.SILENT.format(models=words.listed(silent)))
    return answers
