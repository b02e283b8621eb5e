"""For whom, and for which films, a model works: its metrics by group of people and by kind of the target.

From the ranks in a result file and the data set; neither the model nor torch is needed. Shapes: S seeds, B queries,
I items, V variants.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pandas as pd

from recsys.data.dataset import AGES, Dataset, HeldOut, Split
from recsys.errors import recsys_command
from recsys.evaluation import protocols, results
from recsys.evaluation.significance import bootstrap, intervals
from recsys.ranking.metrics import METRICS, summary, values

LENGTHS = (10, 20, 50, 100, 200)  # of a history, in items, from which the next bucket begins
TOP_SHARES = (0.01, 0.1, 0.5)  # of the catalogue, the most watched items first
NO_GENRE, NO_YEAR, UNSAID = "(none)", "unknown", "not said"

Buckets = list[tuple[str, np.ndarray]]  # names in the order to be shown, and which of the queries (B,) are in each


def slices(dataset: Dataset, protocol: str, variant: str) -> pd.DataFrame:
    """One row per bucket that is not empty: slice, bucket, users, METRICS, "low <metric>", "high <metric>".

    Metrics are means over seeds; low and high end the 95 % interval over the users of the bucket. A target of several
    genres is in the bucket of each. Raises ResultError where the result is not of this data.
    """
    split = protocols.get(protocol).split(dataset)
    ranks = _ranks(dataset, protocol, variant, split.test)
    rows = [
        {"slice": name, "bucket": bucket, "users": int(mine.sum()), **_figures(ranks[:, mine])}
        for name, cut in SLICES.items()
        for bucket, mine in cut(split)
        if mine.any()
    ]
    bounds = [f"{end} {name}" for name in METRICS for end in ("low", "high")]
    return pd.DataFrame(rows, columns=["slice", "bucket", "users", *METRICS, *bounds])


def side_by_side(split: Split, ranks: dict[str, np.ndarray], name: str, metric: str) -> pd.DataFrame:
    """One of SLICES for several variants: a row per bucket and variant, bucket, users, variant, value, low, high.

    ranks: variant → (S, B) of the test queries. Value and interval as in `slices`. All variants share the resamples,
    because drawing them is what takes time. Empty buckets are left out.
    """
    each = np.stack([values(own, metric).mean(0) for own in ranks.values()], 1)  # (B, V)
    rows = []
    for bucket, mine in SLICES[name](split):
        if mine.any():
            bounds = zip(list(ranks), each[mine].mean(0), *bootstrap(each[mine]), strict=True)
            rows += [(bucket, int(mine.sum()), *row) for row in bounds]
    return pd.DataFrame(rows, columns=["bucket", "users", "variant", "value", "low", "high"])


def offered(dataset: Dataset) -> list[str]:
    """The SLICES that a data set has: those of OF_PEOPLE only where it describes its people."""
    return [name for name in SLICES if name not in OF_PEOPLE or dataset.user_profiles is not None]


def median_lengths(split: Split, name: str) -> dict[str, int]:
    """Bucket → how many items its users had watched before, the median, for one of SLICES; empty ones are left out."""
    lengths = _lengths(split)
    return {bucket: round(np.median(lengths[mine])) for bucket, mine in SLICES[name](split) if mine.any()}


def history_buckets(split: Split) -> Buckets:
    """How many items a user had watched before."""
    within = [f"{low}–{high - 1}" for low, high in pairwise(LENGTHS)]
    names = [f"under {LENGTHS[0]}", *within, f"{LENGTHS[-1]} and more"]
    return _numbered(names, np.searchsorted(LENGTHS, _lengths(split), side="right"))


def popularity_buckets(split: Split) -> Buckets:
    """The target's rank in the catalogue by training counts; ties in item order."""
    counts = split.train.counts
    rank = np.empty(len(counts), np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))  # (I,) 0 = most watched
    edges = [np.ceil(share * len(counts)) for share in TOP_SHARES]
    ends = ["0", *(f"{share:.0%}".rstrip("%") for share in TOP_SHARES), "100"]
    names = [f"{low}–{high}% most watched" for low, high in pairwise(ends)]
    return _numbered(names, np.searchsorted(edges, rank[split.test.targets], side="right"))


def genre_buckets(split: Split) -> Buckets:
    """The target's genres."""
    genres = split.train.catalog.movies["genres"].to_numpy()[split.test.targets]
    each = [set(text.split("|")) if text else {NO_GENRE} for text in genres]
    return [(name, np.array([name in own for own in each])) for name in sorted(set().union(*each))]


def decade_buckets(split: Split) -> Buckets:
    """The decade in which the target was made."""
    years = split.train.catalog.movies["year"].astype("Float64").to_numpy(np.float64, na_value=np.nan)
    decades = years[split.test.targets] // 10 * 10
    known = np.unique(decades[np.isfinite(decades)])
    return [(f"{decade:.0f}s", decades == decade) for decade in known] + [(NO_YEAR, np.isnan(decades))]


def gender_buckets(split: Split) -> Buckets:
    """What users said of their gender; no buckets where the set does not describe its people."""
    return _said(split, "gender", {"F": "women", "M": "men"})


def age_buckets(split: Split) -> Buckets:
    """What users said of their age, in years; no buckets where the set does not describe its people."""
    return _said(split, "age", {age: age.replace("-", "–") for age in AGES})


OF_PEOPLE: dict[str, Callable[[Split], Buckets]] = {"gender": gender_buckets, "age": age_buckets}
SLICES: dict[str, Callable[[Split], Buckets]] = {
    "history length": history_buckets,
    "popularity of the film": popularity_buckets,
    "genre": genre_buckets,
    "decade": decade_buckets,
} | OF_PEOPLE


def _lengths(split: Split) -> np.ndarray:
    """(B,) how many items each user had watched before."""
    return np.array([len(history) for history in split.test.queries.histories])


def _said(split: Split, column: str, names: dict[str, str]) -> Buckets:
    """A bucket for each of `names`, as the table of people has it → as it is shown, and one for who said nothing."""
    people = split.train.user_profiles
    if people is None:
        return []
    said = people[column].to_numpy()[split.test.queries.users]
    return [(name, said == own) for own, name in (names | {"": UNSAID}).items()]


def _numbered(names: list[str], number: np.ndarray) -> Buckets:
    """Buckets from the number (B,) of each query's bucket, an index into `names`."""
    return [(name, number == own) for own, name in enumerate(names)]


def _ranks(dataset: Dataset, protocol: str, variant: str, test: HeldOut) -> np.ndarray:
    """(S, B) ranks, certain to be those of the test queries."""
    document = results.load(dataset.name, protocol, variant)
    ranks = results.comparable_ranks(dataset.name, protocol, variant)
    if document["fingerprint"] != dataset.fingerprint or ranks.shape[1] != len(test):
        raise results.ResultError(
            f"{variant} was measured on another form of {dataset.name}",
            recsys_command("evaluate", variant, "--dataset", dataset.name, "--protocol", protocol),
        )
    return ranks


def _figures(ranks: np.ndarray) -> dict[str, float]:
    """Metrics and intervals of ranks (S, B)."""
    each = [summary(own) for own in ranks]
    means = {name: float(np.mean([metrics[name] for metrics in each])) for name in METRICS}
    found = intervals(ranks)
    bounds = {f"{end} {name}": found[name][at] for name in METRICS for at, end in enumerate(("low", "high"))}
    return means | bounds
