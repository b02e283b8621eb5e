"""What every recommender promises: histories in, a score for every item out.

Shapes: B queries, I items, T tokens, Q blanks, L layers, H heads, D dimensions.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from recsys import machine
from recsys.config import config_class
from recsys.data.schema import DataError, Dataset, HeldOut, Queries
from recsys.training.run import Run, TrainingSummary


@config_class
class NoConfig:
    """For recommenders without anything to set."""


class Recommender(ABC):
    """A model only scores: hiding seen items, top-k, ties and ids are the business of `ranking` and what stands on it.

    Whatever else a model can do is declared here, so that nobody has to look at its type.
    """

    Config: ClassVar[type] = NoConfig  # a frozen dataclass, checked when it is made
    needs_training: ClassVar[bool] = False  # `train` makes it, and its weights may be shipped; others fit on first use
    holds_histories: ClassVar[bool] = False  # its state is what people watched: it never leaves this machine
    reads_details: bool = False  # it learns from times or ratings too, not from the order of items alone
    reads_texts: ClassVar[bool] = False  # it learns from what films are called and tagged
    reads_makers: bool = False  # and from who made them, where the set was enriched
    reads_ratings: bool = False  # ratings in a query change its scores
    scores_unrated: bool = False  # it needs nothing but descriptions, so films that nobody rated can be recommended
    calibrated: bool = False  # its probabilities come from a softmax over all items and are shown to people
    fills_blanks: bool = False  # it has `fill` and, where it has attention too, `training_example` and `embed_tokens`
    has_attention: bool = False  # it has `attention`
    has_item_embeddings: bool = False  # it has `item_embeddings`
    predicts_ratings: bool = False  # it has `predicted_ratings`
    training_summary: TrainingSummary | None = None  # how its training went; None: it was loaded, or is not trained
    members: tuple[str, ...] = ()  # variants that it stands on; `store` hands them over, fitted, by `stand_on`
    also: str = ""  # another data set whose people it learnt from too, "" for none
    note: str = ""  # a sentence for people about how this one was fitted, "" when there is nothing to say

    def __init__(self, config: Any = None, title: str = "") -> None:
        self.config = config if config is not None else self.Config()
        self.title = title or type(self).__name__

    def stand_on(self, members: "Mapping[str, Recommender]") -> None:
        """Take the fitted `members`, by name: before `fit`, and after `load_state`."""
        raise NotImplementedError(f"{self.title} stands on no others")

    def forget(self) -> None:
        """Do without a memory of counts, where there is one."""
        return

    @abstractmethod
    def fit(self, train: Dataset, valid: HeldOut | None = None, run: Run | None = None) -> Self:
        """Learn from `train`, tune (stop early) on `valid`; test data is out of reach."""

    @abstractmethod
    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32, higher is better; unseen users, empty histories and repeated items included."""

    @abstractmethod
    def state(self) -> dict[str, np.ndarray]:
        """Everything learnt, as arrays: what `store` writes."""

    @abstractmethod
    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """The inverse of `state`; raises KeyError or ValueError when it does not fit."""

    def needs(self, n_users: int, n_items: int) -> int:
        """Bytes that `fit` holds at once beside the data; 0 where that is a matter of megabytes."""
        return 0

    def refuse_what_does_not_fit(self, train: Dataset, free_gpu_bytes: int | None = None) -> None:
        """Check that `fit` needs at most half of the free memory, before it allocates any.

        Args:
            train: The training data.
            free_gpu_bytes: Free memory of the GPU on which `fit` computes. None for a CPU.

        Raises:
            DataError: If it needs more.
        """
        needed = self.needs(train.n_users, train.n_items)
        free, place = (machine.free_memory(), "machine") if free_gpu_bytes is None else (free_gpu_bytes, "GPU")
        if 2 * needed > free:
            wanted = f"{self.title} needs {needed / 1e9:,.1f} GB of memory for {train.n_items:,} {train.noun}s"
            raise DataError(
                f"{wanted}, and may take half of the {free / 1e9:,.1f} GB that this {place} has left; choose another "
                "model, such as item-knn"
            )

    @property
    def max_length(self) -> int | None:
        """At most so many items of a history are read, the newest; None: all of them."""
        return None

    @property
    def device(self) -> str:
        """Where it computes: "cpu", "cuda:0"."""
        return "cpu"

    def log_probabilities(self, scores: np.ndarray, items: np.ndarray) -> np.ndarray | None:
        """log p that the next item is each of `items` (n,), by one row of its scores (I,); None: scores give none.

        Items that are ruled out stand at minus infinity in `scores`; a softmax divides by the others alone.
        """
        return None

    def predicted_ratings(self, queries: Queries) -> np.ndarray:
        """(B, I) float32, how many stars each item would be given, not cut to the scale; empty histories included."""
        raise NotImplementedError(f"{self.title} predicts no ratings")

    def item_embeddings(self) -> np.ndarray:
        """(I, D) float32, one vector per item."""
        raise NotImplementedError(f"{self.title} has no item embeddings")

    def input_tokens(self, history: np.ndarray) -> np.ndarray:
        """The tokens (T,) whose last position predicts the item after a history; others are [mask] or start."""
        raise NotImplementedError(f"{self.title} reads no tokens")

    def attention(self, tokens: np.ndarray) -> np.ndarray:
        """How much each token (T,) attends to each other: (L, H, T, T) float32, rows sum to 1."""
        raise NotImplementedError(f"{self.title} has no attention")

    def fill(self, history: np.ndarray, blanks: np.ndarray) -> np.ndarray:
        """Scores (Q, I) of the items for the blanks at some positions (Q,) of a history (T,), read from both sides.

        What stands at a blank is ignored; T may be `max_length` at most.
        """
        raise NotImplementedError(f"{self.title} cannot fill a blank")

    def training_example(self, history: np.ndarray) -> np.ndarray:
        """A history (T,) as a training sample shows it: tokens (T,) with some items hidden by [mask]."""
        raise NotImplementedError(f"{self.title} is not trained by hiding items")

    def embed_tokens(self, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """What the network is given for tokens (T,): their embeddings (T, D), and those of their positions, if any."""
        raise NotImplementedError(f"{self.title} embeds no tokens")
