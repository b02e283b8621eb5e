"""Ranks and what follows from them, in plain NumPy.

One film is right for each query, so HR@k equals Recall@k, and the ideal DCG is 1. Shapes: B queries, I items.
"""

from collections.abc import Sequence

import numpy as np

CUTOFFS = (1, 5, 10, 20)
METRICS = (*(f"hr@{k}" for k in CUTOFFS), *(f"ndcg@{k}" for k in CUTOFFS), "mrr")


class ScoreError(ValueError):
    """Scores from which no rank can be taken."""


def target_ranks(scores: np.ndarray, targets: np.ndarray, seen: Sequence[np.ndarray]) -> np.ndarray:
    """(B,) rank of each target among all films that are not in `seen`, 1 = best; a tie counts against the target.

    scores (B, I), targets (B,), seen: B arrays of items. `scores` is not changed.
    Raises ScoreError for NaN, infinite target scores or a shape that does not fit.
    """
    if scores.ndim != 2 or len(scores) != len(targets) or len(seen) != len(targets):
        raise ScoreError(f"scores of shape {scores.shape} do not fit {len(targets)} targets: models return (B, I)")
    if np.isnan(scores).any():
        raise ScoreError("the model returned NaN scores; train it again with a lower learning rate")
    rows = np.arange(len(targets))
    target_scores = scores[rows, targets][:, None]  # (B, 1)
    if not np.isfinite(target_scores).all():
        raise ScoreError("the model returned infinite scores; train it again with a lower learning rate")
    ahead = scores >= target_scores  # (B, I)
    for row, items in enumerate(seen):
        ahead[row, items] = False
    ahead[rows, targets] = False  # a target that was seen before must not hide itself, nor count against itself
    return 1 + ahead.sum(1)


def values(ranks: np.ndarray, metric: str) -> np.ndarray:
    """What each rank contributes to a metric such as "ndcg@10", in the shape of `ranks`; their mean is the metric.

    HR@k: 1 for a rank of k or better. NDCG@k with one relevant film: 1 / log2(1 + rank) for those. MRR: 1 / rank, over
    the whole list. Raises ValueError for another name.
    """
    if metric == "mrr":
        return 1 / ranks
    name, _, k = metric.partition("@")
    if name not in ("hr", "ndcg") or not k.isdecimal():
        raise ValueError(f"no metric is called {metric}; there are: {', '.join(METRICS)}")
    among = ranks <= int(k)
    return among.astype(np.float64) if name == "hr" else np.where(among, 1 / np.log2(1 + ranks), 0)


def hit_rate(ranks: np.ndarray, k: int) -> float:
    """HR@k: the share of targets among the first k."""
    return float(np.mean(values(ranks, f"hr@{k}")))


def ndcg(ranks: np.ndarray, k: int) -> float:
    """NDCG@k with one relevant film: mean of 1 / log2(1 + rank) where rank ≤ k, else 0."""
    return float(np.mean(values(ranks, f"ndcg@{k}")))


def mrr(ranks: np.ndarray) -> float:
    """Mean reciprocal rank over the whole list."""
    return float(np.mean(values(ranks, "mrr")))


def summary(ranks: np.ndarray) -> dict[str, float]:
    """All metrics of one set of ranks, by name: {"hr@10": …, "ndcg@10": …, "mrr": …}."""
    return {name: float(np.mean(values(ranks, name))) for name in METRICS}
