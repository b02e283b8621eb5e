"""Adjust scores by relevance feedback: films similar to liked films rise, and films similar to disliked films fall.

    s'(j) = s(j) + STRENGTH · σ · [Σ_i w_i · ⟨v_i, v_j⟩ / Σ_i |w_i|]

s(j) is the score of a model for item j, and σ is the standard deviation of all scores. v are the vectors of
`recsys.text.fields`. The sums are over all rated films i. The weight w_i is (stars - 3) / 2, limited to -1…1.

Shapes: I items, F films as numbered by `Catalog.films`, D features.

Reference: Rocchio, in Salton (ed.), The SMART Retrieval System, 1971.
"""

from collections.abc import Mapping

import numpy as np

from recsys.data.dataset import Dataset
from recsys.text.fields import dataset_field_vectors

# Factor of the similarity to liked and disliked films. With this value, one thumb up or down replaces about two of ten
# recommended films. Metrics of validation users do not improve. Feedback is for visitors who want the list to change.
STRENGTH = 0.75
NEUTRAL_STARS = 3.0  # rating with a weight of 0
STARS_PER_UNIT = 2.0  # distance from NEUTRAL_STARS with a weight of 1 or -1


def adjust(dataset: Dataset, scores: np.ndarray, stars: Mapping[int, float]) -> np.ndarray:
    """Return the adjusted scores s', (I,), from the scores s, (I,), and the visitor's ratings, film number → stars."""
    films, ratings = list(stars), np.array([*stars.values()])
    weights = np.clip((ratings - NEUTRAL_STARS) / STARS_PER_UNIT, -1, 1)
    if not weights.any():
        return scores
    film_vectors, item_vectors = dataset_field_vectors(dataset)  # (F, D), (I, D)
    profile = film_vectors[films].T @ (weights / np.abs(weights).sum())  # (D,)
    similarity = np.asarray(item_vectors @ profile)  # (I,) -1…1
    return scores + (STRENGTH * scores.std()) * similarity.astype(scores.dtype)
