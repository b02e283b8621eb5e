"""What the pages share: data sets, title indexes and recommenders, each loaded once for all visitors."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.shared import words
from pages.shared.language import say
from recsys.data import details, movielens, prepared
from recsys.data.schema import Dataset
from recsys.serving import filters
from recsys.serving.films.search import TitleIndex
from recsys.serving.predictor import FALLBACK, Predictor, Variant, load, variants

FIRST_MODEL = "bert4rec"
KEPT = 120  # predictors in memory: all recommenders for three data sets
BY_KEY: dict[str | type[Any], Callable[[Any], Any]] = {Predictor: lambda predictor: predictor.key}  # for st.cache_data


def knows_all(dataset: Dataset) -> bool:
    """Whether no more is known of its films by now than when it was read."""
    return dataset.catalog.details.stamp == details.stamp(dataset.name)


@st.cache_resource(max_entries=4, show_spinner=False, validate=knows_all)
def dataset(name: str) -> Dataset:
    """A data set that is on this machine; raises DataError with what to do when it is not."""
    return movielens.load(name)


def title_index(name: str) -> TitleIndex:
    """The search index over a data set's films, the most watched first among equals."""
    return _title_index(name, details.stamp(name))


@st.cache_resource(max_entries=4, show_spinner=False)
def _title_index(name: str, known: str) -> TitleIndex:
    """The index; known: the stamp of what is known of the films."""
    films = dataset(name)
    return TitleIndex(films.catalog, films.counts)


@st.cache_resource(max_entries=4, show_spinner=False)
def facts(name: str) -> filters.Facts:
    """What filters look at in a data set's films, before there is a predictor."""
    return filters.facts(dataset(name))


def predictor(variant_name: str, dataset_name: str) -> Predictor:
    """A recommender ready to answer for a data set; the page says so while it is loaded or fitted.

    One that was trained again is loaded again. Raises StoreError, with the command, for one that must be trained first.
    """
    with st.spinner(words.GETTING_READY):
        return _predictor(variant_name, dataset_name)


@st.cache_resource(max_entries=KEPT, show_spinner=False, validate=lambda predictor: predictor.is_current)
def _predictor(variant_name: str, dataset_name: str) -> Predictor:
    return load(variant_name, dataset(dataset_name))


def forget() -> None:
    """Drop what is kept in memory of data sets: one of them is another now."""
    for kept in (dataset, _title_index, facts, _predictor):
        kept.clear()


def fallback(dataset_name: str) -> Predictor:
    """The recommender that can always answer."""
    return predictor(FALLBACK, dataset_name)


def recommenders() -> dict[str, Variant]:
    """Every recommender by its name, in the order in which they are offered; the first call loads torch."""
    with st.spinner(words.WAKING):
        return _recommenders()


@st.cache_resource(show_spinner=False)
def _recommenders() -> dict[str, Variant]:
    return {variant.name: variant for variant in variants()}


def noun(name: str) -> str:
    """What a data set is of: "film", or "item" where whoever added it says no more."""
    return str(prepared.about(name).get("noun", "film"))


def data_title(name: str) -> str:
    """A data set as people know it: "MovieLens 100K"."""
    known = movielens.SETS.get(name)
    return str(say(known.title)) if known else name


def title(named: Predictor | Variant) -> str:
    """What a recommender is called in the visitor's language."""
    return str(say(named.title))
