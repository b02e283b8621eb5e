"""Ranks of held-out items, 1 = best, and the metrics of these ranks.

Shapes: B queries or users, I items, S seeds. With several relevant items: D orders of a user's items, T ranks of each.
"""

from collections.abc import Sequence

import numpy as np

from recsys.ranking.ranking import Ranking, ScoreError

CUTOFFS = (1, 5, 10, 20)
MAX_RELEVANT = max(CUTOFFS)  # T
METRICS = (*(f"hr@{k}" for k in CUTOFFS), *(f"ndcg@{k}" for k in CUTOFFS), "mrr")


def target_ranks(scores: np.ndarray, targets: np.ndarray, excluded: Sequence[np.ndarray]) -> np.ndarray:
    """Return the rank (B,) int64 of each target (B,) among the items that are not excluded, from scores (B, I).

    Items with an equal score are ranked above the target. `excluded` has an array of items for each query. A target is
    ranked even if it is excluded. Raises ScoreError if a score is NaN or plus infinity, if the score of a target is
    minus infinity, or if the shapes disagree.
    """
    if scores.ndim != 2 or len(scores) != len(targets) or len(excluded) != len(targets):
        text = "scores of shape {shape} do not fit {targets} targets: models return (B, I)"
        raise ScoreError(text, shape=scores.shape, targets=len(targets))
    ranks = [
        Ranking.from_scores(row, items[items != target]).rank_ties_last(target)
        for row, target, items in zip(scores, targets, excluded, strict=True)
    ]
    return np.array(ranks, np.int64)


def values(ranks: np.ndarray, metric: str) -> np.ndarray:
    """Return the value of a metric for the rank of a query's only relevant item. `ranks` has any shape.

    `metric` is "mrr", or "hr@k" or "ndcg@k" for any k. For ranks up to k, HR@k is 1, like Recall@k, and NDCG@k is
    1 / log2(1 + rank). Above k, both are 0. MRR is 1 / rank, without a cutoff. Raises ValueError for another name.
    """
    if metric == "mrr":
        return 1 / ranks
    name, _, k = metric.partition("@")
    if name not in ("hr", "ndcg") or not k.isdecimal():
        raise ValueError(f"no metric is called {metric}; there are: {', '.join(METRICS)}")
    is_hit = ranks <= int(k)
    return is_hit.astype(np.float64) if name == "hr" else np.where(is_hit, 1 / np.log2(1 + ranks), 0)


def ndcg(ranks: np.ndarray, k: int) -> float:
    """Return the mean NDCG@k of ranks, 1 = best."""
    return float(np.mean(values(ranks, f"ndcg@{k}")))


def mrr(ranks: np.ndarray) -> float:
    """Return the mean reciprocal rank of ranks, 1 = best."""
    return float(np.mean(values(ranks, "mrr")))


def best_ranks(ranks: np.ndarray) -> np.ndarray:
    """Return the T = MAX_RELEVANT lowest ranks of a query's relevant items, ascending, (T,). 0: no further item.

    MRR needs the best rank as it is. The other ranks are only compared with cutoffs, so they are at most T + 1.
    """
    best = np.sort(ranks)[:MAX_RELEVANT]
    best[1:] = np.minimum(best[1:], MAX_RELEVANT + 1)
    return np.pad(best, (0, MAX_RELEVANT - len(best)))


def user_values(ranks: np.ndarray, metric: str) -> np.ndarray:
    """Return the value of a metric for each user, (B,) or (S, B).

    `ranks` are of one relevant item of each user, (B,) or (S, B), or they are `best_ranks`, (B, D, T) or (S, B, D, T).
    With several relevant items, HR@k is the number of hits divided by the highest possible number (recall), NDCG@k is
    the DCG divided by the highest possible DCG, and MRR is of the best item. Values are averaged over the D orders.
    """
    if ranks.ndim <= 2:
        return values(ranks, metric)
    gains = np.where(ranks > 0, values(np.maximum(ranks, 1), metric), 0)
    if metric == "mrr":
        return gains.max(-1).mean(-1)
    highest = values(np.arange(1, ranks.shape[-1] + 1), metric).cumsum()  # (T,)
    return (gains.sum(-1) / highest[(ranks > 0).sum(-1) - 1]).mean(-1)


def summary(ranks: np.ndarray) -> dict[str, float]:
    """Return the means of all METRICS by name: {"hr@10": …, "ndcg@10": …, "mrr": …}. For `ranks`, see `user_values`."""
    return {name: float(np.mean(user_values(ranks, name))) for name in METRICS}
