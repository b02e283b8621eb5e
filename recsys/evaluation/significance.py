"""Confidence intervals and paired tests from the ranks of the same users. Random numbers are seeded.

Users are the sample: an interval shows how much a metric would vary over other users of the same population. It does
not include the variation between training seeds. This module loads neither torch nor Streamlit.

Shapes: S seeds, B users, M columns of values, V recommenders, P pairs of recommenders, R resamples.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from recsys import errors
from recsys.evaluation import results
from recsys.ranking import metrics
from recsys.ranking.metrics import METRICS

ALPHA = 0.05  # a difference is significant if its corrected p is lower
RESAMPLES = 2000
PERMUTATIONS = 10_000
MIN_PERMUTATIONS_PER_PAIR = 100  # p is at least 1 / permutations, and Holm's correction multiplies it by up to P
MAX_RANDOM_NUMBERS = 1 << 22  # in memory at a time: 32 MB
FEW_USERS = 200  # with fewer users, differences between recommenders are noise unless they are huge
COLUMNS = ["variant", "other", "metric", "users", "difference", "low", "high", "p", "p_holm", "differs"]


def pairwise_tests(
    dataset: str, protocol: str, metric: str = "ndcg@10", warn: results.WarningCallback = errors.warn
) -> pd.DataFrame:
    """Compare all pairs of recommenders of a leaderboard.

    All p values are corrected together, so a pair has the same outcome on every page. If each seed has another split,
    only seed 0 is compared, because the other seeds have other held-out items. `warn` is called with an error for each
    skipped result.

    Returns:
        A row per pair, with the columns COLUMNS:

        - variant, other: the worse and the better recommender
        - metric: the argument `metric`
        - users: number of users
        - difference: metric of `variant` minus metric of `other`, averaged over users
        - low, high: 95 % bootstrap interval of the difference
        - p: p value of the randomisation test
        - p_holm: p value with Holm's correction
        - differs: whether the difference is significant
    """
    values_by_recommender: dict[str, np.ndarray] = {}  # (B,), averaged over seeds
    for variant in (document["variant"] for document in results.documents(dataset, protocol, warn)):
        try:
            ranks = results.comparable_ranks(dataset, protocol, variant)
            values_by_recommender[variant] = metrics.user_values(ranks, metric).mean(0)
        except results.ResultError as error:
            warn(error)
    if len(values_by_recommender) < 2:
        return pd.DataFrame(columns=COLUMNS)
    names = sorted(values_by_recommender, key=lambda variant: -values_by_recommender[variant].mean())
    table = np.stack([values_by_recommender[variant] for variant in names], 1)  # (B, V), the best recommender first
    better, worse = np.triu_indices(len(names), 1)  # (P,) column numbers
    pairs, means = np.stack([worse, better], 1), table.mean(0)
    low, high = bootstrap_differences(table, pairs)
    p = randomisation(table, pairs)
    p_holm = holm(p)
    columns = {
        "variant": [names[column] for column in worse],
        "other": [names[column] for column in better],
        "metric": metric,
        "users": len(table),
        "difference": means[worse] - means[better],
    }
    return pd.DataFrame(columns | {"low": low, "high": high, "p": p, "p_holm": p_holm, "differs": p_holm < ALPHA})


def against_best(tests: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `pairwise_tests` in which `other` is the best recommender, the second best first."""
    # `variant` is the worse recommender of a pair, so the best recommender is never `variant`
    return tests[~tests["other"].isin(set(tests["variant"]))].reset_index(drop=True)


def select_pair(tests: pd.DataFrame, variant: str, other: str) -> pd.Series:
    """Return the row of `pairwise_tests` of two recommenders, with a positive difference if `variant` is better.

    Raises ResultError if there is no such row, because a result is missing or `pairwise_tests` skipped it.
    """
    is_pair = tests[["variant", "other"]].isin([variant, other]).all(axis=1)
    if not is_pair.any():
        text = "{variant} and {other} cannot be compared, because one of them has no usable result"
        raise results.ResultError(text, variant=variant, other=other)
    row = tests[is_pair].iloc[0].copy()
    if row["variant"] == other:
        row["variant"], row["other"] = variant, other
        row["difference"], row["low"], row["high"] = -row["difference"], -row["high"], -row["low"]
    return row


