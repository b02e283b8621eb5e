"""Errors of predicted ratings of held-out items, compared with two baselines.

The baselines predict the mean of all ratings, and the film's mean plus an offset of the user.
Shapes: B queries, I items, V = 3 columns: the model, then the two baselines.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from recsys.data.dataset import Dataset, HeldOut, Queries, Split
from recsys.evaluation.significance import bootstrap
from recsys.models.base import Model
from recsys.models.histories import rating_matrix

# names of the baselines in result files
MEAN = "mean"
FILM_AND_PERSON = "film and person"
BATCH_SIZE = 256  # queries whose predicted ratings (B, I) are in memory together


def summary(runs: Sequence[tuple[Model, Split, HeldOut]], dataset: Dataset) -> dict[str, Any]:
    """Return {rmse, mae, interval: {rmse: [low, high], mae: …}, baselines: {MEAN: {rmse, …}, FILM_AND_PERSON: …}}.

    `runs` has the model, the split and the held-out part of each seed. Errors are in stars, averaged over seeds. The
    95 % intervals are over users. Predictions are limited to the range of the training ratings.
    """
    errors = np.mean([_errors(model, split.train, held_out, dataset) for model, split, held_out in runs], 0)
    model_summary, mean, film_and_person = _summaries(errors)
    return model_summary | {"baselines": {MEAN: mean, FILM_AND_PERSON: film_and_person}}


def _errors(model: Model, train: Dataset, held_out: HeldOut, dataset: Dataset) -> np.ndarray:
    """Return squared and absolute errors (B, 2, V) of the targets, in stars² and stars."""
    queries, targets = held_out.queries, held_out.targets
    assert queries.users is not None, "held-out queries have users"
    history_ratings, target_ratings = [], np.empty(len(targets))
    for row, (user, history) in enumerate(zip(queries.users, queries.histories, strict=True)):
        # item → the user's ratings of it, newest first. A repeated item has several: each occurrence pops the oldest
        ratings: dict[int, list[float]] = {}
        for event in range(dataset.offsets[user + 1] - 1, dataset.offsets[user] - 1, -1):
            ratings.setdefault(int(dataset.interactions.item[event]), []).append(dataset.interactions.rating[event])
        history_ratings.append(np.array([ratings[item].pop() for item in history.tolist()], np.float32))
        target_ratings[row] = ratings[int(targets[row])].pop()
    queries = replace(queries, ratings=history_ratings)
    predictions = [_rate_by_model(model, queries, targets), *_rate_by_means(train, queries, targets)]  # V arrays (B,)
    train_ratings = train.interactions.rating
    predicted = np.stack(predictions, 1).clip(train_ratings.min(), train_ratings.max())  # (B, V)
    errors = np.abs(predicted - target_ratings[:, None])
    return np.stack([errors**2, errors], 1)


def _rate_by_model(model: Model, queries: Queries, targets: np.ndarray) -> np.ndarray:
    """Return the model's predicted rating of each target, (B,)."""
    predicted = np.empty(len(targets))
    for start in range(0, len(targets), BATCH_SIZE):
        rows = slice(start, start + BATCH_SIZE)
        all_ratings = model.predicted_ratings(queries[rows])  # (rows, I)
        predicted[rows] = all_ratings[np.arange(len(all_ratings)), targets[rows]]
    return predicted


def _rate_by_means(train: Dataset, queries: Queries, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two predictions (B,): the mean of all training ratings, and film mean plus user offset.

    The offset is the mean of rating - film mean over the history. The film mean of a film without training ratings is
    the mean of all ratings.
    """
    matrix = rating_matrix(train)
    mean = matrix.data.mean()
    counts = np.bincount(matrix.indices, minlength=train.n_items)  # (I,)
    sums = np.bincount(matrix.indices, matrix.data, train.n_items)
    film_means = np.where(counts > 0, sums / np.maximum(counts, 1), mean)
    assert queries.ratings is not None, "`_errors` sets the ratings"
    rated_histories = zip(queries.histories, queries.ratings, strict=True)
    offsets = np.array([(ratings - film_means[history]).mean() for history, ratings in rated_histories])  # (B,)
    return np.full(len(targets), mean), film_means[targets] + offsets


def _summaries(errors: np.ndarray) -> list[dict[str, Any]]:
    """Return RMSE, MAE and their intervals of each column, from squared and absolute errors (B, 2, V)."""
    squared, absolute = errors[:, 0], errors[:, 1]  # (B, V)
    # (3, V): mean, low, high; the root of a percentile is the percentile of the roots
    rmses = np.sqrt([squared.mean(0), *bootstrap(squared)])
    maes = np.array([absolute.mean(0), *bootstrap(absolute)])
    return [
        {"rmse": rmse, "mae": mae, "interval": {"rmse": rmse_interval, "mae": mae_interval}}
        for (rmse, *rmse_interval), (mae, *mae_interval) in zip(rmses.T.tolist(), maes.T.tolist(), strict=True)
    ]
