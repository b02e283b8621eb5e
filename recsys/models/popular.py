"""Popularity: of all time, of recent times, and within sessions.

Shapes: B queries, I items, E events.
"""

import numpy as np
from scipy import sparse

from recsys.config import Count, NonNegative, Positive, Size, config_class
from recsys.data.dataset import Dataset, Interactions, Queries
from recsys.models.array_model import ArrayModel
from recsys.models.histories import distinct_items, transition_counts
from recsys.training.options import RunOptions


class Popular(ArrayModel):
    """Score(i) = how often item i was watched, for every history."""

    def score(self, queries: Queries) -> np.ndarray:
        """Return the same scores for every query, (B, I) float32."""
        return np.tile(self.counts, (len(queries), 1))


@config_class
class PopularRecentConfig:
    """Settings of PopularRecent, tuned on ML-1M."""

    half_life: Positive = 500.0  # days: an event this long before the last event of the training data counts half


class PopularRecent(Popular):
    """Score(i) = Σ 0.5^((t_last - t) / half_life) over the events of item i, with the half-life in days.

    t is the time of an event and t_last the time of the last event of the training data.
    """

    Config = PopularRecentConfig
    config: PopularRecentConfig
    uses_times_or_ratings = True

    def _fit(self, train: Dataset, run: RunOptions) -> None:
        """Set `counts` to sums of decayed weights, because the methods of `Popular` use this name."""
        events = train.interactions
        days = (events.timestamp.max(initial=0) - events.timestamp) / 86_400  # (E,)
        weights = 0.5 ** (days / self.config.half_life)
        self.counts = np.bincount(events.item, weights, minlength=train.n_items).astype(np.float32)


@config_class
class SessionPopularConfig:
    """Settings of SessionPopular, tuned on ML-1M."""

    gap: NonNegative = 24.0  # hours: in the training data, a pause longer than this starts a new session
    window: Size = 2  # items before and after an item that count as its neighbours
    recent: Count = 2  # how many newest items of the history are the user's session


class SessionPopular(ArrayModel):
    """Score(j) = Σ_i n(i, j) over the `recent` newest items i of the history, plus the popularity of j.

    The popularity of an item is its number of events / (number of all events + 1), which is below 1. n(i, j) is how
    often items i and j were watched within `window` positions of each other in a session of the training data. A pause
    longer than `gap` hours starts a new session.

    Departures from S-POP of the GRU4Rec paper (arXiv:1511.06939):
    - S-POP recommends the most frequent items of the user's own session. Here these items are already seen, and seen
      items are not recommended. Therefore items of other users' sessions are counted.
    - The user's session is the newest `recent` items, regardless of their times.

    As in the paper, popularity decides between equal counts.
    """

    Config = SessionPopularConfig
    config: SessionPopularConfig
    uses_times_or_ratings = True
    matrix_name = "neighbour_counts"

    def _fit(self, train: Dataset, run: RunOptions) -> None:
        events = train.interactions
        sessions = _sessions(events, self.config.gap)
        transitions = sparse.csr_array((train.n_items, train.n_items), dtype=np.float32)  # (I, I), j after i
        for distance in range(1, self.config.window + 1):
            transitions = transitions + transition_counts(sessions, events.item, train.n_items, distance)
            run.report({"stage": "fit", "done": distance, "total": self.config.window})
        self.neighbour_counts = sparse.csr_array(transitions + transitions.T)  # (I, I)
        self.neighbour_counts.sort_indices()

    def _score(self, queries: Queries) -> np.ndarray:
        row, item, age = distinct_items(queries.histories, len(self.counts))  # age: 0 for the newest item
        is_newest = age < self.config.recent
        ones, shape = np.ones(is_newest.sum(), np.float32), (len(queries), len(self.counts))
        sessions = sparse.csr_array((ones, (row[is_newest], item[is_newest])), shape)  # (B, I)
        return (sessions @ self.neighbour_counts).toarray() + self.counts / (self.counts.sum() + 1)


def _sessions(events: Interactions, gap: float) -> np.ndarray:
    """Return the session number of each event, (E,). The events are sorted by user, then time."""
    pause = np.diff(events.timestamp) > gap * 3600
    return np.concatenate([[0], np.cumsum(pause | (np.diff(events.user) != 0))])
