"""Markov: what was watched next, and soon after, by those who watched the same items last.

Shapes: B queries, I items.
"""

from itertools import pairwise
from typing import Self

import numpy as np
from scipy import sparse

from recsys.config import Count, NonNegative, Size, added, config_class
from recsys.data.schema import Dataset, HeldOut, Queries
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


@config_class
class MarkovConfig:
    """Defaults are those tuned on ML-1M."""

    window: Size = 10  # items after an item that count as its followers
    decay: NonNegative = 0.7  # a follower d items later counts d^-decay
    recent: Count = 100  # items of a history that are used, from the end
    history_decay: NonNegative = 1.0  # the item at position d from the end counts d^-history_decay
    normalisation: NonNegative = 0.7  # 1: followers as a share of all followers of an item; 0: as counts
    popularity_discount: NonNegative = 0.3  # 0: none; 1: divided by how often the follower was watched
    both_directions: bool = added(False)  # items watched shortly before an item count too, not only those after it


class Markov(Model):
    """Counts of which item followed which, decaying with distance in training and in the history alike.

    A first-order Markov chain (as in Rendle et al., FPMC, WWW 2010, without factors) that looks further: with
    n(i, j) = Σ distance^-decay over the times that j followed i within the window, and c(j) the times j was watched,

        score(j) = Σ_d d^-history_decay · n(i_d, j) / (Σ_j' n(i_d, j'))^normalisation / c(j)^popularity_discount

    where i_d is the item at position d from the end. An empty history gets the order of popularity.

    With `both_directions`, n(i, j) also counts the times that j came before i: two items are near if people watched
    them at about the same time, in any order. This suits a visitor who types favourites without an order.
    """

    Config = MarkovConfig
    config: MarkovConfig

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Count; `valid` changes nothing. Reports {"stage": "fit", "done": distance, "total": window}."""
        run, events = run or RunOptions(), train.interactions
        self.counts = train.counts.astype(np.float32)  # (I,)
        followers = sparse.csr_array((train.n_items, train.n_items), dtype=np.float32)  # (I, I)
        for distance in range(1, self.config.window + 1):
            later = transition_counts(events.user, events.item, train.n_items, distance)
            pairs = later + later.T if self.config.both_directions else later
            followers = followers + pairs * np.float32(distance**-self.config.decay)
            run.report({"stage": "fit", "done": distance, "total": self.config.window})
        rows = _inverse_power(followers.sum(1), self.config.normalisation)
        columns = _inverse_power(self.counts, self.config.popularity_discount)
        self.followers = sparse.csr_array(sparse.diags_array(rows) @ followers @ sparse.diags_array(columns))
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32, at least 0; an item that never followed one of the history's gets 0."""
        n_items = len(self.counts)
        row, item, age = distinct_items(queries.histories, n_items)
        used = age < self.config.recent
        row, item = row[used], item[used]
        weight = ((1.0 + age[used]) ** -self.config.history_decay).astype(np.float32)
        ends = np.searchsorted(row, np.arange(len(queries) + 1))
        scores = np.empty((len(queries), n_items), np.float32)
        for query, (start, end) in enumerate(pairwise(ends)):  # one product of all would cost a single query ten times
            scores[query] = weight[start:end] @ self.followers[item[start:end]]
        return fill_empty_histories(scores, queries.histories, self.counts)

    def state(self) -> dict[str, np.ndarray]:
        """{"counts": (I,)} float32 and the three arrays of a CSR matrix (I, I)."""
        return {"counts": self.counts, **csr_state(self.followers)}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not that of `n_items` items."""
        self.counts = require_n_items(state, "counts", n_items)
        self.followers = csr_from_state(state, n_items, n_items)


def _inverse_power(sums: np.ndarray, power: float) -> np.ndarray:
    """sums^-power, float32; 0 where the sum is 0."""
    return (np.maximum(sums, 1e-9) ** -power * (sums > 0)).astype(np.float32)
