"""What the Evaluation page reads, kept until a file changes. No model is loaded."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.ui import cache
from pages.ui.i18n import _, say
from recsys.data.dataset import Dataset, Split
from recsys.errors import RecsysError
from recsys.evaluation import file_order, groups, protocols, report, results, significance, tables

Damaged = list[RecsysError]  # a sentence for each result that cannot be read or compared


@dataclass(frozen=True)
class Shown:
    """What the sections show: a data set under a protocol, and what was measured there."""

    dataset: str
    protocol: str
    board: pd.DataFrame  # tables.leaderboard, the best NDCG@10 first; not empty

    @property
    def name(self) -> str:
        """For file names and widget keys."""
        return f"{self.dataset}-{self.protocol}"

    @property
    def stamp(self) -> str:
        """Another one when a result or the data has changed."""
        return results.version(self.dataset, self.protocol)

    @property
    def users(self) -> int:
        """How many people the protocol has."""
        return int(self.board["users"].iloc[0])

    @property
    def titles(self) -> dict[str, str]:
        """Variant → title."""
        return dict(zip(self.board["variant"], self.board["title"], strict=True))

    def title(self, variant: str) -> str:
        """A variant's title; its name where it is not on the board."""
        return self.titles.get(variant, variant)

    def family(self, variant: str) -> str:
        """The family of a variant of the board."""
        return dict(zip(self.board["variant"], self.board["family"], strict=True))[variant]

    def names(self, variants: list[str]) -> str:
        """Titles in a row."""
        return ", ".join(map(self.title, variants))


def board(dataset: str, protocol: str) -> tuple[pd.DataFrame, Damaged]:
    """What was measured (`tables.leaderboard`), with titles in the visitor's language; families are English keys."""
    found, damaged = _board(dataset, protocol, results.version(dataset, protocol))
    return found.assign(title=found["title"].map(say)), damaged


@st.cache_data(max_entries=16, show_spinner=False)
def _board(dataset: str, protocol: str, stamp: str) -> tuple[pd.DataFrame, Damaged]:
    damaged: Damaged = []
    return tables.leaderboard(dataset, protocol, damaged.append), damaged


def documents(shown: Shown) -> dict[str, dict[str, Any]]:
    """Variant → its result document. To be read only."""
    return _documents(shown.dataset, shown.protocol, shown.stamp)


@st.cache_resource(max_entries=8, show_spinner=False)
def _documents(dataset: str, protocol: str, stamp: str) -> dict[str, dict[str, Any]]:
    found = results.documents(dataset, protocol, lambda sentence: None)  # `board` has said what is damaged
    return {document["variant"]: document for document in found}


def missing(shown: Shown) -> list[report.Missing]:
    """The recommenders that were not measured, by title."""
    return _missing(shown.dataset, shown.protocol, tuple(shown.board["variant"]), shown.stamp)


@st.cache_data(max_entries=16, show_spinner=False)
def _missing(dataset: str, protocol: str, known: tuple[str, ...], stamp: str) -> list[report.Missing]:
    return report.missing(dataset, protocol, known)


def verdicts(shown: Shown, metric: str) -> tuple[pd.DataFrame, Damaged]:
    """Every two recommenders compared (`significance.pairwise_tests`); takes a moment the first time."""
    with st.spinner(_("Testing which differences are significant")):
        return _verdicts(shown.dataset, shown.protocol, metric, shown.stamp)


@st.cache_data(max_entries=32, show_spinner=False)
def _verdicts(dataset: str, protocol: str, metric: str, stamp: str) -> tuple[pd.DataFrame, Damaged]:
    damaged: Damaged = []
    return significance.pairwise_tests(dataset, protocol, metric, damaged.append), damaged


def ranks(shown: Shown) -> tuple[dict[str, np.ndarray], Damaged]:
    """Variant → ranks (S, B) of every recommender. To be read only."""
    return _ranks(shown.dataset, shown.protocol, tuple(shown.board["variant"]), shown.stamp)


@st.cache_resource(max_entries=4, show_spinner=False)
def _ranks(dataset: str, protocol: str, variants: tuple[str, ...], stamp: str) -> tuple[dict[str, np.ndarray], Damaged]:
    damaged: Damaged = []
    return tables.all_ranks(dataset, protocol, variants, damaged.append), damaged


def comparable(shown: Shown, dataset: Dataset) -> list[str]:
    """The variants whose ranks are certain to be those of the data set's test users. Raises DataError."""
    known, _unused = ranks(shown)
    return tables.matching_recommenders(shown.board, known, dataset, split(shown, dataset).test)


def split(shown: Shown, dataset: Dataset) -> Split:
    """The split that was measured by, computed once for each data set. Raises ProtocolError and DataError."""
    return protocols.get(shown.protocol).split(dataset)


def sliced(shown: Shown, dataset: Dataset, variants: list[str], slicing: str, metric: str) -> pd.DataFrame:
    """Metrics of groups of people for several recommenders (`groups.by_bucket`)."""
    known, _unused = ranks(shown)
    of_variants = {variant: known[variant] for variant in variants}
    with st.spinner(_("Drawing people anew, group by group, for the intervals")):
        return _sliced(shown.name, slicing, metric, shown.stamp, split(shown, dataset), of_variants)


@st.cache_data(max_entries=16, show_spinner=False)
def _sliced(
    name: str, slicing: str, metric: str, stamp: str, _split: Split, _ranks: dict[str, np.ndarray]
) -> pd.DataFrame:
    return groups.by_bucket(_split, _ranks, slicing, metric)


def ties(dataset: str) -> dict[str, Any] | None:
    """What was measured of the order within a second (`recsys.evaluation.file_order`); None where nothing was."""
    return file_order.read(dataset, lambda sentence: None)


def data_of(shown: Shown) -> Dataset:
    """The data set that was measured on. Raises DataError, with the command, where it is not on this machine."""
    return cache.dataset(shown.dataset)
