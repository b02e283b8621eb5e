"""Caches for all visitors: data sets, title indexes, predictors, and ranks of films that are hidden from a predictor.

A predictor is a recommender that is loaded for a data set. Pages cache results for a data set with
`cached_for_dataset`, results for a predictor with `cached_for_predictor`, and other results with `cached_by` or
`functools`. Slow computations that a visitor starts are tasks (`pages.ui.tasks`). Callers must not change a cached
result.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

import streamlit as st

from pages.ui.i18n import _
from recsys.data import datasets, prepared
from recsys.data.dataset import Dataset
from recsys.serving import predictor as predictors
from recsys.serving.insight import list_comparison
from recsys.serving.predictor import FALLBACK, Predictor, Recommender
from recsys.serving.search.search import TitleIndex

T = TypeVar("T")
Function = TypeVar("Function", bound=Callable[..., Any])

DEFAULT_MODEL = "bert4rec"  # default recommender of the pages that explain, train or evaluate networks
MAX_PREDICTORS = 150  # all recommenders for three data sets
_loaded: set[tuple[str, ...]] = set()  # keys for which `_spinner` has shown a spinner in this server process


def cached_for_dataset(
    max_entries: int = 4, version: Callable[[str], str] = prepared.version
) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Cache the result of a function of a data set's name until the version of the data set changes.

    Args:
        max_entries: Maximum number of data sets.
        version: Returns the version of a data set. The default changes with the data set and its film details.
    """

    def decorate(function: Callable[[str], T]) -> Callable[[str], T]:
        @st.cache_resource(max_entries=max_entries, show_spinner=False)
        @wraps(function)  # Streamlit separates caches by the names and sources of functions
        def cached(name: str, current_version: str) -> T:
            return function(name)

        @wraps(function)
        def with_current_version(name: str) -> T:
            return cached(name, version(name))

        return with_current_version

    return decorate


def cached_for_predictor(max_entries: int = 128) -> Callable[[Function], Function]:
    """Cache the results of a function of a predictor by `Predictor.key`, which changes with checkpoint and data."""
    return cached_by({Predictor: lambda predictor: predictor.key}, max_entries)


def cached_by(keys: dict[str | type[Any], Callable[[Any], Any]], max_entries: int) -> Callable[[Function], Function]:
    """Cache the results of a function by its arguments.

    Args:
        keys: Class of an argument (or full name of the class) → function that returns a hashable key of the argument.
        max_entries: Maximum number of results.
    """
    return cast(Any, st.cache_resource(max_entries=max_entries, show_spinner=False, hash_funcs=keys))


@cached_for_dataset()
def dataset(name: str) -> Dataset:
    """Return a data set of this computer.

    Raises:
        DataError: If the data set is not on this computer. The error has the command that gets it.
    """
    return datasets.load(name)


@cached_for_dataset()
def title_index(name: str) -> TitleIndex:
    """Return the search index of a data set. If several films match equally well, popular films come first."""
    data = dataset(name)
    return TitleIndex(data.catalog, data.counts)


@cached_for_dataset(max_entries=8)
def catalog_index(name: str) -> TitleIndex:
    """Return a search index without popularity, because the ratings of a large data set take long to read."""
    return TitleIndex(datasets.load(name).catalog)


def load_predictor(name: str, dataset_name: str) -> Predictor:
    """Return the predictor of a recommender. It is loaded, with a spinner, at first and after its checkpoint changed.

    Raises:
        CheckpointError: If the recommender is not trained. The error has the command that trains it.
    """
    with _spinner(_("Loading the recommender. The first time takes a moment."), name, dataset_name):
        return _predictor(name, dataset_name, prepared.version(dataset_name))


@st.cache_resource(max_entries=MAX_PREDICTORS, show_spinner=False, validate=lambda predictor: predictor.is_current)
def _predictor(name: str, dataset_name: str, version: str) -> Predictor:
    """Load a recommender. version: Version of the data set. With a new version, the cache loads it again."""
    return predictors.load(name, dataset(dataset_name))


def preload_predictor(name: str, dataset_name: str) -> None:
    """Load a recommender before a page needs it. Outside a session, there is no spinner."""
    _predictor(name, dataset_name, prepared.version(dataset_name))


def popularity_predictor(dataset_name: str) -> Predictor:
    """Return the predictor of FALLBACK, which recommends the most popular films."""
    return load_predictor(FALLBACK, dataset_name)


def all_recommenders() -> dict[str, Recommender]:
    """Return all listed recommenders by name, in the order of the menus. The first call imports torch."""
    with _spinner(_("Loading recommenders")):
        by_name = {recommender.name: recommender for recommender in predictors.all_recommenders()}
        return {name: by_name[name] for name in predictors.names()}


@contextmanager
def _spinner(text: str, *key: str) -> Iterator[None]:
    """Show a spinner during the first block with a key. Later blocks are fast, and a spinner would start a thread."""
    if key in _loaded:
        yield
        return
    with st.spinner(text):
        yield
    _loaded.add(key)


ranks_of_hidden_films = cached_for_predictor(max_entries=256)(list_comparison.held_out_ranks)


@cached_for_dataset(max_entries=32)
def item_noun(name: str) -> str:
    """Return "film", or "item" if the items of a data set are not films."""
    return str(prepared.metadata(name).get("noun", "film"))


def dataset_title(name: str) -> str:
    """Return the title of a data set: "MovieLens 100K"."""
    return _(datasets.PUBLISHED[name].title) if name in datasets.PUBLISHED else name


def recommender_title(recommender: Predictor | Recommender) -> str:
    """Return the name of a recommender in the visitor's language."""
    return _(recommender.title)
