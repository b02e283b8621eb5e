"""What the Evaluation page reads, kept until a file changes. No model is loaded."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from pages import _shared as shared
from pages import _words as words
from recsys.data.schema import Dataset, Split
from recsys.data.split import split
from recsys.evaluation import compare, overview, people, results, slices


class Shown(NamedTuple):
    """What the sections show: a data set under a protocol, and what was measured there."""

    dataset: str
    protocol: str
    board: pd.DataFrame  # overview.measures, the best NDCG@10 first

    @property
    def name(self) -> str:
        """For file names and widget keys."""
        return f"{self.dataset}-{self.protocol}"

    @property
    def titles(self) -> dict[str, str]:
        """Variant → title."""
        return dict(zip(self.board["variant"], self.board["title"], strict=True))

    @property
    def families(self) -> dict[str, str]:
        """Variant → family."""
        return dict(zip(self.board["variant"], self.board["family"], strict=True))


def board(dataset: str, protocol: str) -> tuple[pd.DataFrame, list[str]]:
    """What was measured (`overview.measures`), and a sentence for each damaged file."""
    return _board(dataset, protocol, results.stamp(dataset, protocol))


@st.cache_data(max_entries=16, show_spinner=False)
def _board(dataset: str, protocol: str, stamp: str) -> tuple[pd.DataFrame, list[str]]:
    damaged: list[str] = []
    return overview.measures(dataset, protocol, damaged.append), damaged


def against_best(shown: Shown, metric: str) -> pd.DataFrame:
    """Every model against the best (`compare.against_best`). Raises results.ResultError."""
    same = shown.board[shown.board["fingerprint"] == shown.board["fingerprint"].iloc[0]]
    stamp = results.stamp(shown.dataset, shown.protocol)
    return _against_best(shown.dataset, shown.protocol, tuple(same["variant"]), metric, stamp)


@st.cache_data(max_entries=32, show_spinner=False)
def _against_best(dataset: str, protocol: str, variants: tuple[str, ...], metric: str, stamp: str) -> pd.DataFrame:
    return compare.against_best(dataset, protocol, variants, metric)


def pair(shown: Shown, one: str, other: str, metric: str) -> tuple[pd.Series, pd.DataFrame]:
    """How `one` does against `other`: a row of `compare.all_pairs` seen from `one`, and `overview.duel`.

    Raises results.ResultError.
    """
    return _pair(shown.dataset, shown.protocol, one, other, metric, results.stamp(shown.dataset, shown.protocol))


@st.cache_data(max_entries=64, show_spinner=False)
def _pair(dataset: str, protocol: str, one: str, other: str, metric: str, stamp: str) -> tuple[pd.Series, pd.DataFrame]:
    row = compare.pair(dataset, protocol, one, other, metric)
    first, second = (results.ranks(dataset, protocol, variant) for variant in (one, other))
    return row, overview.duel(first, second)


def ranks(shown: Shown) -> tuple[dict[str, np.ndarray], list[str]]:
    """Variant → ranks (S, B) of every model, and a sentence for each damaged file. To be read only."""
    stamp = results.stamp(shown.dataset, shown.protocol)
    return _ranks(shown.dataset, shown.protocol, tuple(shown.board["variant"]), stamp)


@st.cache_resource(max_entries=4, show_spinner=False)
def _ranks(dataset: str, protocol: str, variants: tuple[str, ...], stamp: str) -> tuple[dict, list[str]]:
    damaged: list[str] = []
    return overview.all_ranks(dataset, protocol, variants, damaged.append), damaged


def comparable(shown: Shown, dataset: Dataset) -> list[str]:
    """The variants whose ranks are certain to be those of the data set's test users. Raises DataError."""
    known, _ = ranks(shown)
    return people.comparable(shown.board, known, dataset, parts(dataset, shown.protocol).test)


def parts(dataset: Dataset, protocol: str) -> Split:
    """The split that was measured by. Raises DataError."""
    return _parts(dataset.name, protocol, dataset.fingerprint)


@st.cache_resource(max_entries=3, show_spinner=False)
def _parts(dataset: str, protocol: str, fingerprint: str) -> Split:
    return split(shared.dataset(dataset), protocol)


def sliced(shown: Shown, dataset: Dataset, variants: list[str], slicing: str, metric: str) -> pd.DataFrame:
    """Metrics of groups of people for several models (`slices.side_by_side`)."""
    known, _ = ranks(shown)
    stamp = results.stamp(shown.dataset, shown.protocol) + dataset.fingerprint
    with st.spinner(words.SLICING_NOW):
        return _sliced(
            shown.name, slicing, metric, stamp, parts(dataset, shown.protocol), {v: known[v] for v in variants}
        )


@st.cache_data(max_entries=16, show_spinner=False)
def _sliced(
    name: str, slicing: str, metric: str, stamp: str, _parts: Split, _ranks: dict[str, np.ndarray]
) -> pd.DataFrame:
    return slices.side_by_side(_parts, _ranks, slicing, metric)
