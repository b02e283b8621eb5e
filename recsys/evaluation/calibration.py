"""Does a film recommended with 20 % turn out to be the next one in a fifth of the cases? Plain NumPy.

A prediction is a film of a recommended list with its probability; it is right when that film came next.
Shapes: B lists of K predictions each, best first.
"""

from typing import Any

import numpy as np

BINS = 10


def calibration(films: np.ndarray, chances: np.ndarray, targets: np.ndarray) -> dict[str, Any]:
    """How predicted probabilities compare with what happened; films, chances (B, K), targets (B,), films -1: none.

    ece: expected calibration error, Σ share · |hit rate - predicted| over the bins.
    by_rank: mean predicted probability and hit rate at rank 1…K, the over-confidence that arXiv:2308.07192 shows.
    bins: the reliability table. Bins hold equally many predictions, ascending (adaptive, arXiv:1904.01685): in bins of
    equal width nearly all would fall into the first.
    """
    there, hits = films >= 0, films == targets[:, None]  # (B, K)
    bins = reliability(chances[there], hits[there])
    places = [column for column in range(films.shape[1]) if there[:, column].any()]
    return {
        "ece": float(sum(row["share"] * abs(row["hit_rate"] - row["predicted"]) for row in bins)),
        "by_rank": {
            "predicted": [float(chances[there[:, place], place].mean()) for place in places],
            "hit_rate": [float(hits[there[:, place], place].mean()) for place in places],
        },
        "bins": bins,
    }


def reliability(chances: np.ndarray, hits: np.ndarray) -> list[dict[str, float]]:
    """Mean probability, hit rate and share of all predictions (P,) in up to BINS bins of equal size, ascending."""
    order = np.argsort(chances, kind="stable")
    return [
        {
            "predicted": float(chances[rows].mean()),
            "hit_rate": float(hits[rows].mean()),
            "share": len(rows) / len(order),
        }
        for rows in np.array_split(order, BINS)
        if len(rows)
    ]
