"""What the models without a network share: histories as weights over films, and arrays checked on their way in.

Shapes: B queries, I items, E watched films in all queries.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from scipy import sparse

from recsys.data.schema import Dataset


def last_places(histories: Sequence[np.ndarray], n_items: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(E',) query, film and age (0 = newest) of what was watched; a film watched several times only at its last place.

    Sorted by query, then film.
    """
    row = np.repeat(np.arange(len(histories)), [len(history) for history in histories])  # (E,)
    film = np.concatenate([*histories, np.empty(0, np.int64)]).astype(np.int64)  # (E,); the tail is for no query at all
    age = np.concatenate([np.arange(len(history))[::-1] for history in histories] + [np.empty(0, np.int64)])  # (E,)
    last = np.lexsort((age, film, row))  # newest first among equal films, so that `unique` keeps it
    last = last[np.unique(row[last] * n_items + film[last], return_index=True)[1]]
    return row[last], film[last], age[last]


def profile_weights(histories: Sequence[np.ndarray], n_items: int, half_life: float = np.inf) -> sparse.csr_array:
    """(B, I) float32: row b says how much each film of history b counts; rows sum to 1, an empty history to 0.

    A film loses half its weight every `half_life` films from the end. One that was watched several times counts once,
    at its last place.
    """
    row, film, age = last_places(histories, n_items)
    weight = 0.5 ** (age / half_life)
    total = np.bincount(row, weights=weight, minlength=len(histories))
    weight = (weight / total[row]).astype(np.float32)
    return sparse.csr_array((weight, (row, film)), shape=(len(histories), n_items))


def watched(train: Dataset) -> sparse.csr_matrix:
    """(U, I) float32: 1 where somebody watched a film, however often."""
    events = train.interactions
    ones = np.ones(len(events), np.float32)
    matrix = sparse.csr_matrix((ones, (events.user, events.item)), shape=(train.n_users, train.n_items))
    matrix.data[:] = 1
    return matrix


def ratings_of(train: Dataset) -> sparse.csr_array:
    """(U, I) float32, the last where somebody rated a film several times."""
    events = train.interactions
    key = events.user.astype(np.int64) * train.n_items + events.item
    last = len(key) - 1 - np.unique(key[::-1], return_index=True)[1]
    values = events.rating[last].astype(np.float32)
    return sparse.csr_array((values, (events.user[last], events.item[last])), shape=(train.n_users, train.n_items))


def pairs(groups: np.ndarray, items: np.ndarray, n_items: int, distance: int) -> sparse.csr_array:
    """(I, I) float32: how often film j came `distance` places after film i in the same group.

    groups, items (E,): who watched what, or in which session; a group's events stand together, oldest first.
    """
    together = groups[distance:] == groups[:-distance]
    before, after = items[:-distance][together], items[distance:][together]
    ones = np.ones(len(before), np.float32)
    return sparse.csr_array((ones, (before, after)), shape=(n_items, n_items))


def seen(histories: Sequence[np.ndarray], n_items: int) -> sparse.csr_array:
    """(B, I) float32: 1 where history b holds a film, however often."""
    row, film, _ = last_places(histories, n_items)
    return sparse.csr_array((np.ones(len(film), np.float32), (row, film)), shape=(len(histories), n_items))


def popular_where_empty(scores: np.ndarray, histories: Sequence[np.ndarray], counts: np.ndarray) -> np.ndarray:
    """`scores` (B, I), changed in place: for an empty history, each film's share of all views."""
    empty = [row for row, history in enumerate(histories) if not len(history)]
    scores[empty] = counts / max(counts.sum(), 1)
    return scores


def per_item(state: dict[str, np.ndarray], name: str, n_items: int) -> np.ndarray:
    """The array `name` of a saved state, one row per film; KeyError when missing, ValueError when it does not fit."""
    if name not in state:
        raise KeyError(f"the saved model has no {name}; fit it again")
    if len(state[name]) != n_items:
        raise ValueError(f"the saved model knows {len(state[name])} films, the catalogue has {n_items}; fit it again")
    return state[name]


def csr_state(matrix: sparse.csr_array) -> dict[str, np.ndarray]:
    """The three arrays of a sparse matrix, by name, as `store` keeps them."""
    return {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}


def csr_from_state(state: dict[str, np.ndarray], rows: int | None, n_items: int) -> sparse.csr_array:
    """The (rows, I) matrix of `csr_state`; KeyError when something is missing, ValueError when it does not fit.

    rows None: as many as there are.
    """
    if missing := {"data", "indices", "indptr"} - state.keys():
        raise KeyError(f"the saved model has no {', '.join(sorted(missing))}; fit it again")
    found = len(state["indptr"]) - 1
    if found != (found if rows is None else rows) or state["indices"].max(initial=-1) >= n_items:
        raise ValueError(f"the saved matrix has {found} rows and is not one of {n_items} films; fit it again")
    return sparse.csr_array((state["data"], state["indices"], state["indptr"]), shape=(found, n_items))


def one_blas_thread() -> AbstractContextManager[Any]:
    """On matrices as small as these, threads cost more than they bring, on a busy machine many times more."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:  # it comes with implicit and scikit-learn; without them answers are only slower
        return nullcontext()
    return threadpool_limits(1, "blas")
