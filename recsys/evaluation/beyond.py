"""Beyond accuracy: what the recommended lists are like, right or wrong. Plain NumPy.

Shapes: B lists of K items each, best first, -1 where no more items were left; I items, G genres.
"""

import numpy as np

from recsys.data.dataset import Dataset
from recsys.data.statistics import gini
from recsys.text.films import genre_vectors


def summary(items: np.ndarray, train: Dataset) -> dict[str, float]:
    """All measures of lists (B, K) by name; popularity is that of the training data."""
    k = items.shape[1]
    shown = np.bincount(items[items >= 0], minlength=train.n_items)  # (I,) lists that each item is in
    return {
        f"coverage@{k}": float(np.mean(shown > 0)),
        f"novelty@{k}": novelty(items, train.counts),
        f"diversity@{k}": diversity(items, genre_vectors(train.catalog).astype(np.float64)),
        f"popularity@{k}": float(train.counts[items[items >= 0]].mean()),
        f"gini@{k}": gini(shown),
    }


def novelty(items: np.ndarray, counts: np.ndarray) -> float:
    """Mean self-information of the recommended items in bits: -log2 of an item's share of all training events.

    counts (I,). Zhou et al. (PNAS 2010) take the share of users instead, which is less by the same number of bits for
    every model.
    An item that nobody watched counts as if watched once.
    """
    share = np.maximum(counts, 1) / max(counts.sum(), 1)
    return float(-np.log2(share[items[items >= 0]]).mean())


def diversity(items: np.ndarray, vectors: np.ndarray) -> float:
    """1 - the mean cosine between the vectors (I, G) of two items of a list, averaged over lists (B, K).

    Vectors have length 1 or, where nothing is known of an item, 0: it counts as unlike any other. Lists of fewer than
    two items are left out; 0 where no others are there.
    """
    lengths = (items >= 0).sum(1)  # (B,)
    items, lengths = items[lengths > 1], lengths[lengths > 1]
    if not len(items):
        return 0.0
    with_none = np.vstack([vectors, np.zeros(vectors.shape[1])])  # -1 is its last row
    squares = (with_none**2).sum(1)[items].sum(1)  # (B,)
    total = sum(with_none[column] for column in items.T)  # (B, G): |Σ v|² = Σ |v|² + Σ over ordered pairs of v·w
    cosine = ((total**2).sum(1) - squares) / (lengths * (lengths - 1))
    return float(1 - cosine.mean())
