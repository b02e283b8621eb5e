"""Ranks of held-out items, and the metrics that follow from them. Plain NumPy.

Each query has one relevant item, so HR@k equals Recall@k, and the ideal DCG is 1. Shapes: B queries, I items.
"""

from collections.abc import Sequence

import numpy as np

from recsys.ranking.ranking import Ranking, ScoreError

__all__ = ["CUTOFFS", "METRICS", "ScoreError", "hit_rate", "mrr", "ndcg", "summary", "target_ranks", "values"]

CUTOFFS = (1, 5, 10, 20)
METRICS = (*(f"hr@{k}" for k in CUTOFFS), *(f"ndcg@{k}" for k in CUTOFFS), "mrr")


def target_ranks(scores: np.ndarray, targets: np.ndarray, seen: Sequence[np.ndarray]) -> np.ndarray:
    """(B,) rank of each target among the items that are not in `seen`, 1 = best; every tie counts against the target.

    scores (B, I), targets (B,), seen: B arrays of items. A target that is in `seen` competes all the same. `scores` is
    not changed. Raises ScoreError for a score that is NaN or plus infinity, for a target at minus infinity, and for a
    shape that does not fit.
    """
    if scores.ndim != 2 or len(scores) != len(targets) or len(seen) != len(targets):
        raise ScoreError(f"scores of shape {scores.shape} do not fit {len(targets)} targets: models return (B, I)")
    ranks = np.zeros(len(targets), np.int64)
    for row, (target, items) in enumerate(zip(targets, seen, strict=True)):
        ranks[row] = Ranking.of(scores[row], items[items != target]).rank_ties_last(target)
    return ranks


def values(ranks: np.ndarray, metric: str) -> np.ndarray:
    """What each rank contributes to a metric such as "ndcg@10", in the shape of `ranks`; the mean is the metric.

    HR@k: 1 for ranks up to k. NDCG@k, with one relevant item: 1 / log2(1 + rank) for ranks up to k. MRR: 1 / rank, over
    the whole list. Raises ValueError for another name.
    """
    if metric == "mrr":
        return 1 / ranks
    name, _, k = metric.partition("@")
    if name not in ("hr", "ndcg") or not k.isdecimal():
        raise ValueError(f"no metric is called {metric}; there are: {', '.join(METRICS)}")
    within = ranks <= int(k)
    return within.astype(np.float64) if name == "hr" else np.where(within, 1 / np.log2(1 + ranks), 0)


def hit_rate(ranks: np.ndarray, k: int) -> float:
    """HR@k: the share of targets whose rank is at most k."""
    return float(np.mean(values(ranks, f"hr@{k}")))


def ndcg(ranks: np.ndarray, k: int) -> float:
    """NDCG@k with one relevant item: the mean of 1 / log2(1 + rank) where rank ≤ k, else 0."""
    return float(np.mean(values(ranks, f"ndcg@{k}")))


def mrr(ranks: np.ndarray) -> float:
    """Mean reciprocal rank over the whole list."""
    return float(np.mean(values(ranks, "mrr")))


def summary(ranks: np.ndarray) -> dict[str, float]:
    """All metrics of some ranks, by name: {"hr@10": …, "ndcg@10": …, "mrr": …}."""
    return {name: float(np.mean(values(ranks, name))) for name in METRICS}