def intervals(ranks: np.ndarray, metric_names: tuple[str, ...] = METRICS) -> dict[str, tuple[float, float]]:
    """Return {metric: (low, high)}, the 95 % bootstrap interval over users of the means over seeds. Ranks: (S, B)."""
    lows, highs = bootstrap(np.stack([metrics.user_values(ranks, name).mean(0) for name in metric_names], 1))
    return {name: (float(low), float(high)) for name, low, high in zip(metric_names, lows, highs, strict=True)}


def bootstrap(user_values: np.ndarray, resamples: int = RESAMPLES, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the 95 % bootstrap interval of the means of values (B, M) over users: lower and upper ends (M,)."""
    low, high = np.percentile(_resampled_means(user_values, resamples, seed), [2.5, 97.5], axis=0)
    return low, high


def bootstrap_differences(user_values: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the 95 % intervals (P,) of the mean difference of two columns of values (B, V), for pairs (P, 2)."""
    means = _resampled_means(user_values, RESAMPLES, seed=0)
    low, high = np.percentile(means[:, pairs[:, 0]] - means[:, pairs[:, 1]], [2.5, 97.5], axis=0)
    return low, high


def randomisation(user_values: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return two-sided p values (P,) of Fisher's randomisation test for pairs (P, 2) of columns of values (B, V).

    If two recommenders were equally good, their two values of a user could be swapped. The test swaps them at random.
    The observed order counts as one permutation, so p is never 0. All pairs use the same permutations.
    A swap reverses the sign of a user's difference. So a permutation gives each user a sign. It is enough to sum the V
    columns with these signs, because the difference of a pair is the difference of two sums.

    Reference: Smucker, Allan and Carterette (CIKM 2007).
    """
    rng, (left, right) = np.random.default_rng(0), pairs.T
    total, magnitude = user_values.sum(0), np.abs(user_values).sum(0)
    tolerance = 1e-12 * (magnitude[left] + magnitude[right])  # for rounding errors
    threshold = np.abs(total[left] - total[right]) - tolerance  # the observed differences
    n_permutations = max(PERMUTATIONS, MIN_PERMUTATIONS_PER_PAIR * len(pairs))
    n_extreme = np.zeros(len(pairs), np.int64)  # permutations with a difference as large as the observed one
    for portion in _portions(n_permutations, len(user_values)):
        is_swapped = _random_bits(rng, portion, len(user_values))  # (portion, B)
        signed_sums = total - 2 * (is_swapped @ user_values)  # (portion, V) swapped users with a minus sign
        n_extreme += (np.abs(signed_sums[:, left] - signed_sums[:, right]) >= threshold).sum(0)
    return (1 + n_extreme) / (1 + n_permutations)


def holm(p: np.ndarray) -> np.ndarray:
    """Return p values (P,) with Holm's correction (1979), which limits the family-wise error rate of multiple tests.

    The smallest p is multiplied by P, the next by P - 1, and so on. A product lower than an earlier product is raised
    to it, and products are limited to 1.
    """
    order = np.argsort(p, kind="stable")
    products = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    p_holm = np.empty(len(p))
    p_holm[order] = np.minimum(products, 1)  # back to the order of p
    return p_holm


def _resampled_means(user_values: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """Return the means (R, M) of values (B, M) over resampled users.

    A resample is stored as multinomial counts of the users, so the means are a matrix product.
    """
    rng, n_users = np.random.default_rng(seed), len(user_values)
    uniform = np.full(n_users, 1 / n_users)
    portions = _portions(resamples, n_users)
    means = [rng.multinomial(n_users, uniform, size=portion) @ user_values / n_users for portion in portions]
    return np.concatenate(means)


def _random_bits(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Return random bits as float64 0 or 1, (rows, columns). A random byte gives eight bits."""
    random_bytes = rng.integers(256, size=(rows, -(-columns // 8)), dtype=np.uint8)  # columns / 8, rounded up
    return np.unpackbits(random_bytes, axis=1, count=columns).astype(np.float64)


def _portions(total: int, n_users: int) -> Iterator[int]:
    """Yield the sizes of portions of `total` resamples. A portion needs at most MAX_RANDOM_NUMBERS."""
    max_size = max(1, MAX_RANDOM_NUMBERS // n_users)
    for start in range(0, total, max_size):
        yield min(max_size, total - start)
