"""Markov: transition counts of items, weighted by distance.

Shapes: B queries, I items.
"""

from itertools import pairwise

import numpy as np
from scipy import sparse

from recsys.config import Count, NonNegative, Size, added_later, config_class
from recsys.data.dataset import Dataset, Queries
from recsys.models.array_model import ArrayModel
from recsys.models.histories import distinct_items, transition_counts
from recsys.training.options import RunOptions


@config_class
class MarkovConfig:
    """Settings of Markov, tuned on ML-1M."""

    window: Size = 10  # items after an item that count as transitions from it
    decay: NonNegative = 0.7  # a transition over d positions counts d^-decay
    recent: Count = 100  # newest items of a history that are used
    history_decay: NonNegative = 1.0  # the item at position d from the end of a history counts d^-history_decay
    normalisation: NonNegative = 0.7  # 1: transitions from an item are divided by their sum; 0: not divided
    popularity_discount: NonNegative = 0.3  # 1: divided by how often the following item was watched; 0: not divided
    both_directions: bool = added_later(False)  # items watched shortly before an item count too


class Markov(ArrayModel):
    """A Markov chain with transitions over several positions.

    n(i, j) = Σ distance^-decay is summed over the times that item j followed item i within `window` positions. c(j) is
    how often j was watched. i_d is the item at position d = 1, 2, … from the end of the history. A repeated item counts
    only at its newest position.

        score(j) = Σ_d d^-history_decay · n(i_d, j) / (Σ_k n(i_d, k))^normalisation / c(j)^popularity_discount

    With window = recent = normalisation = 1 and no discount, the scores are the maximum likelihood estimate of a
    first-order Markov chain (Rendle et al., WWW 2010, section 3).

    With `both_directions`, n(i, j) also counts the times that j came before i. This suits a history without an order,
    such as favourites that a visitor enters.
    """

    Config = MarkovConfig
    config: MarkovConfig
    matrix_name = "transitions"

    def _fit(self, train: Dataset, run: RunOptions) -> None:
        events = train.interactions
        transitions = sparse.csr_array((train.n_items, train.n_items), dtype=np.float32)  # (I, I)
        for distance in range(1, self.config.window + 1):
            counts = transition_counts(events.user, events.item, train.n_items, distance)
            if self.config.both_directions:
                counts = counts + counts.T
            transitions = transitions + counts * np.float32(distance**-self.config.decay)
            run.report({"stage": "fit", "done": distance, "total": self.config.window})
        row_factors = _inverse_power(transitions.sum(1), self.config.normalisation)
        column_factors = _inverse_power(self.counts, self.config.popularity_discount)
        scaled = sparse.diags_array(row_factors) @ transitions @ sparse.diags_array(column_factors)
        self.transitions = sparse.csr_array(scaled)

    def keep_strongest_transitions(self, n: int) -> None:
        """Remove all but the n strongest transitions from each item, and those as strong as the n-th. Saves memory."""
        matrix = self.transitions
        kept = np.ones(matrix.nnz, bool)
        for row in np.flatnonzero(np.diff(matrix.indptr) > n):
            values = slice(matrix.indptr[row], matrix.indptr[row + 1])
            kept[values] = matrix.data[values] >= np.partition(matrix.data[values], -n)[-n]
        indptr = np.concatenate([[0], np.cumsum(kept)])[matrix.indptr].astype(matrix.indptr.dtype)
        self.transitions = sparse.csr_array((matrix.data[kept], matrix.indices[kept], indptr), shape=matrix.shape)

    def _score(self, queries: Queries) -> np.ndarray:
        n_items = len(self.counts)
        row, item, age = distinct_items(queries.histories, n_items)
        is_recent = age < self.config.recent
        row, item = row[is_recent], item[is_recent]
        weight = ((1.0 + age[is_recent]) ** -self.config.history_decay).astype(np.float32)
        bounds = np.searchsorted(row, np.arange(len(queries) + 1))  # (B+1,), where each query's items start and end
        scores = np.empty((len(queries), n_items), np.float32)
        # A dense-by-sparse product per query. For a batch of one query, it is ten times as fast as one sparse product.
        for query, (start, end) in enumerate(pairwise(bounds)):
            scores[query] = weight[start:end] @ self.transitions[item[start:end]]
        return scores


def _inverse_power(sums: np.ndarray, power: float) -> np.ndarray:
    """Return sums^-power, float32, and 0 where the sum is 0.

    The floor of 1e-9 avoids 0^-power. Every other sum is far above it.
    """
    return (np.maximum(sums, 1e-9) ** -power * (sums > 0)).astype(np.float32)
