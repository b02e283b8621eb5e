"""How precise a figure is, and whether two models differ, from the ranks of the same users. Plain NumPy, always seeded.

The sample is that of users: how far would a figure be off for other users like these? How far trainings of different
seeds lie apart is another matter, for which there is the standard deviation over seeds. Shapes: S seeds, B users,
M quantities measured for each user, V models, P pairs of models, R resamples.
"""

from collections.abc import Iterator

import numpy as np

from recsys.ranking.metrics import METRICS, values

RESAMPLES = 2000
PERMUTATIONS = 10_000
PERMUTATIONS_PER_PAIR = 100  # at least: p is never below 1 / permutations, and the correction multiplies it by pairs
AT_ONCE = 1 << 22  # random numbers: 32 MB
FEW_USERS = 200  # with fewer of them, differences between models are noise unless they are huge


def intervals(ranks: np.ndarray, metrics: tuple[str, ...] = METRICS) -> dict[str, tuple[float, float]]:
    """95 % interval of each metric of ranks (S, B): the percentile bootstrap over users, seeds averaged first."""
    low, high = bootstrap(np.stack([values(ranks, name).mean(0) for name in metrics], 1))
    return dict(zip(metrics, zip(low.tolist(), high.tolist(), strict=True), strict=True))


def bootstrap(figures: np.ndarray, resamples: int = RESAMPLES, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(M,) and (M,) the 2.5th and 97.5th percentile of the means of figures (B, M) over resampled users."""
    return _middle(_resampled_means(figures, resamples, seed))


def bootstrap_differences(
    figures: np.ndarray, pairs: np.ndarray, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """`bootstrap` of the difference between two columns of figures (B, V), for each of pairs (P, 2) of columns."""
    means = _resampled_means(figures, resamples, seed)
    return _middle(means[:, pairs[:, 0]] - means[:, pairs[:, 1]])


def randomisation(
    figures: np.ndarray, pairs: np.ndarray, permutations: int = PERMUTATIONS, seed: int = 0
) -> np.ndarray:
    """(P,) two-sided p of the difference in means between two columns of figures (B, V), for each of pairs (P, 2).

    Fisher's randomisation test: if both models were equally good, the two figures of a user could as well have been
    swapped, so each user's are, at random. Smucker, Allan and Carterette (CIKM 2007) recommend it for rankings over
    Wilcoxon's test, whose question is not about the mean. The order that was observed counts as one permutation, so
    that p is never 0. All pairs share their permutations: swapping both figures changes a difference of sums by twice
    the difference of the sums over the swapped users, so that V sums per permutation are enough for P pairs.
    """
    rng, (one, other) = np.random.default_rng(seed), pairs.T
    total, size = figures.sum(0), np.abs(figures).sum(0)
    observed = np.abs(total[one] - total[other]) - 1e-12 * (size[one] + size[other])  # sums differ in their last bits
    permutations = max(permutations, PERMUTATIONS_PER_PAIR * len(pairs))
    extreme = np.zeros(len(pairs), np.int64)
    for some in _portions(permutations, len(figures)):
        remainder = total - 2 * (_random_bits(rng, some, len(figures)) @ figures)  # (some, V)
        extreme += (np.abs(remainder[:, one] - remainder[:, other]) >= observed).sum(0)
    return (1 + extreme) / (1 + permutations)


def holm(p: np.ndarray) -> np.ndarray:
    """(P,) p values corrected for being looked at together, so that any is below .05 by chance in 5 % of cases only.

    Holm (1979): the smallest times P, the next times P - 1 …, never falling, never above 1.
    """
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(raised, 1)
    return adjusted


def _resampled_means(figures: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """(R, M) means of figures (B, M).

    A resample is how often each user was drawn, multinomial counts, so that all means are one matrix product.
    """
    rng, users = np.random.default_rng(seed), len(figures)
    even = np.full(users, 1 / users)
    means = [rng.multinomial(users, even, size=some) @ figures / users for some in _portions(resamples, users)]
    return np.concatenate(means)


def _middle(means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Between which values the middle 95 % of each column of (R, M) lie."""
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    return low, high


def _random_bits(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """(rows, columns) float64 of 0 and 1, as likely as each other; eight of them cost one random number."""
    drawn = rng.integers(256, size=(rows, -(-columns // 8)), dtype=np.uint8)
    return np.unpackbits(drawn, axis=1, count=columns).astype(np.float64)


def _portions(total: int, users: int) -> Iterator[int]:
    """How many of `total` resamples to draw at a time."""
    most = max(1, AT_ONCE // users)
    for start in range(0, total, most):
        yield min(most, total - start)
