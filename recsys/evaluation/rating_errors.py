"""How many stars somebody gives the hidden film: what models of ratings predict, beside what two plain means predict.

Shapes: S seeds, B queries, I items, V ways to predict: the model, then the baselines.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from recsys.data.dataset import Dataset, HeldOut, Queries, Split
from recsys.evaluation.significance import bootstrap
from recsys.models.base import Model
from recsys.models.histories import rating_matrix

MEAN, FILM_AND_PERSON = "mean", "film and person"  # the baselines, as result files name them
BATCH_SIZE = 256  # queries whose ratings of all items are held together


def summary(
    models: Sequence[Model], splits: Sequence[Split], held_out: Sequence[HeldOut], dataset: Dataset
) -> dict[str, Any]:
    """{rmse, mae, interval: {rmse: [low, high], mae: …}, baselines: {MEAN: {rmse, …}, FILM_AND_PERSON: {rmse, …}}}.

    models, splits, held_out: of each seed; errors are averaged over seeds. Predictions are cut to the range of the
    training ratings. `interval` is the 95 % bootstrap over users.
    """
    given = rating_matrix(dataset)  # (U, I), held-out ratings too
    runs = zip(models, splits, held_out, strict=True)
    errors = np.mean([_errors(model, split.train, part, given) for model, split, part in runs], 0)  # (B, 2, V)
    [own, mean, film_and_person] = _figures(errors)
    return own | {"baselines": {MEAN: mean, FILM_AND_PERSON: film_and_person}}


def _errors(model: Model, train: Dataset, held_out: HeldOut, given: sparse.csr_array) -> np.ndarray:
    """(B, 2, V) squared and absolute errors of what is predicted for each target, in stars² and stars."""
    (queries, actual), targets = _rated(held_out, given), held_out.targets
    predicted = np.stack([_by_model(model, queries, targets), *_by_means(train, queries, targets)], 1)  # (B, V)
    scale = train.interactions.rating
    off = np.abs(predicted.clip(scale.min(), scale.max()) - actual[:, None])
    return np.stack([off**2, off], 1)


def _rated(held_out: HeldOut, given: sparse.csr_array) -> tuple[Queries, np.ndarray]:
    """The queries with the ratings of their histories, and those of the targets (B,), from all ratings (U, I)."""
    assert held_out.queries.users is not None, "held-out queries know their users"
    ratings, actual = [], np.empty(len(held_out))
    for row, (user, history) in enumerate(zip(held_out.queries.users, held_out.queries.histories, strict=True)):
        own = given[[user]].toarray()[0]  # (I,)
        ratings.append(own[history])
        actual[row] = own[held_out.targets[row]]
    return replace(held_out.queries, ratings=ratings), actual


def _by_model(model: Model, queries: Queries, targets: np.ndarray) -> np.ndarray:
    """(B,) the ratings that a model predicts for the targets."""
    found = np.empty(len(targets))
    for start in range(0, len(targets), BATCH_SIZE):
        part = slice(start, start + BATCH_SIZE)
        found[part] = np.take_along_axis(model.predicted_ratings(queries[part]), targets[part, None], 1)[:, 0]
    return found


def _by_means(train: Dataset, queries: Queries, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(B,) the mean of all training ratings, and (B,) the mean of the film plus by how much the person differs.

    That is the mean, over the films of the history, of their rating less the film's mean. A film that nobody rated in
    training has the mean of all.
    """
    known = rating_matrix(train)
    mean, number = known.data.mean(), np.bincount(known.indices, minlength=train.n_items)
    total = np.bincount(known.indices, known.data, train.n_items)
    films = np.where(number > 0, total / np.maximum(number, 1), mean)  # (I,)
    pairs = zip(queries.histories, queries.ratings or [], strict=True)
    differs = np.array([(own - films[history]).mean() for history, own in pairs])  # (B,)
    return np.full(len(targets), mean), films[targets] + differs


def _figures(errors: np.ndarray) -> list[dict[str, Any]]:
    """V times RMSE, MAE and their intervals, from squared and absolute errors (B, 2, V)."""
    low, high = (bound.reshape(errors.shape[1:]) for bound in bootstrap(errors.reshape(len(errors), -1)))  # (2, V)
    found = np.stack([errors.mean(0), low, high])  # (3, 2, V)
    found[:, 0] **= 0.5  # rising, so that the root of a percentile is the percentile of the root
    return [
        {"rmse": rmse, "mae": mae, "interval": {"rmse": [*rmse_range], "mae": [*mae_range]}}
        for (rmse, *rmse_range), (mae, *mae_range) in found.transpose(2, 1, 0).tolist()
    ]
