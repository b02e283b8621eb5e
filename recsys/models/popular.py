"""Popularity: what most people watched; what they watched lately; what they watched near the user's last items.

Shapes: B queries, I items, E events.
"""

from typing import Self

import numpy as np
from scipy import sparse

from recsys.config import Count, NonNegative, Positive, Size, config_class
from recsys.data.schema import Dataset, HeldOut, Interactions, Queries
from recsys.models.base import Model
from recsys.models.histories import (
    csr_from_state,
    csr_state,
    distinct_items,
    fill_empty_histories,
    require_n_items,
    transition_counts,
)
from recsys.training.options import RunOptions


class Popular(Model):
    """The number of times each item was watched, the same for everybody."""

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Count; `valid` and `run` change nothing."""
        self.counts = train.counts.astype(np.float32)  # (I,)
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32: the counts, once per query."""
        return np.tile(self.counts, (len(queries), 1))

    def state(self) -> dict[str, np.ndarray]:
        """{"counts": (I,) float32}."""
        return {"counts": self.counts}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not that of `n_items` items."""
        self.counts = require_n_items(state, "counts", n_items)


@config_class
class PopularRecentConfig:
    """The default is that tuned on ML-1M."""

    half_life: Positive = 500.0  # days: a rating this long before the last one of the training data counts half


class PopularRecent(Popular):
    """Popularity that reads times: a rating loses half its weight every `half_life` days before the last rating of all.

    Where times are inexact, as in archives that give only the order, so are the weights.
    """

    Config = PopularRecentConfig
    config: PopularRecentConfig
    uses_times_or_ratings = True

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Sum weights by the times of the training data alone; `valid` and `run` change nothing."""
        events = train.interactions
        days = (events.timestamp.max(initial=0) - events.timestamp) / 86_400  # (E,)
        weights = 0.5 ** (days / self.config.half_life)
        self.counts = np.bincount(events.item, weights, minlength=train.n_items).astype(np.float32)  # (I,)
        return self


@config_class
class SessionPopularConfig:
    """Defaults are those tuned on ML-1M."""

    gap: NonNegative = 24.0  # hours without a rating that end a session
    window: Size = 2  # items before and after an item that are near it
    recent: Count = 2  # items of the user's history, from the end, that are their session


class SessionPopular(Model):
    """Most popular among what people watched near the user's last items, in the same session.

    S-POP of the GRU4Rec paper (arXiv:1511.06939) recommends the items that are most frequent in the user's own session.
    Those are seen, and seen items are hidden here, so that only the order of popularity would be left. Ours counts what
    others watched in a session with the same items. As in the paper ties go to the most popular item; an empty history
    gets the order of popularity too.

    It reads times: sessions of the training data end after `gap` hours without a rating, so inexact times make inexact
    sessions. The user's own session is the last `recent` items, whatever their times.
    """

    Config = SessionPopularConfig
    config: SessionPopularConfig
    uses_times_or_ratings = True

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Count; `valid` changes nothing. Reports {"stage": "fit", "done": distance, "total": window}."""
        run, events = run or RunOptions(), train.interactions
        self.counts = train.counts.astype(np.float32)  # (I,)
        sessions = _sessions(events, self.config.gap)
        after = sparse.csr_array((train.n_items, train.n_items), dtype=np.float32)
        for distance in range(1, self.config.window + 1):
            after = after + transition_counts(sessions, events.item, train.n_items, distance)
            run.report({"stage": "fit", "done": distance, "total": self.config.window})
        self.near = sparse.csr_array(after + after.T)  # (I, I)
        self.near.sort_indices()
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32: how often an item was near one of the last items, plus its share of all views (below 1)."""
        row, item, age = distinct_items(queries.histories, len(self.counts))
        last = age < self.config.recent
        ones = np.ones(last.sum(), np.float32)
        session = sparse.csr_array((ones, (row[last], item[last])), shape=(len(queries), len(self.counts)))  # (B, I)
        scores = (session @ self.near).toarray() + self.counts / (self.counts.sum() + 1)
        return fill_empty_histories(scores, queries.histories, self.counts)

    def state(self) -> dict[str, np.ndarray]:
        """{"counts": (I,)} float32 and the three arrays of a CSR matrix (I, I)."""
        return {"counts": self.counts, **csr_state(self.near)}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not that of `n_items` items."""
        self.counts, self.near = require_n_items(state, "counts", n_items), csr_from_state(state, n_items, n_items)


def _sessions(events: Interactions, gap: float) -> np.ndarray:
    """(E,) the number of the session that each event belongs to: a user's next one begins after `gap` hours without."""
    pause = np.diff(events.timestamp) > gap * 3600
    return np.concatenate([[0], np.cumsum(pause | (np.diff(events.user) != 0))])
