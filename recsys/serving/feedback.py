"""Change the scores of a list by relevance feedback: films like the liked ones rise, films like the disliked ones fall.

    s'(j) = s(j) + STRENGTH · σ · [Σ_i w_i · cos(v_i, v_j) / Σ_i |w_i|]

s are the scores of a model, σ is their standard deviation, v are the vectors of `recsys.text.fields`, and i are the
films with feedback. w is 1 for five stars, 0 for three stars and -1 for one star.

Shapes: I items, F films as numbered by `Catalog.films`, D features.

Reference: Rocchio, in Salton (ed.), The SMART Retrieval System, 1971.
"""

from collections.abc import Mapping
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from recsys.data.dataset import Dataset
from recsys.text.fields import field_vectors

# One thumb replaces about two of ten recommended films. Metrics of validation users do not improve: feedback is for
# visitors who want the list to change (docs/experiments.md).
STRENGTH = 0.75
NEUTRAL_STARS = 3.0
STARS_PER_UNIT = 2.0  # stars above or below NEUTRAL_STARS with a weight of 1 or -1

_vectors: WeakKeyDictionary[Dataset, sparse.csr_array] = WeakKeyDictionary()
_lock = Lock()


def weights(stars: Mapping[int, float]) -> dict[int, float]:
    """Return film → weight from film → stars, without films of weight 0."""
    all_weights = {
        film: float(np.clip((rating - NEUTRAL_STARS) / STARS_PER_UNIT, -1, 1)) for film, rating in stars.items()
    }
    return {film: weight for film, weight in all_weights.items() if weight}


def similarity(dataset: Dataset, film_weights: Mapping[int, float]) -> np.ndarray:
    """Return the weighted mean similarity of each item to the films with feedback, (I,) -1…1."""
    vectors = _film_vectors(dataset)  # (F, D)
    films, w = list(film_weights), np.array([*film_weights.values()])
    profile = vectors[films].T @ (w / np.abs(w).sum())  # (D,)
    return np.asarray(vectors[: dataset.n_items] @ profile)


def adjust(dataset: Dataset, scores: np.ndarray, film_weights: Mapping[int, float]) -> np.ndarray:
    """Return the scores s' of one request from the scores s, both (I,). See the formula of the module."""
    if not film_weights:
        return scores
    return scores + (STRENGTH * scores.std()) * similarity(dataset, film_weights).astype(scores.dtype)


def _film_vectors(dataset: Dataset) -> sparse.csr_array:
    """Return the vectors of all films, (F, D)."""
    with _lock:
        if dataset not in _vectors:
            _vectors[dataset] = field_vectors(dataset.name, dataset.catalog.complete)
        return _vectors[dataset]
