"""Metrics by groups of users and of their targets, from stored ranks and the data set, without the model.

A grouping, such as "genre", divides the test queries into buckets, such as "Comedy".
Shapes: S seeds, B queries, I items, V recommenders.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd

from recsys.data.dataset import AGES, Dataset, Split
from recsys.evaluation.significance import bootstrap
from recsys.ranking.metrics import user_values

LENGTH_BOUNDS = (10, 20, 50, 100, 200)  # bounds between the buckets of `history_buckets`, in items
POPULARITY_BOUNDS = (0.01, 0.1, 0.5)  # bounds between the buckets of `popularity_buckets`, as shares of the catalogue
NO_GENRE = "(none)"  # bucket of films without a genre
NO_YEAR = "unknown"  # bucket of films without a year
NO_ANSWER = "not stated"  # bucket of users whose profile has no value

Buckets = list[tuple[str, np.ndarray]]  # in display order: the name and the mask (B,) of the queries in the bucket


def metric_by_bucket(split: Split, ranks: dict[str, np.ndarray], grouping: str, metric: str) -> pd.DataFrame:
    """Return a metric of several recommenders by bucket. Empty buckets are left out.

    `ranks` has the ranks (S, B) of the test queries by recommender. Columns: bucket, users, variant, value, low, high.
    Values are means over seeds. The interval is 95 % over the users of the bucket. All recommenders share the bootstrap
    resamples, because drawing them takes most of the time.
    """
    values = np.stack([user_values(variant_ranks, metric).mean(0) for variant_ranks in ranks.values()], 1)  # (B, V)
    rows = []
    for bucket, mask in GROUPINGS[grouping](split):
        if mask.any():
            low, high = bootstrap(values[mask])
            variant_rows = zip(ranks, values[mask].mean(0), low, high, strict=True)
            rows += [(bucket, int(mask.sum()), *row) for row in variant_rows]
    return pd.DataFrame(rows, columns=["bucket", "users", "variant", "value", "low", "high"])


def available_groupings(dataset: Dataset) -> list[str]:
    """Return the names of the GROUPINGS of a data set. Without user profiles, USER_GROUPINGS are left out."""
    return [name for name in GROUPINGS if name not in USER_GROUPINGS or dataset.user_profiles is not None]


def median_lengths(split: Split, grouping: str) -> dict[str, int]:
    """Return the median history length in items of each bucket that is not empty."""
    lengths = _history_lengths(split)
    return {bucket: round(np.median(lengths[mask])) for bucket, mask in GROUPINGS[grouping](split) if mask.any()}


def history_buckets(split: Split) -> Buckets:
    """Group the test queries by the number of items in the history."""
    inner_names = [f"{low}–{high - 1}" for low, high in pairwise(LENGTH_BOUNDS)]
    names = [f"under {LENGTH_BOUNDS[0]}", *inner_names, f"{LENGTH_BOUNDS[-1]} or more"]
    return _divide_at_bounds(names, LENGTH_BOUNDS, _history_lengths(split))


def popularity_buckets(split: Split) -> Buckets:
    """Group by the popularity of the target: its position among all items, the most watched first.

    Items with equal training counts are in item order.
    """
    counts = split.train.counts
    position = np.empty(len(counts), np.int64)
    position[np.argsort(-counts, kind="stable")] = np.arange(len(counts))  # (I,) 0 = most watched
    upper_bounds = [np.ceil(share * len(counts)) for share in POPULARITY_BOUNDS]
    percentages = [f"{100 * share:.0f}" for share in POPULARITY_BOUNDS]
    inner_names = [f"top {low}–{high}% by popularity" for low, high in pairwise(percentages)]
    bottom = f"bottom {100 * (1 - POPULARITY_BOUNDS[-1]):.0f}% by popularity"
    names = [f"top {percentages[0]}% by popularity", *inner_names, bottom]
    return _divide_at_bounds(names, upper_bounds, position[split.test.targets])


def genre_buckets(split: Split) -> Buckets:
    """Group by the genres of the target. A target with several genres is in several buckets."""
    texts = split.train.catalog.movies["genres"].iloc[split.test.targets]
    is_in_genre = texts.replace("", NO_GENRE).str.get_dummies("|").astype(bool)  # a column for each genre
    return [(name, is_in_genre[name].to_numpy()) for name in sorted(is_in_genre)]


def decade_buckets(split: Split) -> Buckets:
    """Group by the decade of the target."""
    years = split.train.catalog.movies["year"].astype("Float64").to_numpy(np.float64, na_value=np.nan)
    decades = years[split.test.targets] // 10 * 10
    distinct_decades = np.unique(decades[np.isfinite(decades)])
    return [(f"{decade:.0f}s", decades == decade) for decade in distinct_decades] + [(NO_YEAR, np.isnan(decades))]


def _profile_buckets(column: str, names: dict[str, str], split: Split) -> Buckets:
    """Group by a column of the user profiles. `names`: value → bucket. Users without a value are in NO_ANSWER."""
    if split.train.user_profiles is None:
        return []
    profiles = split.train.user_profiles[column].to_numpy()[split.test.queries.users]
    return [(name, profiles == value) for value, name in (names | {"": NO_ANSWER}).items()]


USER_GROUPINGS: dict[str, Callable[[Split], Buckets]] = {
    "gender": partial(_profile_buckets, "gender", {"F": "women", "M": "men"}),
    "age": partial(_profile_buckets, "age", {age: age.replace("-", "–") for age in AGES}),
}
GROUPINGS: dict[str, Callable[[Split], Buckets]] = {
    "history length": history_buckets,
    "popularity of the film": popularity_buckets,
    "genre": genre_buckets,
    "decade": decade_buckets,
} | USER_GROUPINGS


def _history_lengths(split: Split) -> np.ndarray:
    """Return the number of items in the history of each test query, (B,)."""
    return np.array([len(history) for history in split.test.queries.histories])


def _divide_at_bounds(names: list[str], bounds: Sequence[float], values: np.ndarray) -> Buckets:
    """Divide values (B,) at ascending bounds into named buckets. A value equal to a bound is in the bucket above it."""
    bucket_index = np.searchsorted(bounds, values, side="right")  # (B,)
    return [(name, bucket_index == index) for index, name in enumerate(names)]
