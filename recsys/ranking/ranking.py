"""One row of scores as a list: what is hidden, who comes first, at which rank, with which probability.

`evaluation` and `serving` both read scores through this, so a rank means the same in the app and in a result file.
Shapes: I items.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from recsys.errors import RecsysError

GROUP = 64  # scores of which the largest is taken, to bound the k-th best of all
EXPONENTS_AT_ONCE = 1 << 14  # scores whose exponentials are summed together: 64 KB, which a core's cache holds

LogProbabilities = Callable[[np.ndarray, np.ndarray], np.ndarray | None]  # scores (I,), items (n,) → (n,) or None


class ScoreError(RecsysError):
    """Scores from which no rank can be taken."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """The items of one score row, best first; hidden ones and those scored minus infinity are not in it.

    Equal scores are ordered by item number. Nothing here changes what it was given.
    """

    scores: np.ndarray  # (I,) float; minus infinity: not listed
    log_probabilities: LogProbabilities | None = field(default=None, repr=False)  # of the model; None: it has none

    @classmethod
    def of(
        cls, scores: np.ndarray, hidden: np.ndarray | None = None, log_probabilities: LogProbabilities | None = None
    ) -> "Ranking":
        """The ranking of a model's scores (I,) without `hidden`, which are items (n,) or a mask (I,) bool; None: all.

        Raises ScoreError where a score is NaN or plus infinity.
        """
        if not scores.max(initial=-np.inf) < np.inf:  # the largest of some numbers and a NaN is NaN
            raise ScoreError("the model returned scores that are no numbers; train it again with a lower learning rate")
        listed = np.array(scores)
        if hidden is not None:
            listed[hidden] = -np.inf
        listed.setflags(write=False)
        return cls(listed, log_probabilities)

    def __len__(self) -> int:
        """How many items are listed."""
        return int(np.count_nonzero(self.scores > -np.inf))

    def top(self, k: int) -> np.ndarray:
        """Up to k items (n,) int64, best first."""
        k = min(k, len(self.scores))
        if k <= 0:
            return np.zeros(0, np.int64)
        least = max(_at_most_kth(self.scores, k), np.finfo(self.scores.dtype).min)  # above minus infinity
        ahead = np.flatnonzero(self.scores >= least)  # in item order; k or more unless fewer are listed
        return ahead[np.argsort(-self.scores[ahead], kind="stable")][:k]

    def rank(self, item: int) -> int | None:
        """1 = best; None: not listed."""
        own = self.scores[item]
        if own == -np.inf:
            return None
        ties_before = np.count_nonzero(self.scores[:item] == own)
        return 1 + int(np.count_nonzero(self.scores > own) + ties_before)

    def rank_ties_last(self, item: int) -> int:
        """The rank when every tie counts against the item, as evaluation has it; raises ScoreError if not listed."""
        if self.scores[item] == -np.inf:
            raise ScoreError("the model scored the target minus infinity; train it again with a lower learning rate")
        return int(np.count_nonzero(self.scores >= self.scores[item]))

    def probability(self, item: int) -> float | None:
        """That the next item is this one, given that it is one of those listed; None: the model gives none."""
        found = self.probabilities(np.array([item]))
        return None if found is None else float(found[0])

    def probabilities(self, items: np.ndarray) -> np.ndarray | None:
        """`probability` of several items (n,) → (n,) float64."""
        found = self.log_probabilities and self.log_probabilities(self.scores, items)
        return None if found is None else np.exp(np.asarray(found, np.float64))


def _at_most_kth(scores: np.ndarray, k: int) -> float:
    """The k-th largest score or, of a long row, a bound just below it, found in a sixth of the time.

    The row is dealt out into groups of GROUP scores. The k largest of the groups' maxima are k scores of the row, so
    the k-th largest score is no less than the last of them.
    """
    groups = len(scores) // GROUP
    if groups < 4 * k:  # the bound would be so low that too many scores reach it
        return np.partition(scores, -k)[-k]
    maxima = scores[: groups * GROUP].reshape(GROUP, groups).max(0)
    return np.partition(maxima, -k)[-k]


def log_sum_exp(scores: np.ndarray) -> float:
    """log Σ exp of a row of scores (I,), a piece at a time: nothing as long as the row is allocated."""
    largest = scores.max(initial=-np.inf)
    if largest == -np.inf:
        return -math.inf
    pieces = (scores[start : start + EXPONENTS_AT_ONCE] for start in range(0, len(scores), EXPONENTS_AT_ONCE))
    return float(largest) + math.log(sum(float(np.exp(piece - largest).sum()) for piece in pieces))
