"""Beyond accuracy: what the recommended lists are like, whoever was right. Plain NumPy.

Shapes: B lists of K films each, best first, -1 where the films ran out; I items, G genres.
"""

import numpy as np

from recsys.data.schema import Catalog, Dataset


def summary(films: np.ndarray, train: Dataset) -> dict[str, float]:
    """All measures of lists (B, K) by name; popularity is that of the training data."""
    k = films.shape[1]
    shown = np.bincount(films[films >= 0], minlength=train.n_items)  # (I,) lists that each film is in
    return {
        f"coverage@{k}": float(np.mean(shown > 0)),
        f"novelty@{k}": novelty(films, train.counts),
        f"diversity@{k}": diversity(films, genre_vectors(train.catalog)),
        f"popularity@{k}": float(train.counts[films[films >= 0]].mean()),
        f"gini@{k}": gini(shown),
    }


def novelty(films: np.ndarray, counts: np.ndarray) -> float:
    """Mean self-information of the recommended films in bits: -log2 of a film's share of all training events (I,).

    Zhou et al. (PNAS 2010) take the share of users instead, which is less by the same number of bits for every model.
    A film that nobody watched counts as one that was watched once.
    """
    share = np.maximum(counts, 1) / max(counts.sum(), 1)
    return float(-np.log2(share[films[films >= 0]]).mean())


def diversity(films: np.ndarray, vectors: np.ndarray) -> float:
    """1 - the mean cosine between the vectors (I, G) of two films of a list, averaged over lists (B, K).

    Vectors have length 1 or, where nothing is known of a film, 0: such a film is unlike any other. Lists of fewer than
    two films are passed over; 0 where there are only such lists.
    """
    lengths = (films >= 0).sum(1)  # (B,)
    films, lengths = films[lengths > 1], lengths[lengths > 1]
    if not len(films):
        return 0.0
    with_nothing = np.vstack([vectors, np.zeros(vectors.shape[1])])  # -1 finds the last row
    squares = (with_nothing**2).sum(1)[films].sum(1)  # (B,)
    total = sum(with_nothing[column] for column in films.T)  # (B, G): |Σ v|² = Σ |v|² + Σ over ordered pairs of v·w
    cosine = ((total**2).sum(1) - squares) / (lengths * (lengths - 1))
    return float(1 - cosine.mean())


def genre_vectors(catalog: Catalog) -> np.ndarray:
    """(I, G) which genres a film has, scaled to length 1; 0 for a film without genres."""
    table = catalog.movies["genres"].str.get_dummies("|")
    has = table.drop(columns="", errors="ignore").to_numpy(np.float64)  # pandas may take "" for a genre
    return has / np.sqrt(np.maximum(has.sum(1, keepdims=True), 1))


def gini(shown: np.ndarray) -> float:
    """Gini coefficient of how often each film of the catalogue (I,) is shown: 0 all alike, 1 - 1/I one film alone.

    Over ascending x: Σ (2i - I - 1) x_i / (I Σ x), i from 1.
    """
    ascending = np.sort(shown)
    weights = 2 * np.arange(1, len(shown) + 1) - len(shown) - 1
    return float((weights * ascending).sum() / (len(shown) * max(ascending.sum(), 1)))
