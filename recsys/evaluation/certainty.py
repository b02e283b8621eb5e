"""How sure a figure is, and whether two models differ, from the ranks of the same users. Plain NumPy, always seeded.

Users are the sample: what another drawing of users from the same people would have given. How far apart trainings of
different seeds fall is another matter, which the standard deviation over seeds tells. Shapes: S seeds, B users, M
quantities that are measured for each user, R resamples.
"""

from collections.abc import Iterator

import numpy as np

from recsys.evaluation.metrics import METRICS, values

RESAMPLES = 2000
PERMUTATIONS = 10_000
AT_ONCE = 1 << 22  # random numbers: 32 MB


def intervals(ranks: np.ndarray, metrics: tuple[str, ...] = METRICS) -> dict[str, tuple[float, float]]:
    """95 % interval of each metric of ranks (S, B): the percentile bootstrap over users, seeds averaged first."""
    low, high = bootstrap(np.stack([values(ranks, name).mean(0) for name in metrics], 1))
    return dict(zip(metrics, zip(low.tolist(), high.tolist(), strict=True), strict=True))


def bootstrap(figures: np.ndarray, resamples: int = RESAMPLES, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(M,) and (M,) the 2.5th and 97.5th percentile of the means of figures (B, M) over resampled users.

    A resample is how often each user was drawn, multinomial counts, so that all means are one matrix product.
    """
    rng, users = np.random.default_rng(seed), len(figures)
    means = [
        rng.multinomial(users, np.full(users, 1 / users), size=some) @ figures / users
        for some in _portions(resamples, users)
    ]
    low, high = np.percentile(np.concatenate(means), [2.5, 97.5], axis=0)
    return low, high


def randomisation(differences: np.ndarray, permutations: int = PERMUTATIONS, seed: int = 0) -> np.ndarray:
    """(M,) two-sided p of the mean of each column of paired differences (B, M), were it chance which model is which.

    Fisher's randomisation test: each user's sign is flipped by chance. Smucker, Allan and Carterette (CIKM 2007)
    recommend it for rankings over Wilcoxon's test, which asks about another quantity than the mean. What was observed
    counts as one of the permutations, so that p is never 0.
    """
    rng, total, size = np.random.default_rng(seed), differences.sum(0), np.abs(differences).sum(0)
    observed = np.abs(total)
    extreme = np.zeros(differences.shape[1], np.int64)
    for some in _portions(permutations, len(differences)):
        flipped = rng.integers(2, size=(some, len(differences)), dtype=np.int8).astype(np.float64)
        sums = total - 2 * (flipped @ differences)  # signs of ±1 would be a copy more, slower than all the rest
        extreme += (np.abs(sums) >= observed - 1e-12 * size).sum(0)  # sums differ in their last bits
    return (1 + extreme) / (1 + permutations)


def holm(p: np.ndarray) -> np.ndarray:
    """(M,) p values for M comparisons made together: below .05 in one case of 20 that any of them is due to chance.

    Holm (1979): the smallest times M, the next times M - 1 …, never falling, never above 1.
    """
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(raised, 1)
    return adjusted


def _portions(total: int, users: int) -> Iterator[int]:
    """How many of `total` resamples to draw at a time."""
    most = max(1, AT_ONCE // users)
    for start in range(0, total, most):
        yield min(most, total - start)
