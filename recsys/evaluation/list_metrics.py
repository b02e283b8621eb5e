"""Metrics of recommended lists beyond accuracy, and the calibration of their probabilities.

A list ends with -1 if too few items are left.
Shapes: B lists, K items of a list, I items, G genres, S seeds, P predictions.
"""

from typing import Any

import numpy as np
import pandas as pd

from recsys.data.dataset import Dataset, Queries
from recsys.data.statistics import gini
from recsys.models.base import Model
from recsys.ranking.ranking import Ranking
from recsys.text.films import genre_vectors

CALIBRATION_BINS = 10
MAX_RANK = 100  # the highest rank in tables by rank, as in figure 1 of gSASRec
RANK_BINS = 12  # number of bins of `target_share_by_rank`, about equally wide on a log axis


def beyond_accuracy(items: np.ndarray, train: Dataset) -> dict[str, float]:
    """Return the metrics of lists (B, K) by name. Popularity is the mean number of training events of a listed item."""
    k = items.shape[1]
    listed_items = items[items >= 0]
    counts = np.bincount(listed_items, minlength=train.n_items)  # (I,) lists that contain each item
    return {
        f"coverage@{k}": float(np.mean(counts > 0)),
        f"novelty@{k}": novelty(items, train.counts),
        f"diversity@{k}": diversity(items, genre_vectors(train.catalog).astype(np.float64)),
        f"popularity@{k}": float(train.counts[listed_items].mean()),
        f"gini@{k}": gini(counts),
    }


def novelty(items: np.ndarray, counts: np.ndarray) -> float:
    """Return the mean self-information of listed items in bits: -log2 of their share of all training events.

    `counts` (I,) has the number of training events of each item. 0 counts as 1. Zhou et al. (PNAS 2010) use the share
    of users. So their values are lower by log2(events / users), for all models.
    """
    share = np.maximum(counts, 1) / max(counts.sum(), 1)
    return float(-np.log2(share[items[items >= 0]]).mean())


def diversity(items: np.ndarray, vectors: np.ndarray) -> float:
    """Return 1 - mean cosine of the pairs of items in a list, averaged over lists with at least two items.

    It is 0 if there are no such lists. Vectors (I, G) have length 1, or 0 for an item without genres.
    """
    lengths = (items >= 0).sum(1)  # (B,)
    items, lengths = items[lengths > 1], lengths[lengths > 1]
    if not len(items):
        return 0.0
    padded_vectors = np.vstack([vectors, np.zeros(vectors.shape[1])])  # item -1 is the last row
    squared_norms = (padded_vectors**2).sum(1)[items].sum(1)  # (B,) Σ |v|²
    vector_sums = sum(padded_vectors[column] for column in items.T)  # (B, G) Σ v
    # |Σ v|² - Σ |v|² is the sum of v·w over the ordered pairs of different items v, w
    cosine = ((vector_sums**2).sum(1) - squared_norms) / (lengths * (lengths - 1))
    return float(1 - cosine.mean())


def calibration(items: np.ndarray, probabilities: np.ndarray, targets: np.ndarray) -> dict[str, Any]:
    """Compare the probabilities (B, K) of listed items with their hit rates.

    "ece" is the expected calibration error, Σ share · |hit rate - predicted| over the bins of `reliability`. "by_rank"
    has the mean predicted probability and the hit rate at ranks 1 to K (arXiv:2308.07192).
    """
    is_listed, hits = items >= 0, items == targets[:, None]  # (B, K)
    bins = reliability(probabilities[is_listed], hits[is_listed])
    columns = np.flatnonzero(is_listed.any(0))  # rank - 1 of each rank at which a list has an item
    return {
        "ece": float(sum(row["share"] * abs(row["hit_rate"] - row["predicted"]) for row in bins)),
        "by_rank": {
            "predicted": [float(probabilities[is_listed[:, column], column].mean()) for column in columns],
            "hit_rate": [float(hits[is_listed[:, column], column].mean()) for column in columns],
        },
        "bins": bins,
    }


def reliability(probabilities: np.ndarray, hits: np.ndarray) -> list[dict[str, float]]:
    """Return predicted probability, hit rate and share of the predictions (P,) of each bin, in ascending order.

    Bins have equally many predictions (arXiv:1904.01685). With equal widths, the first bin would have nearly all.
    """
    order = np.argsort(probabilities, kind="stable")
    return [
        {
            "predicted": float(probabilities[rows].mean()),
            "hit_rate": float(hits[rows].mean()),
            "share": len(rows) / len(order),
        }
        for rows in np.array_split(order, CALIBRATION_BINS)
        if len(rows)
    ]


def probabilities_by_rank(model: Model, query: Queries) -> pd.DataFrame:
    """Return a table of the top MAX_RANK items of one query, empty if the model has no probabilities.

    Columns: rank (from 1), item, probability. With a softmax, probabilities sum to 1 over the items outside the
    history. A sigmoid gives each item its own probability.
    """
    ranking = Ranking.from_scores(model.score(query)[0], query.histories[0], model.log_probabilities)
    items = ranking.top(MAX_RANK)
    probabilities = ranking.probabilities(items)
    if probabilities is None:
        items, probabilities = items[:0], np.empty(0)
    return pd.DataFrame({"rank": np.arange(1, len(items) + 1), "item": items, "probability": probabilities})


def target_share_by_rank(ranks: np.ndarray) -> pd.DataFrame:
    """Return the share of the targets per rank, a row for each bin of the ranks 1 to MAX_RANK.

    `ranks` (S, B) has the ranks of the targets. Columns: rank (middle of the bin on a log axis), first and last (ranks
    of the bin), share (of the targets that are in the bin, divided by the number of ranks in the bin).
    """
    edges = np.unique(np.geomspace(1, MAX_RANK + 1, RANK_BINS + 1).round().astype(int))
    first_ranks, last_ranks = edges[:-1], edges[1:] - 1
    bins = zip(first_ranks, last_ranks, strict=True)
    bin_shares = [np.mean((ranks >= low) & (ranks <= high)) for low, high in bins]
    table = pd.DataFrame({"rank": np.sqrt(first_ranks * last_ranks), "first": first_ranks, "last": last_ranks})
    return table.assign(share=bin_shares / (last_ranks - first_ranks + 1))
