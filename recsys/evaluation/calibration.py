"""Are items that are recommended with 20 % the next one in a fifth of the cases? Plain NumPy.

A prediction is an item of a recommended list with its probability; it comes true when that item is the next one.
Shapes: B lists of K predictions each, best first; P predictions in all.
"""

from typing import Any

import numpy as np

BINS = 10


def calibration(items: np.ndarray, probabilities: np.ndarray, targets: np.ndarray) -> dict[str, Any]:
    """How probabilities compare with what happened; items (B, K), -1: none; probabilities (B, K); targets (B,).

    ece: expected calibration error, Σ share · |hit rate - predicted| over the bins.
    by_rank: mean predicted probability and hit rate at rank 1…K, which shows over-confidence (arXiv:2308.07192).
    bins: the reliability table. Bins hold equally many predictions, ascending (adaptive, arXiv:1904.01685): with bins
    of equal width nearly all predictions would fall into the first.
    """
    given, hits = items >= 0, items == targets[:, None]  # (B, K)
    bins = reliability(probabilities[given], hits[given])
    ranks = [column for column in range(items.shape[1]) if given[:, column].any()]
    return {
        "ece": float(sum(row["share"] * abs(row["hit_rate"] - row["predicted"]) for row in bins)),
        "by_rank": {
            "predicted": [float(probabilities[given[:, rank], rank].mean()) for rank in ranks],
            "hit_rate": [float(hits[given[:, rank], rank].mean()) for rank in ranks],
        },
        "bins": bins,
    }


def reliability(probabilities: np.ndarray, hits: np.ndarray) -> list[dict[str, float]]:
    """Mean probability, hit rate and share of all predictions (P,) in up to BINS bins of equal size, ascending."""
    order = np.argsort(probabilities, kind="stable")
    return [
        {
            "predicted": float(probabilities[rows].mean()),
            "hit_rate": float(hits[rows].mean()),
            "share": len(rows) / len(order),
        }
        for rows in np.array_split(order, BINS)
        if len(rows)
    ]
