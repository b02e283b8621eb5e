"""For whom, and for which films, a model works: its metrics by history length and by the film that came next.

From the ranks in a result file and the data set; neither the model nor torch is needed. Shapes: S seeds, B queries, I
items.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pandas as pd

from recsys.data.schema import Dataset, HeldOut, Split
from recsys.data.split import split
from recsys.evaluation import results
from recsys.evaluation.certainty import bootstrap, intervals
from recsys.evaluation.metrics import METRICS, summary, values

LENGTHS = (10, 20, 50, 100, 200)  # films of a history, at which the next bucket begins
TOP_SHARES = (0.01, 0.1, 0.5)  # of the catalogue, the most watched films first
NO_GENRE, NO_YEAR = "(none)", "unknown"

Buckets = list[tuple[str, np.ndarray]]  # names in the order to be shown, and which of the queries (B,) belong there


def slices(dataset: Dataset, protocol: str, variant: str) -> pd.DataFrame:
    """One row per bucket that is not empty: slice, bucket, users, METRICS, "low <metric>", "high <metric>".

    Metrics are means over seeds, the interval is that of 95 % over the bucket's users. A target of several genres is in
    the bucket of each. Raises ResultError where the result is not of this data.
    """
    parts = split(dataset, protocol)
    ranks = _ranks(dataset, protocol, variant, parts.test)
    rows = [
        {"slice": name, "bucket": bucket, "users": int(mine.sum()), **_figures(ranks[:, mine])}
        for name, cut in SLICES.items()
        for bucket, mine in cut(parts)
        if mine.any()
    ]
    bounds = [f"{end} {name}" for name in METRICS for end in ("low", "high")]
    return pd.DataFrame(rows, columns=["slice", "bucket", "users", *METRICS, *bounds])


def side_by_side(parts: Split, ranks: dict[str, np.ndarray], name: str, metric: str) -> pd.DataFrame:
    """One of SLICES for several variants: a row per bucket and variant, bucket, users, variant, value, low, high.

    ranks: variant → (S, B) of the test queries. Value and interval as in `slices`; all variants share the resamples,
    which are what takes time. Empty buckets are left out.
    """
    each = np.stack([values(own, metric).mean(0) for own in ranks.values()], 1)  # (B, V)
    rows = []
    for bucket, mine in SLICES[name](parts):
        if mine.any():
            bounds = zip(list(ranks), each[mine].mean(0), *bootstrap(each[mine]), strict=True)
            rows += [(bucket, int(mine.sum()), *row) for row in bounds]
    return pd.DataFrame(rows, columns=["bucket", "users", "variant", "value", "low", "high"])


def by_history(parts: Split) -> Buckets:
    """How many films a user had watched before."""
    lengths = np.array([len(history) for history in parts.test.queries.histories])
    place = np.searchsorted(LENGTHS, lengths, side="right")
    within = [f"{low}–{high - 1}" for low, high in pairwise(LENGTHS)]
    return _numbered([f"under {LENGTHS[0]}", *within, f"{LENGTHS[-1]} and more"], place)


def by_popularity(parts: Split) -> Buckets:
    """Where the target stands among the films of the catalogue by training counts; ties in item order."""
    counts = parts.train.counts
    standing = np.empty(len(counts), np.int64)
    standing[np.argsort(-counts, kind="stable")] = np.arange(len(counts))  # (I,) 0 = most watched
    edges = [np.ceil(share * len(counts)) for share in TOP_SHARES]
    ends = ["0", *(f"{share:.0%}".rstrip("%") for share in TOP_SHARES), "100"]
    names = [f"{low}–{high} % most watched" for low, high in pairwise(ends)]
    return _numbered(names, np.searchsorted(edges, standing[parts.test.targets], side="right"))


def by_genre(parts: Split) -> Buckets:
    """The target's genres."""
    genres = parts.train.catalog.movies["genres"].to_numpy()[parts.test.targets]
    each = [set(text.split("|")) if text else {NO_GENRE} for text in genres]
    return [(name, np.array([name in own for own in each])) for name in sorted(set().union(*each))]


def by_decade(parts: Split) -> Buckets:
    """The decade in which the target was made."""
    years = parts.train.catalog.movies["year"].astype("Float64").to_numpy(np.float64, na_value=np.nan)
    decades = years[parts.test.targets] // 10 * 10
    known = np.unique(decades[np.isfinite(decades)])
    return [(f"{decade:.0f}s", decades == decade) for decade in known] + [(NO_YEAR, np.isnan(decades))]


SLICES: dict[str, Callable[[Split], Buckets]] = {
    "history length": by_history,
    "popularity of the film": by_popularity,
    "genre": by_genre,
    "decade": by_decade,
}


def _numbered(names: list[str], place: np.ndarray) -> Buckets:
    return [(name, place == number) for number, name in enumerate(names)]


def _ranks(dataset: Dataset, protocol: str, variant: str, test: HeldOut) -> np.ndarray:
    """(S, B) ranks that are certain to be those of the test queries."""
    document, ranks = results.load(dataset.name, protocol, variant), results.ranks(dataset.name, protocol, variant)
    if document["fingerprint"] != dataset.fingerprint or ranks.shape[1] != len(test):
        raise results.ResultError(
            f"{variant} was measured on another form of {dataset.name}; "
            f"run: python -m recsys evaluate {variant} --dataset {dataset.name} --protocol {protocol}"
        )
    return ranks


def _figures(ranks: np.ndarray) -> dict[str, float]:
    """Metrics and intervals of ranks (S, B)."""
    each = [summary(own) for own in ranks]
    means = {name: float(np.mean([metrics[name] for metrics in each])) for name in METRICS}
    found = intervals(ranks)
    bounds = {f"{end} {name}": found[name][at] for name in METRICS for at, end in enumerate(("low", "high"))}
    return means | bounds
