"""The recommenders that are compared: chosen by name, and each of them asked."""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from pages.compare import words
from pages.ui import cache, recommenders
from pages.ui.i18n import _
from pages.ui.recommenders import State
from recsys.data.dataset import Dataset
from recsys.serving.predictor import Predictor

MOST = 6  # lists that can still be read side by side
FIRST = (  # of each kind one, and what stands in where a network is not trained
    "bert4rec",
    "sasrec-softmax",
    "gru4rec-ce",
    "ials",
    "content-sentence",
    "popular",
    "markov",
    "item-knn",
    "user-knn",
    "content-tfidf",
)

Answer = TypeVar("Answer")


def choose(dataset: Dataset) -> tuple[list[str], int]:
    """Names of the recommenders, and how many films of each."""
    labels = recommenders.menu(dataset.name)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        recommenders.preserve_widget_value("compared")
        names = st.multiselect(
            _("Recommenders"),
            list(labels),
            select_all=False,
            default=at_first(dataset.name),
            format_func=labels.__getitem__,
            max_selections=MOST,
            placeholder=_("Choose two or more"),
            help=_(
                "Up to {n} at a time. Type to find one: there are networks, neighbours, factorisations and "
                "simple counts. Those that are not there yet are marked; choose one all the same, and its "
                "column says how to get it.",
                n=MOST,
            ),
            width=820,
            wrap=True,
            key="compared",
            persist_state="session",
        )
        k = st.segmented_control(
            _("How many"), [5, 10, 20], default=10, required=True, key="how_many_each", persist_state="session"
        )
    return names, k


def at_first(data: str) -> list[str]:
    """The recommenders to begin with: those that can answer at once or in seconds."""
    known = cache.all_recommenders()
    return [name for name in FIRST if name in known and can_answer(name, data)][:MOST]


def can_answer(name: str, data: str) -> bool:
    """Whether a recommender is there, or is fitted in seconds."""
    return recommenders.state(name, data) in (State.READY, State.QUICK)


def enough(names: list[str]) -> bool:
    """Whether there is something to compare; says so where there is not."""
    if len(names) < 2:
        st.info(_("Choose at least two recommenders to compare."))
    return len(names) > 1


def each(dataset: Dataset, names: list[str], question: Callable[[Predictor], Answer]) -> dict[str, Answer]:
    """Title → what a recommender answers; those that have to be trained elsewhere are named in a line.

    Those that can be fitted here show how far they are, or a button.
    """
    answers, silent = {}, []
    for name in names:
        if recommenders.state(name, dataset.name) in (State.UNTRAINED, State.TOO_SLOW):
            silent.append(cache.recommender_title(cache.all_recommenders()[name]))
        elif predictor := recommenders.predictor(name, dataset):
            answers[cache.recommender_title(predictor)] = question(predictor)
    if silent:
        st.caption(
            _(
                "Without {models}: not trained for this set. The first tab says how to train.",
                models=words.listed(silent),
            )
        )
    return answers
