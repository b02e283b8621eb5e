"""Hybrid: a log-linear pool of other recommenders, with weights found on validation (`models/pool.py`).

Among hybrids Burke (UMUAI 2002) calls this one weighted.

Shapes: B queries, I items, M members, W ranges of lengths.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np

from recsys.config import ConfigError, Count, config_class
from recsys.data.schema import Dataset, HeldOut, Queries
from recsys.models.base import Model
from recsys.models.pool import Pool, check_edges, cut_to_each_range, values_of
from recsys.ranking.ranking import log_sum_exp
from recsys.training.options import RunOptions


@config_class
class HybridConfig:
    """Who is mixed. Shorter histories than 10 items want other weights; further edges change little."""

    members: tuple[str, ...] = ("sasrec-softmax", "markov", "content-tfidf")  # the recommenders that are mixed
    edges: tuple[Count, ...] = (10, 50)  # lengths of a history, in items, from which the next weights hold

    def __post_init__(self) -> None:
        """Raises ConfigError where nobody is mixed, somebody twice, or edges do not ascend."""
        if not self.members:
            raise ConfigError("members is empty, but must name at least 1 recommender", "members")
        if len(set(self.members)) < len(self.members):
            raise ConfigError(f"members is {' '.join(self.members)}, but each can be named once")
        check_edges(self.edges)


class Hybrid(Model):
    """A pool whose parts are recommenders; the scores are log-probabilities but for a constant."""

    Config = HybridConfig
    config: HybridConfig
    has_probabilities: bool = True

    def __init__(self, config: Any = None, title: str = "") -> None:
        super().__init__(config, title)
        self.members = self.config.members
        self.mixed: list[Model] = []  # M, in the order of `members`
        self.pool = Pool(len(self.members), self.config.edges)

    @classmethod
    def by_hand(cls, weights: Mapping[str, float], members: Mapping[str, Model], n_items: int) -> Self:
        """Fitted recommenders mixed by given weights; nobody has checked the probabilities."""
        made = cls(HybridConfig(tuple(weights), edges=()))
        made.set_members(members)
        made.pool.load(np.array([[*weights.values()]], np.float32))
        made.n_items, made.has_probabilities = n_items, False
        return made

    def set_members(self, members: Mapping[str, Model]) -> None:
        """Take the fitted members."""
        self.mixed = [members[name] for name in self.members]
        self.uses_credits = any(member.uses_credits for member in self.mixed)
        self.uses_query_ratings = any(member.uses_query_ratings for member in self.mixed)
        self.also = ", ".join(sorted({member.also for member in self.mixed} - {""}))
        self.note = " ".join(member.note for member in self.mixed if member.note)

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Find the weights on `valid`; without it all members count alike. The members have learnt from `train` before.

        Reports {"stage": "fit", "done": queries, "total": queries}.
        """
        self.n_items = train.n_items
        if valid:
            self.pool.fit(lambda queries: [*self._said(queries)], valid, run or RunOptions())
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32: Σ_m w_m · z_m, log-probabilities but for a constant of each row."""
        return self.pool.mix(self._said(queries), queries)

    def log_probabilities(self, scores: np.ndarray, items: np.ndarray) -> np.ndarray:
        """log p that the next item is each of `items` (n,), by one row of scores (I,) → (n,) float64."""
        return scores[items].astype(np.float64) - log_sum_exp(scores)

    @property
    def device(self) -> str:
        """Where the members compute; the GPU, if any of them is there."""
        return next((member.device for member in self.mixed if member.device != "cpu"), "cpu")

    def state(self) -> dict[str, np.ndarray]:
        """{"weights": (W, M) float32, "n_items": ()}: nothing of the members."""
        return {"weights": self.pool.weights, "n_items": np.array(self.n_items)}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not one for `n_items` items, these members and edges."""
        weights, known = state["weights"], int(state["n_items"])
        if known != n_items:
            raise ValueError(f"the saved weights are for {known} items, not {n_items}")
        self.pool.load(weights)
        self.n_items = n_items

    def _said(self, queries: Queries) -> Iterator[np.ndarray]:
        """z (B, I) float32 of each member, one after the other."""
        return (values_of(member, queries, self.n_items) for member in self.mixed)


POOLED = (
    "bert4rec-memory",
    "sasrec-memory",
    "markov",
    "markov-both",
    "ease-low-rank",
    "content-tfidf",
    "content-sentence",
)


@config_class
class VisitorPoolConfig(HybridConfig):
    """Members and ranges of lengths, chosen on validation (assets/experiments.md)."""

    members: tuple[str, ...] = POOLED  # the recommenders that are mixed
    edges: tuple[Count, ...] = (2, 3, 5, 10, 50)  # lengths of a history, in items, from which the next weights hold


class VisitorPool(Hybrid):
    """The default recommender: a pool that also answers well for one to ten films.

    Two differences from `Hybrid`:

    - The weights of each range of lengths are fitted on validation histories cut to that range
      (`pool.cut_to_each_range`), because all users of the data sets have long histories and visitors type short ones.
    - The networks take part without their count memories. Counts are members of their own (Markov chain, EASE), so
      that their weights do not depend on those of a network.
    """

    Config = VisitorPoolConfig
    config: VisitorPoolConfig

    def set_members(self, members: Mapping[str, Model]) -> None:
        """Take the fitted members, which must be this pool's own copies: their count memories are removed."""
        super().set_members(members)
        for member in self.mixed:
            member.drop_memory()

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Fit the weights of each range on `valid`; without it all members have equal weights.

        Reports {"stage": "fit", "done": queries, "total": queries}.
        """
        self.n_items = train.n_items
        if valid:
            self.pool.fit(lambda queries: [*self._said(queries)], valid, run or RunOptions(), cut_to_each_range)
        return self
