"""A score row as a ranked list: its top items, and the rank and the probability of an item.

`evaluation` and `serving` both use this module, so an item has the same rank in a result file and in the app, except
for ties. Evaluation ranks the target below all items with an equal score. The app orders equal scores by item number.

Shapes: I items.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from recsys.errors import RecsysError

GROUP_SIZE = 64  # scores of a group, see `_lower_bound_of_kth`
MIN_GROUPS_PER_K = 4  # with fewer groups, the lower bound would be too low to exclude most scores
CHUNK_SIZE = 1 << 14  # scores per chunk of `log_sum_exp`: 64 KB of float32, so that a chunk stays in the CPU cache

# `Model.log_probabilities`: scores (I,), items (n,) → log-probabilities (n,), or None if the model has none
LogProbabilities = Callable[[np.ndarray, np.ndarray], np.ndarray | None]


class ScoreError(RecsysError):
    """Scores that cannot be ranked: NaN, infinite, or of a wrong shape."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """The items of a score row, best first. Equal scores are ordered by item number."""

    scores: np.ndarray  # (I,) float; minus infinity: not listed
    log_probabilities: LogProbabilities | None = field(default=None, repr=False)  # None: no probabilities

    @classmethod
    def from_scores(
        cls, scores: np.ndarray, excluded: np.ndarray | None = None, log_probabilities: LogProbabilities | None = None
    ) -> "Ranking":
        """Rank the items of a copy of scores (I,), except for `excluded`: items (n,) or a mask (I,) bool.

        Raises ScoreError if a score is NaN or plus infinity.
        """
        if not scores.max(initial=-np.inf) < np.inf:  # the maximum is NaN if any score is NaN
            raise ScoreError(
                "the model returned scores that are not numbers; train it again with other settings (a network: "
                "with a lower learning rate)"
            )
        listed_scores = np.array(scores)
        if excluded is not None:
            listed_scores[excluded] = -np.inf
        listed_scores.setflags(write=False)
        return cls(listed_scores, log_probabilities)

    def __len__(self) -> int:
        """Return the number of listed items."""
        return int(np.count_nonzero(self.scores > -np.inf))

    def top(self, k: int) -> np.ndarray:
        """Return the k best items, (k,) int64, best first, or all listed items if there are fewer."""
        k = min(k, len(self.scores))
        if k <= 0:
            return np.zeros(0, np.int64)
        # a finite threshold excludes items with minus infinity
        threshold = max(_lower_bound_of_kth(self.scores, k), np.finfo(self.scores.dtype).min)
        candidates = np.flatnonzero(self.scores >= threshold)  # ascending; k or more, unless fewer items are listed
        return candidates[np.argsort(-self.scores[candidates], kind="stable")][:k]

    def rank(self, item: int) -> int | None:
        """Return the rank of an item, 1 = best, or None if it is not listed."""
        score = self.scores[item]
        if score == -np.inf:
            return None
        return 1 + int(np.count_nonzero(self.scores > score) + np.count_nonzero(self.scores[:item] == score))

    def rank_ties_last(self, item: int) -> int:
        """Return the rank of an item below all items with an equal score, as in evaluation.

        Raises ScoreError if the item is not listed.
        """
        if self.scores[item] == -np.inf:
            raise ScoreError(
                "the model gave the target a score of minus infinity; train it again with other settings (a network: "
                "with a lower learning rate)"
            )
        return int(np.count_nonzero(self.scores >= self.scores[item]))

    def probabilities(self, items: np.ndarray) -> np.ndarray | None:
        """Return the probability (n,) float64 of each item (n,) to be the next one, or None without probabilities.

        The probabilities of a softmax sum to 1 over all listed items. The sigmoids of BCE and gBCE do not sum to 1.
        """
        if self.log_probabilities is None:
            return None
        log_p = self.log_probabilities(self.scores, items)
        return None if log_p is None else np.exp(np.asarray(log_p, np.float64))


def _lower_bound_of_kth(scores: np.ndarray, k: int) -> float:
    """Return the k-th largest of scores (I,) without NaN or, for a long row, a lower bound. k is 1 to I.

    The bound is the k-th largest of the maxima of groups of scores. It takes a sixth of the time of np.partition over
    the row. Up to GROUP_SIZE - 1 scores at the end of the row are in no group, which can only lower the bound.
    """
    n_groups = len(scores) // GROUP_SIZE
    if n_groups < MIN_GROUPS_PER_K * k:
        return np.partition(scores, -k)[-k]
    maxima = scores[: n_groups * GROUP_SIZE].reshape(GROUP_SIZE, n_groups).max(0)
    return np.partition(maxima, -k)[-k]


def log_sum_exp(scores: np.ndarray) -> float:
    """Return log Σ exp of scores (I,), or -∞ if all are -∞. Chunks avoid a temporary array of the size of the row."""
    maximum = scores.max(initial=-np.inf)
    if maximum == -np.inf:
        return -math.inf
    chunks = (scores[start : start + CHUNK_SIZE] for start in range(0, len(scores), CHUNK_SIZE))
    return float(maximum) + math.log(sum(float(np.exp(chunk - maximum).sum()) for chunk in chunks))
