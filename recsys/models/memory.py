"""A memory beside a network: what followed what, and what goes with what, counted over all of the training data.

The logits of a network with D dimensions are a matrix of rank D + 1; counts have no such limit, and they look at the
whole of a history. Once the network is trained, three weights are found on validation for each range of lengths:

    logit(j) = w₀ · z(j) + w₁ · log(1 + f(j) / mean f) + w₂ · log(1 + c(j) / mean c),

with z the network's logits, f what followed the history's items, newest first (`Markov`), and c what goes with all of
them (`Ease` of low rank): a log-linear pool (`models/pool.py`) whose other parts need no training of their own. That a
chain of counts mends a network is old: Mikolov et al. (Interspeech 2011) did so with n-grams, Khandelwal et al. (ICLR
2020, arXiv:1911.00172) with nearest neighbours. Learnt together with the network, counts hold the answer to each
training sequence, for it has been counted too; added afterwards, they cannot mislead it.

Shapes: B queries, I items, W ranges of lengths.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Self

import numpy as np
from scipy import sparse

from recsys.data.schema import Dataset, HeldOut, Queries
from recsys.models import ease, markov, registry
from recsys.models.base import Model
from recsys.models.pool import Pool, values_of
from recsys.models.presets import MANY_ITEMS
from recsys.training.options import RunOptions

EDGES = (10, 50)  # lengths of a history, in items, from which the next weights hold, as in `hybrid`
KEPT = 75  # followers of an item that are kept, those of the highest counts: on ML-1M all of them bring .0007 more
RANK = 96  # of EASE's weights: 64 lose .001 on ML-1M, and more take time that a request has not
RANK_OF_MANY = 64  # on large catalogues, where their product takes longest: .2 ms less of 27,000 items
NAME = "memory."  # before the names of its arrays in a saved state


class Memory:
    """What a trained network's scores are mixed with."""

    def __init__(self) -> None:
        self.followers, self.companions = markov.Markov(), ease.Ease(ease.EaseConfig(rank=RANK))
        self.pool = Pool(3, EDGES)

    @classmethod
    def of(
        cls, train: Dataset, valid: HeldOut | None, network: Callable[[Queries], np.ndarray], run: RunOptions
    ) -> Self:
        """Count in `train`, with the settings that are tuned for its name, and weigh on `valid`.

        network: queries → its scores (B, I). Without `valid` it is left as it is.
        """
        made = cls()
        made.followers = markov.Markov(registry.get("markov").preset(train.name)).fit(train)
        made.followers.transitions = _most(made.followers.transitions, KEPT)
        rank = RANK if train.n_items <= MANY_ITEMS else RANK_OF_MANY
        made.companions = ease.Ease(replace(registry.get("ease").preset(train.name), rank=rank)).fit(train)
        made.pool.load(np.tile(np.array([1, 0, 0], np.float32), (len(EDGES) + 1, 1)))
        if valid:
            made.pool.fit(lambda queries: made._values(network(queries), queries), valid, run)
        return made

    def beside(self, scores: np.ndarray, queries: Queries) -> np.ndarray:
        """A network's scores (B, I) with what is remembered, (B, I) float32: log-probabilities but for a constant."""
        return self.pool.mix(self._values(scores, queries), queries)

    def state(self) -> dict[str, np.ndarray]:
        """The arrays of both counts, and "memory.pool": (W, 3)."""
        parts = {"followers": self.followers, "companions": self.companions}
        state = {f"{NAME}{part}.{name}": array for part, own in parts.items() for name, array in own.state().items()}
        indices = f"{NAME}followers.indices"
        if len(self.followers.counts) <= np.iinfo(np.uint16).max:
            state[indices] = state[indices].astype(np.uint16)  # half the file
        return state | {f"{NAME}pool": self.pool.weights}

    @classmethod
    def from_state(cls, state: dict[str, np.ndarray], n_items: int) -> Self:
        """The memory of `state`; raises KeyError or ValueError when it is not one of `n_items` items."""
        made = cls()
        for part, own in (("followers", made.followers), ("companions", made.companions)):
            start = f"{NAME}{part}."
            arrays = {key.removeprefix(start): array for key, array in state.items() if key.startswith(start)}
            if "indices" in arrays:
                arrays["indices"] = arrays["indices"].astype(np.int32)
            own.load_state(arrays, n_items)
        made.pool.load(state[f"{NAME}pool"])
        return made

    def _values(self, scores: np.ndarray, queries: Queries) -> list[np.ndarray]:
        """What each of the three says of all items, (B, I) float32 each."""
        counted: tuple[Model, ...] = (self.followers, self.companions)
        return [scores, *(values_of(own, queries, scores.shape[1]) for own in counted)]


def _most(matrix: sparse.csr_array, n: int) -> sparse.csr_array:
    """The n highest numbers of each row; of those that are equal to the least any."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((-matrix.data, rows))
    rank = np.arange(matrix.nnz) - matrix.indptr[rows]  # of each number in its row, in that order
    kept = np.sort(order[rank < n])
    where = rows[kept].astype(np.int32), matrix.indices[kept].astype(np.int32)  # half the memory to read of 64 bits
    return sparse.csr_array((matrix.data[kept], where), shape=matrix.shape)
