"""Popularity: what most people watched; what they watched lately; what they watched beside the visitor's last films.

Shapes: B queries, I items, E events.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse

from recsys.data.schema import Dataset, HeldOut, Interactions, Queries
from recsys.models._histories import csr_from_state, csr_state, last_places, pairs, per_item, popular_where_empty
from recsys.models.base import Recommender
from recsys.training.run import Run


class Popular(Recommender):
    """The number of times each film was watched, the same for everybody."""

    title = "Most popular"
    family = "No learning"

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: Run | None = None) -> Self:
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
        """Raises KeyError or ValueError when `state` is not that of `n_items` films."""
        self.counts = per_item(state, "counts", n_items)


@dataclass(frozen=True)
class PopularRecentConfig:
    """The default is that tuned on ML-1M."""

    half_life: float = 500.0  # days: a rating this long before the last one of the training data counts half


class PopularRecent(Popular):
    """The same, but a rating loses half its weight every so many days before the end of the training data."""

    title = "Popular lately"
    Config = PopularRecentConfig
    presets = {
        ("popular-recent", "ml-1m"): PopularRecentConfig(),
        ("popular-recent", "ml-100k"): PopularRecentConfig(half_life=7.0),
        ("popular-recent", "ml-latest-small"): PopularRecentConfig(),
    }

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: Run | None = None) -> Self:
        """Count with the times of the training data alone; `valid` and `run` change nothing."""
        events = train.interactions
        days = (events.timestamp.max(initial=0) - events.timestamp) / 86_400  # (E,)
        weights = 0.5 ** (days / self.config.half_life)
        self.counts = np.bincount(events.item, weights, minlength=train.n_items).astype(np.float32)  # (I,)
        return self


@dataclass(frozen=True)
class SessionPopularConfig:
    """Defaults are those tuned on ML-1M."""

    gap: float = 24.0  # hours without a rating that end a session
    window: int = 2  # films before and after a film that are near it
    recent: int = 2  # films of a visitor's history, from the end, that are their session


class SessionPopular(Recommender):
    """Most popular among what people watched near the visitor's last films, in the same session.

    S-POP of the GRU4Rec paper offers the films that are most frequent in the visitor's own session. Those are seen, and
    seen films are hidden here, so that its order would be that of popularity. Ours counts what others watched
    in a session with the same films. As in the paper, ties go to the most popular film; an empty history too.
    """

    title = "Popular in the session"
    family = "No learning"
    paper = "arXiv:1511.06939"
    Config = SessionPopularConfig
    presets = {
        ("session-popular", "ml-1m"): SessionPopularConfig(),
        ("session-popular", "ml-100k"): SessionPopularConfig(gap=0.1, recent=10),
    }

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: Run | None = None) -> Self:
        """Count; `valid` changes nothing. Reports {"stage": "fit", "done": distance, "total": window}."""
        run, events = run or Run(), train.interactions
        self.counts = train.counts.astype(np.float32)  # (I,)
        sessions = _sessions(events, self.config.gap)
        after = sparse.csr_array((train.n_items, train.n_items), dtype=np.float32)
        for distance in range(1, self.config.window + 1):
            after = after + pairs(sessions, events.item, train.n_items, distance)
            run.report({"stage": "fit", "done": distance, "total": self.config.window})
        self.near = sparse.csr_array(after + after.T)  # (I, I)
        self.near.sort_indices()
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32: how often a film was near one of the last films; behind the comma its share of all views."""
        row, film, age = last_places(queries.histories, len(self.counts))
        last = age < self.config.recent
        ones = np.ones(last.sum(), np.float32)
        session = sparse.csr_array((ones, (row[last], film[last])), shape=(len(queries), len(self.counts)))  # (B, I)
        scores = (session @ self.near).toarray() + self.counts / (self.counts.sum() + 1)
        return popular_where_empty(scores, queries.histories, self.counts)

    def state(self) -> dict[str, np.ndarray]:
        """{"counts": (I,)} float32 and the three arrays of a CSR matrix (I, I)."""
        return {"counts": self.counts, **csr_state(self.near)}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not that of `n_items` films."""
        self.counts, self.near = per_item(state, "counts", n_items), csr_from_state(state, n_items, n_items)


def _sessions(events: Interactions, gap: float) -> np.ndarray:
    """(E,) the number of the session that each event belongs to; `gap` hours of silence begin another."""
    silent = np.diff(events.timestamp) > gap * 3600
    return np.concatenate([[0], np.cumsum(silent | (np.diff(events.user) != 0))])


VARIANTS = {"popular": Popular, "popular-recent": PopularRecent, "session-popular": SessionPopular}
