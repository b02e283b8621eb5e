"""What the models without a network share: histories as weights over items, and arrays checked when they are loaded.

Shapes: B queries, U users, I items, E events (items in histories, repeats too), N distinct pairs of query and item.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from scipy import sparse

from recsys.data.schema import Dataset, Queries

FEW = 4  # pairs of query and item for each that there is, from which sorting is quicker than a table of all pairs


def distinct_items(histories: Sequence[np.ndarray], n_items: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(N,) query, item and age (0: the newest) of each item of each history; a repeated item has its last position.

    Sorted by query, then item.
    """
    row = np.repeat(np.arange(len(histories)), [len(history) for history in histories])  # (E,)
    nothing = np.empty(0, np.int64)  # so that there is something to concatenate when there are no queries
    item = np.concatenate([*histories, nothing]).astype(np.int64)  # (E,)
    age = np.concatenate([*(np.arange(len(history))[::-1] for history in histories), nothing])  # (E,)
    last = _last_of_each(row * n_items + item, len(histories) * n_items)
    return row[last], item[last], age[last]


def _last_of_each(keys: np.ndarray, n: int) -> np.ndarray:
    """(N,) where each of the distinct keys (E,) stands for the last time, in order of the keys; they are below n."""
    if len(keys) < n / FEW:
        return len(keys) - 1 - np.unique(keys[::-1], return_index=True)[1]
    place = np.full(n, -1)
    place[keys] = np.arange(len(keys))  # of several the last one stays
    return place[place >= 0]


def profile_weights(histories: Sequence[np.ndarray], n_items: int, half_life: float = np.inf) -> sparse.csr_array:
    """(B, I) float32: how much each item of history b counts; rows sum to 1, that of an empty history to 0.

    An item loses half its weight every `half_life` items before the last. A repeated item counts once, at its last
    position.
    """
    row, item, age = distinct_items(histories, n_items)
    weight = 0.5 ** (age / half_life)
    total = np.bincount(row, weights=weight, minlength=len(histories))
    weight = (weight / total[row]).astype(np.float32)
    return sparse.csr_array((weight, (row, item)), shape=(len(histories), n_items))


def watched(train: Dataset) -> sparse.csr_matrix:
    """(U, I) float32: 1 where a user watched an item, however often."""
    events = train.interactions
    ones = np.ones(len(events), np.float32)
    matrix = sparse.csr_matrix((ones, (events.user, events.item)), shape=(train.n_users, train.n_items))
    matrix.data[:] = 1
    return matrix


def ratings_of(train: Dataset) -> sparse.csr_array:
    """(U, I) float32; of several ratings of an item by one user the last."""
    events = train.interactions
    key = events.user.astype(np.int64) * train.n_items + events.item
    last = len(key) - 1 - np.unique(key[::-1], return_index=True)[1]
    values = events.rating[last].astype(np.float32)
    return sparse.csr_array((values, (events.user[last], events.item[last])), shape=(train.n_users, train.n_items))


def transition_counts(groups: np.ndarray, items: np.ndarray, n_items: int, distance: int) -> sparse.csr_array:
    """(I, I) float32: how often item j came exactly `distance` positions after item i in the same group.

    items (E,), groups (E,): the user or the session of each event; events of a group are adjacent, oldest first.
    """
    same_group = groups[distance:] == groups[:-distance]
    before, after = items[:-distance][same_group], items[distance:][same_group]
    ones = np.ones(len(before), np.float32)
    return sparse.csr_array((ones, (before, after)), shape=(n_items, n_items))


def seen(histories: Sequence[np.ndarray], n_items: int) -> sparse.csr_array:
    """(B, I) float32: 1 where history b holds an item, however often."""
    row, item, _ = distinct_items(histories, n_items)
    return sparse.csr_array((np.ones(len(item), np.float32), (row, item)), shape=(len(histories), n_items))


def stars(queries: Queries, n_items: int, unrated: float) -> sparse.csr_array:
    """(B, I) float32: the rating of each item of history b, of a repeated one the last; `unrated` where it has none."""
    row, item, age = distinct_items(queries.histories, n_items)
    given = np.full(len(item), unrated, np.float32)
    if queries.ratings is not None:
        ends = np.cumsum([len(history) for history in queries.histories])
        found = np.concatenate([*queries.ratings, np.empty(0)])[ends[row] - 1 - age]
        given = np.where(np.isnan(found), given, found).astype(np.float32)
    return sparse.csr_array((given, (row, item)), shape=(len(queries), n_items))


def fill_empty_histories(scores: np.ndarray, histories: Sequence[np.ndarray], counts: np.ndarray) -> np.ndarray:
    """`scores` (B, I), changed in place: for an empty history each item's share of all `counts` (I,)."""
    empty = [row for row, history in enumerate(histories) if not len(history)]
    scores[empty] = counts / max(counts.sum(), 1)
    return scores


def require_n_items(state: dict[str, np.ndarray], name: str, n_items: int) -> np.ndarray:
    """The array `name` of a saved state, one row per item; KeyError when missing, ValueError when it does not fit."""
    if name not in state:
        raise KeyError(f"the saved model has no {name}; fit it again")
    if len(state[name]) != n_items:
        raise ValueError(f"the saved model knows {len(state[name])} items, the catalogue has {n_items}; fit it again")
    return state[name]


def csr_state(matrix: sparse.csr_array) -> dict[str, np.ndarray]:
    """The three arrays of a sparse matrix, by name: what `csr_from_state` reads."""
    return {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}


def csr_from_state(state: dict[str, np.ndarray], rows: int | None, n_items: int) -> sparse.csr_array:
    """The (rows, I) matrix of `csr_state`; KeyError when an array is missing, ValueError when it does not fit.

    rows None: as many as there are.
    """
    if missing := {"data", "indices", "indptr"} - state.keys():
        raise KeyError(f"the saved model has no {', '.join(sorted(missing))}; fit it again")
    found = len(state["indptr"]) - 1
    if found != (found if rows is None else rows) or state["indices"].max(initial=-1) >= n_items:
        raise ValueError(f"the saved matrix has {found} rows and is not one of {n_items} items; fit it again")
    return sparse.csr_array((state["data"], state["indices"], state["indptr"]), shape=(found, n_items))


def one_blas_thread() -> AbstractContextManager[Any]:
    """Keep BLAS to one thread: on small matrices threads cost more than they gain, far more on a busy machine."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:  # it comes with implicit and scikit-learn; without it answers are the same, only slower
        return nullcontext()
    return threadpool_limits(1, "blas")
