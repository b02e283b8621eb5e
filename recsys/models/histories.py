"""Histories as sparse matrices, for the models without a network.

Shapes: B histories, I items, E events (items of all histories, with repetitions), N distinct pairs of history and item.
"""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from recsys.data.dataset import Dataset


def distinct_items(histories: Sequence[np.ndarray], n_items: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each distinct item of each history, sorted by history, then item.

    Returns:
        Index of the history, item and age, (N,) each. The newest item of a history has age 0, the item before it age 1.
        A repeated item has the age of its newest occurrence.
    """
    row = np.repeat(np.arange(len(histories)), [len(history) for history in histories])  # (E,)
    empty = np.empty(0, np.int64)  # because `concatenate` needs at least one array
    item = np.concatenate([*histories, empty]).astype(np.int64)  # (E,)
    age = np.concatenate([*(np.arange(len(history))[::-1] for history in histories), empty])  # (E,)
    pair = row * n_items + item  # (E,)
    _, reversed_index = np.unique(pair[::-1], return_index=True)  # (N,), `np.unique` returns first occurrences
    event = len(row) - 1 - reversed_index  # (N,), last occurrence of each pair
    return row[event], item[event], age[event]


def history_matrix(
    histories: Sequence[np.ndarray],
    n_items: int,
    ratings: Sequence[np.ndarray] | None = None,
    unrated_value: float = 1.0,
) -> sparse.csr_array:
    """Return the rating of each item of each history, (B, I) float32, or `unrated_value` for an item without a rating.

    `ratings` are the ratings of the items of each history, NaN for none. The last rating of a repeated item counts.
    """
    row, item, age = distinct_items(histories, n_items)
    values = np.full(len(item), unrated_value, np.float32)
    if ratings is not None:
        ends = np.cumsum([len(history) for history in histories], dtype=np.int64)
        event = ends[row] - 1 - age  # (N,), last occurrence of each pair
        rating = np.concatenate([*ratings, np.empty(0)])[event]
        values = np.where(np.isnan(rating), values, rating).astype(np.float32)
    indices = row.astype(np.int32), item.astype(np.int32)  # half the memory of int64
    return sparse.csr_array((values, indices), shape=(len(histories), n_items))


def rating_matrix(dataset: Dataset) -> sparse.csr_array:
    """Return all ratings, (users, I) float32. A watched item without a rating has the value NaN."""
    ratings = np.split(np.asarray(dataset.interactions.rating), dataset.offsets[1:-1])
    return history_matrix(dataset.histories, dataset.n_items, ratings, unrated_value=np.nan)


def profile_weights(histories: Sequence[np.ndarray], n_items: int, half_life: float = np.inf) -> sparse.csr_array:
    """Return the weight of each item in its history, (B, I) float32. Rows sum to 1, or to 0 for an empty history.

    An item has half the weight of an item watched `half_life` items later. A repeated item counts once, at its last
    position.
    """
    row, item, age = distinct_items(histories, n_items)
    weight = 0.5 ** (age / half_life)
    total = np.bincount(row, weights=weight, minlength=len(histories))
    weight = (weight / total[row]).astype(np.float32)
    bounds = np.searchsorted(row, np.arange(len(histories) + 1))  # (B+1,), where each history's items start and end
    # rows and columns in place of `bounds` would double the time for one history
    return sparse.csr_array((weight, item, bounds), shape=(len(histories), n_items))


def transition_counts(
    groups: np.ndarray, items: np.ndarray, n_items: int, distance: int, weight: float = 1.0, dtype: type = np.float32
) -> sparse.csr_array:
    """Return `weight` times the number of pairs of events in which item j follows item i, (I, I).

    A pair has events of the same group, exactly `distance` positions apart, at least one. `groups` (E,) are the users
    or sessions of the events, and `items` (E,) their items. Events of a group are adjacent, oldest first.
    """
    earlier = np.flatnonzero(groups[distance:] == groups[:-distance])
    weights: np.ndarray = np.full(len(earlier), weight, dtype)
    return sparse.csr_array((weights, (items[earlier], items[earlier + distance])), shape=(n_items, n_items))
