"""What every recommender promises: histories in, a score for every film out."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from recsys.data.schema import Dataset, HeldOut, Queries
from recsys.training.run import Run


@dataclass(frozen=True)
class NoConfig:
    """For recommenders without anything to set."""


class Recommender(ABC):
    """A model only scores: hiding seen films, top-k, ties and ids are the business of `evaluation` and `serving`.

    Shapes: B queries, I items.
    """

    title: ClassVar[str]  # for people: "BERT4Rec"
    family: ClassVar[str]  # the row of the leaderboard it belongs to: "Transformers"
    paper: ClassVar[str] = ""  # "arXiv:1904.06690"
    Config: ClassVar[type] = NoConfig  # a frozen dataclass
    presets: ClassVar[dict[tuple[str, str], Any]] = {}  # (variant, data set) → tuned Config
    shipped: ClassVar[bool] = False  # trained weights come with the project; the rest is fitted on first use
    holds_histories: ClassVar[bool] = False  # its state is what people watched: it never leaves this machine
    softmax: bool = False  # its loss is that of a softmax over all films: scores are log-probabilities + constant

    def __init__(self, config: Any = None) -> None:
        self.config = config if config is not None else self.Config()

    @classmethod
    def preset(cls, variant: str, dataset: str) -> Any:
        """The tuned configuration for a data set, or the defaults."""
        return cls.presets.get((variant, dataset), cls.Config())

    @abstractmethod
    def fit(self, train: Dataset, valid: HeldOut | None = None, run: Run | None = None) -> Self:
        """Learn from `train`, tune (stop early) on `valid`; test data is out of reach."""

    @abstractmethod
    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32, higher is better; strangers, empty histories and repeated films included."""

    @abstractmethod
    def state(self) -> dict[str, np.ndarray]:
        """Everything learnt, as arrays: what `store` writes."""

    @abstractmethod
    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """The inverse of `state`; raises KeyError or ValueError when it does not fit."""
