"""Ranks of held-out items, 1 = best, and the metrics of these ranks.

Some protocols hold out several relevant items per user. They split the items of a user several times, each time in
another random order.

Shapes: B queries or users, I items, S seeds, D orders of a user's items, T = MAX_RELEVANT.
"""

from collections.abc import Sequence

import numpy as np

from recsys.ranking.ranking import Ranking, ScoreError

CUTOFFS = (1, 5, 10, 20)
MAX_RELEVANT = max(CUTOFFS)  # stored ranks of a user's relevant items
METRICS = (*(f"hr@{k}" for k in CUTOFFS), *(f"ndcg@{k}" for k in CUTOFFS), "mrr")


def target_ranks(scores: np.ndarray, targets: np.ndarray, excluded: Sequence[np.ndarray]) -> np.ndarray:
    """Return the rank (B,) int64 of each target (B,) among the items that are not excluded, from scores (B, I).

    Items with the score of the target are ranked above it. `excluded` has an array of items for each query. If the
    target is in this array, all items are ranked. Raises ScoreError if a score is NaN or plus infinity, if the score of
    a target is minus infinity, or if the shapes disagree.
    """
    if scores.ndim != 2 or len(scores) != len(targets) or len(excluded) != len(targets):
        text = "scores of shape {shape} do not fit {targets} targets: a model must return (B, I)"
        raise ScoreError(text, shape=scores.shape, targets=len(targets))
    ranks = [
        Ranking.from_scores(row, None if (items == target).any() else items).rank_ties_last(target)
        for row, target, items in zip(scores, targets, excluded, strict=True)
    ]
    return np.array(ranks, np.int64)


def rank_values(ranks: np.ndarray, metric: str) -> np.ndarray:
    """Return the value of a metric for each rank, in the shape of `ranks`, if a query has only one relevant item.

    `metric` is "mrr", or "hr@k" or "ndcg@k" for any k. For ranks up to k, HR@k is 1, like Recall@k, and NDCG@k is
    1 / log2(1 + rank). Above k, both are 0. MRR is 1 / rank, without a cutoff. Raises ValueError for another name.
    """
    if metric == "mrr":
        return 1 / ranks
    name, _, k = metric.partition("@")
    if name not in ("hr", "ndcg") or not k.isdecimal():
        raise ValueError(f"no metric is called {metric}; choose one of: {', '.join(METRICS)}")
    is_hit = ranks <= int(k)
    return is_hit.astype(np.float64) if name == "hr" else np.where(is_hit, 1 / np.log2(1 + ranks), 0)


def ndcg(ranks: np.ndarray, k: int) -> float:
    """Return the mean NDCG@k of ranks, 1 = best."""
    return float(np.mean(rank_values(ranks, f"ndcg@{k}")))


def mrr(ranks: np.ndarray) -> float:
    """Return the mean reciprocal rank of ranks, 1 = best."""
    return float(np.mean(rank_values(ranks, "mrr")))


def best_ranks(ranks: np.ndarray) -> np.ndarray:
    """Return the T lowest ranks of a query's relevant items, ascending, (T,). With fewer items, 0 fills the end.

    MRR needs the exact best rank. The other ranks are only compared with cutoffs, so ranks above T become T + 1.
    """
    best = np.sort(ranks)[:MAX_RELEVANT]
    best[1:] = np.minimum(best[1:], MAX_RELEVANT + 1)
    return np.pad(best, (0, MAX_RELEVANT - len(best)))


def user_values(ranks: np.ndarray, metric: str) -> np.ndarray:
    """Return the value of a metric for each user, (B,) or (S, B).

    With one relevant item per user, `ranks` are (B,) or (S, B). With several, they are the `best_ranks` of each order,
    (B, D, T) or (S, B, D, T), and the values are averaged over the D orders. HR@k is then the number of hits divided by
    the highest possible number, NDCG@k is the DCG divided by the highest possible DCG, and MRR is 1 / the best rank.
    """
    if ranks.ndim <= 2:
        return rank_values(ranks, metric)
    if metric == "mrr":
        return rank_values(ranks[..., 0], metric).mean(-1)  # not the others, because `best_ranks` has changed them
    gains = np.where(ranks > 0, rank_values(np.maximum(ranks, 1), metric), 0)
    n_relevant = (ranks > 0).sum(-1)
    highest_sums = rank_values(np.arange(1, ranks.shape[-1] + 1), metric).cumsum()  # (T,) if 1…T items are relevant
    return (gains.sum(-1) / highest_sums[n_relevant - 1]).mean(-1)


def summary(ranks: np.ndarray) -> dict[str, float]:
    """Return the means of all METRICS by name: {"hr@10": …, "ndcg@10": …, "mrr": …}. For `ranks`, see `user_values`."""
    return {name: float(np.mean(user_values(ranks, name))) for name in METRICS}
