"""A count memory: two count models whose scores are added to the scores of a trained network.

    score(i | h) = w₀ · z(i | h) + w₁ · log(1 + f(i) / mean f) + w₂ · log(1 + c(i) / mean c)

z are the scores of the network. f are the scores of a Markov chain: which items followed the items of the history h.
c are the scores of a low-rank EASE: which items the same users watched. The lowest score is subtracted from f and c,
see `comparable_scores`. The sum is a log-linear pool of three members, with weights for each range of history lengths
(`length_weights.py`).

The logits of a network with D dimensions are a matrix of rank D + 1. Counts have no such limit, and they use the whole
history. The weights are fitted after the training of the network, because the counts contain the target of every
training sample.

Shapes: B queries, I items, W ranges of lengths.

Reference: Mikolov et al. (Interspeech 2011) combine a network with n-grams, Khandelwal et al. (ICLR 2020,
arXiv:1911.00172) with nearest neighbours.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from scipy import sparse

from recsys.data.dataset import Dataset, HeldOut, Queries
from recsys.models.base import Model
from recsys.models.ease import Ease, EaseConfig
from recsys.models.length_weights import LengthWeights, member_scores
from recsys.models.markov import Markov, MarkovConfig
from recsys.models.presets import MANY_ITEMS
from recsys.training.options import RunOptions

LENGTH_EDGES = (10, 50)  # shortest histories of the second and third range, as in `PoolConfig`
MAX_TRANSITIONS = 75  # per item, the highest counts; costs .0007 of NDCG@10 on ML-1M and makes checkpoints smaller
RANK = 96  # of EASE: with 64, NDCG@10 on ML-1M is .001 lower; with more, a request would be too slow
REDUCED_RANK = 64  # of EASE for more than MANY_ITEMS: with 27,000 items, a request takes .2 ms less than with RANK
# Settings of the Markov chain that `score` reads. They are stored. Only `fit` reads the other settings.
SCORING_SETTINGS = ("recent", "history_decay")
MEMORY_PREFIX = "memory."  # first part of the names of the arrays of a memory in the state of a network


@dataclass(frozen=True)
class CountConfigs:
    """Settings of the two count models. The rank of EASE is set by the size of the catalogue."""

    markov: MarkovConfig = field(default_factory=MarkovConfig)
    ease: EaseConfig = field(default_factory=EaseConfig)


class CountMemory:
    """A Markov chain and a low-rank EASE, with the weights of their pool with a network."""

    def __init__(self, configs: CountConfigs | None = None) -> None:
        """Create an unfitted memory, in which the network has the weight 1 and the counts 0."""
        configs = configs or CountConfigs()
        self.markov, self.ease = Markov(configs.markov), Ease(replace(configs.ease, rank=RANK))
        self.length_weights = LengthWeights(n_members=3, edges=LENGTH_EDGES)
        self.length_weights.weights[:] = 1, 0, 0  # network, Markov chain, EASE

    @property
    def has_fitted_weights(self) -> bool:
        """Whether the weights differ from the initial ones. If so, the softmax of the scores is p(next item)."""
        return bool((self.length_weights.weights != (1, 0, 0)).any())

    def fit(
        self, train: Dataset, valid: HeldOut | None, network_scores: Callable[[Queries], np.ndarray], run: RunOptions
    ) -> Self:
        """Count in `train`, then fit the weights on `valid`. Without `valid` the counts keep the weight 0.

        `network_scores` returns the network's scores (B, I) of B queries.
        """
        self.markov.fit(train)
        self.markov.transitions = top_per_row(self.markov.transitions, MAX_TRANSITIONS)
        rank = RANK if train.n_items <= MANY_ITEMS else REDUCED_RANK
        self.ease = Ease(replace(self.ease.config, rank=rank)).fit(train)
        if valid:
            self.length_weights.fit(lambda queries: self._all_scores(network_scores(queries), queries), valid, run)
        return self

    def combine(self, scores: np.ndarray, queries: Queries) -> np.ndarray:
        """Return the sum of the network's scores (B, I) and the scores of the count models, (B, I) float32."""
        return self.length_weights.combine(self._all_scores(scores, queries), queries)

    @property
    def _models(self) -> dict[str, Model]:
        """The count models by their names in the state, which stored checkpoints have: Markov chain, EASE."""
        return {"followers": self.markov, "companions": self.ease}

    def state(self) -> dict[str, np.ndarray]:
        """Return the arrays of both count models, the weights (W, 3), and each of SCORING_SETTINGS as an array ()."""
        arrays: dict[str, np.ndarray] = {}
        for name, model in self._models.items():
            arrays |= {f"{name}.{key}": array for key, array in model.state().items()}
        if len(self.markov.counts) <= np.iinfo(np.uint16).max:  # item numbers fit into 16 bits, which halve the file
            arrays["followers.indices"] = arrays["followers.indices"].astype(np.uint16)
        arrays |= {name: np.array(getattr(self.markov.config, name)) for name in SCORING_SETTINGS}
        arrays["pool"] = self.length_weights.weights
        return {MEMORY_PREFIX + key: array for key, array in arrays.items()}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """See `Model.load_state`. If an older state has no SCORING_SETTINGS, the current values stay."""
        settings = {key: state[MEMORY_PREFIX + key].item() for key in SCORING_SETTINGS if MEMORY_PREFIX + key in state}
        self.markov = Markov(replace(self.markov.config, **settings))
        for name, model in self._models.items():
            prefix = f"{MEMORY_PREFIX}{name}."
            arrays = {key.removeprefix(prefix): array for key, array in state.items() if key.startswith(prefix)}
            if "indices" in arrays:  # perhaps uint16, see `state`
                arrays["indices"] = arrays["indices"].astype(np.int32)
            model.load_state(arrays, n_items)
        self.length_weights.set_weights(state[f"{MEMORY_PREFIX}pool"])

    def _all_scores(self, network_scores: np.ndarray, queries: Queries) -> list[np.ndarray]:
        """Return the scores of the network, the Markov chain and EASE, (B, I) float32 each."""
        n_items = network_scores.shape[1]
        return [network_scores, *(member_scores(model, queries, n_items) for model in self._models.values())]


def top_per_row(matrix: sparse.csr_array, n: int) -> sparse.csr_array:
    """Return the matrix with the n highest values of each row. Ties at the n-th place are resolved arbitrarily."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((-matrix.data, rows))  # row after row, each from its highest to its lowest value
    rank_in_row = np.arange(matrix.nnz) - matrix.indptr[rows]  # of each value in this order
    kept = np.sort(order[rank_in_row < n])
    row, column = rows[kept].astype(np.int32), matrix.indices[kept].astype(np.int32)  # 64 bits would double the memory
    return sparse.csr_array((matrix.data[kept], (row, column)), shape=matrix.shape)
