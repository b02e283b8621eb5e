"""What the models without a network share: histories as weights over films, and arrays checked on their way in.

Shapes: B queries, I items, E watched films in all queries.
"""

from collections.abc import Sequence

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


def pairs(train: Dataset, distance: int, keep: np.ndarray | None = None) -> sparse.csr_array:
    """(I, I) float32: how often film j came `distance` films after film i in one history.

    keep (E,) bool: which events count as the later of a pair; None: all.
    """
    user, item = train.interactions.user, train.interactions.item
    both = user[distance:] == user[:-distance]
    if keep is not None:
        both &= keep[distance:]
    before, after = item[:-distance][both], item[distance:][both]
    ones = np.ones(len(before), np.float32)
    return sparse.csr_array((ones, (before, after)), shape=(train.n_items, train.n_items))


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
