"""What the pages share: data sets, title indexes and recommenders, each loaded once for all visitors."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

import streamlit as st

from pages.ui.i18n import _, say
from recsys.data import datasets, prepared
from recsys.data.dataset import Dataset
from recsys.serving import filters
from recsys.serving.films.search import TitleIndex
from recsys.serving.predictor import FALLBACK, Predictor, Recommender, load, variants

Made = TypeVar("Made")

FIRST_MODEL = "bert4rec"
KEPT = 150  # predictors in memory: all recommenders for three data sets
BY_KEY: dict[str | type[Any], Callable[[Any], Any]] = {Predictor: lambda predictor: predictor.key}  # for st.cache_data
_been_ready: set[tuple[str, ...]] = set()  # what somebody has waited for since the server began


def of_set(most: int = 4) -> Callable[[Callable[[str], Made]], Callable[[str], Made]]:
    """Keep for all visitors what a function makes of a data set, given by its name; most: of how many sets.

    It is made again once the set, or what is known of its films, was replaced.
    """

    def keep(make: Callable[[str], Made]) -> Callable[[str], Made]:
        @st.cache_resource(max_entries=most, show_spinner=False)
        @wraps(make)  # Streamlit tells its caches apart by the name and the source of what they keep
        def at(name: str, stamp: str) -> Made:
            return make(name)

        return wraps(make)(lambda name: at(name, prepared.version(name)))

    return keep


@of_set()
def dataset(name: str) -> Dataset:
    """A data set that is on this machine; raises DataError with what to do when it is not."""
    return datasets.load(name)


@of_set()
def title_index(name: str) -> TitleIndex:
    """The search index over a data set's films, the most watched first among equals."""
    films = dataset(name)
    return TitleIndex(films.catalog, films.counts)


@of_set()
def facts(name: str) -> filters.Facts:
    """What filters look at in a data set's films, before there is a predictor."""
    return filters.facts(dataset(name))


def predictor(variant_name: str, dataset_name: str) -> Predictor:
    """A recommender ready to answer for a data set; the page says so while it is loaded or fitted.

    One that was trained again is loaded again. Raises StoreError, with the command, for one that must be trained first.
    """
    with _waiting(_("Getting the recommender ready. The first time takes a moment."), variant_name, dataset_name):
        return _predictor(variant_name, dataset_name, prepared.version(dataset_name))


@st.cache_resource(max_entries=KEPT, show_spinner=False, validate=lambda predictor: predictor.is_current)
def _predictor(variant_name: str, dataset_name: str, stamp: str) -> Predictor:
    return load(variant_name, dataset(dataset_name))


def fallback(dataset_name: str) -> Predictor:
    """The recommender that can always answer."""
    return predictor(FALLBACK, dataset_name)


def recommenders() -> dict[str, Recommender]:
    """Every recommender by its name, in the order in which they are offered; the first call loads torch."""
    with _waiting(_("Waking the recommenders")):
        return {variant.name: variant for variant in variants()}


@contextmanager
def _waiting(sentence: str, *what: str) -> Iterator[None]:
    """Say so while somebody waits for the first time; a spinner costs a thread, and most calls find what is there."""
    if what in _been_ready:
        yield
        return
    with st.spinner(sentence):
        yield
    _been_ready.add(what)


@of_set(most=32)
def noun(name: str) -> str:
    """What a data set is of: "film", or "item" where whoever added it says no more."""
    return str(prepared.metadata(name).get("noun", "film"))


def data_title(name: str) -> str:
    """A data set as people know it: "MovieLens 100K"."""
    known = datasets.SETS.get(name)
    return str(say(known.title)) if known else name


def title(named: Predictor | Recommender) -> str:
    """What a recommender is called in the visitor's language."""
    return str(say(named.title))
