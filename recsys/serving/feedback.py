"""Change the scores of a list by relevance feedback: films like the liked ones rise, films like the disliked ones fall.

    s'(j) = s(j) + STRENGTH · σ · [Σ_i w_i · cos(v_i, v_j) / Σ_i |w_i|]

s are the scores of a model, σ is their standard deviation, v are the vectors of `recsys.text.fields`, and i are the
films with feedback. w is 1 for five stars, 0 for three stars and -1 for one star.

Shapes: B requests, I items, F films as numbered by `Catalog.films`, D features.

Reference: Rocchio, in Salton (ed.), The SMART Retrieval System, 1971.
"""

from collections.abc import Mapping
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from recsys.data.dataset import Dataset
from recsys.text.fields import field_vectors

STRENGTH = 0.75  # changes two of ten films; the metrics of validation users do not improve, docs/experiments.md
NEUTRAL_STARS = 3.0
STARS_PER_UNIT = 2.0  # stars above or below NEUTRAL_STARS with a weight of 1 or -1

_vectors: WeakKeyDictionary[Dataset, sparse.csr_array] = WeakKeyDictionary()
_lock = Lock()


def weights(stars: Mapping[int, float]) -> dict[int, float]:
    """Return film → w from film → stars, without films of weight 0."""
    by_film = {film: float(np.clip((value - NEUTRAL_STARS) / STARS_PER_UNIT, -1, 1)) for film, value in stars.items()}
    return {film: weight for film, weight in by_film.items() if weight}


def similarity(dataset: Dataset, film_weights: Mapping[int, float]) -> np.ndarray:
    """Return the weighted mean similarity of each item to the films with feedback, (I,) -1…1."""
    vectors = _film_vectors(dataset)  # (F, D)
    films, values = list(film_weights), np.array([*film_weights.values()])
    profile = vectors[films].T @ (values / np.abs(values).sum())  # (D,)
    return np.asarray(vectors[: dataset.n_items] @ profile)


def adjust(dataset: Dataset, scores: np.ndarray, film_weights: Mapping[int, float]) -> np.ndarray:
    """Return the scores (I,) of one request with feedback, see above."""
    if not film_weights:
        return scores
    return scores + (STRENGTH * scores.std()) * similarity(dataset, film_weights).astype(scores.dtype)


def _film_vectors(dataset: Dataset) -> sparse.csr_array:
    """Return the vectors of all films, (F, D)."""
    with _lock:
        if dataset not in _vectors:
            _vectors[dataset] = field_vectors(dataset.name, dataset.catalog.complete)
        return _vectors[dataset]
