"""Ranks of held-out items, and the metrics of these ranks.

With one relevant item, HR@k equals Recall@k, and the highest DCG is 1.

Shapes: B queries, I items, S seeds. With several relevant items: D orders of what a user likes, T relevant items.
"""

from collections.abc import Sequence

import numpy as np

from recsys.ranking.ranking import Ranking, ScoreError

CUTOFFS = (1, 5, 10, 20)
MAX_RELEVANT = max(CUTOFFS)  # T
METRICS = (*(f"hr@{k}" for k in CUTOFFS), *(f"ndcg@{k}" for k in CUTOFFS), "mrr")


def target_ranks(scores: np.ndarray, targets: np.ndarray, excluded: Sequence[np.ndarray]) -> np.ndarray:
    """Return the rank of each target, 1 = best, among the items that are not excluded.

    A tie counts against the target: an item with an equal score is ranked above it.

    Args:
        scores: Scores of all items, (B, I). They are not changed.
        targets: Held-out item of each query, (B,).
        excluded: Items that are not ranked, an array for each query. A target is ranked even if it is excluded.

    Returns:
        Ranks, (B,) int64.

    Raises:
        ScoreError: A score is NaN or plus infinity, the score of a target is minus infinity, or the shapes disagree.
    """
    if scores.ndim != 2 or len(scores) != len(targets) or len(excluded) != len(targets):
        raise ScoreError(
            "scores of shape {shape} do not fit {targets} targets: models return (B, I)",
            shape=scores.shape,
            targets=len(targets),
        )
    ranks = np.zeros(len(targets), np.int64)
    for row, (target, items) in enumerate(zip(targets, excluded, strict=True)):
        ranks[row] = Ranking.from_scores(scores[row], items[items != target]).rank_ties_last(target)
    return ranks


def values(ranks: np.ndarray, metric: str) -> np.ndarray:
    """Return the value of a metric for each rank. The mean of the values is the metric.

    With one relevant item, HR@k is 1 and NDCG@k is 1 / log2(1 + rank) for ranks up to k, and 0 otherwise. MRR is
    1 / rank, without a cutoff.

    Args:
        ranks: Ranks of the relevant items, 1 = best, of any shape.
        metric: "mrr", or "hr@k" or "ndcg@k" for any k.

    Returns:
        Values in the shape of `ranks`.

    Raises:
        ValueError: `metric` is another name.
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
    """Return the ranks of the best MAX_RELEVANT relevant items of a query in ascending order, (MAX_RELEVANT,).

    MRR needs the best rank as it is. The others are only compared with cutoffs, so higher ones are MAX_RELEVANT + 1.
    0: the query has no further relevant item.
    """
    best = np.sort(ranks)[:MAX_RELEVANT]
    best[1:] = np.minimum(best[1:], MAX_RELEVANT + 1)
    return np.pad(best, (0, MAX_RELEVANT - len(best)))


def user_values(ranks: np.ndarray, metric: str) -> np.ndarray:
    """Return the value of a metric for each user.

    With several relevant items, HR@k is the number of hits divided by the highest possible number (recall), NDCG@k is
    the DCG divided by the highest possible DCG, and MRR is of the best item. Values are averaged over drawings.

    Args:
        ranks: Ranks of one relevant item of each user, (B,) or (S, B), or `best_ranks`, (B, D, T) or (S, B, D, T).
        metric: As for `values`.

    Returns:
        Values, (B,) or (S, B).
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
