"""What the models without a network share: histories as weights over films, and arrays checked on their way in.

Shapes: B queries, I items, E watched films in all queries.
"""

from collections.abc import Sequence

import numpy as np
from scipy import sparse


def profile_weights(histories: Sequence[np.ndarray], n_items: int, half_life: float = np.inf) -> sparse.csr_array:
    """(B, I) float32: row b says how much each film of history b counts; rows sum to 1, an empty history to 0.

    A film loses half its weight every `half_life` films from the end. One that was watched several times counts once,
    at its last place.
    """
    row = np.repeat(np.arange(len(histories)), [len(history) for history in histories])  # (E,)
    film = np.concatenate([*histories, np.empty(0, np.int64)]).astype(np.int64)  # (E,); the tail is for no query at all
    age = np.concatenate([np.arange(len(history))[::-1] for history in histories] + [np.empty(0)])  # (E,) 0 = newest
    last = np.lexsort((age, film, row))  # newest first among equal films, so that `unique` keeps it
    last = last[np.unique(row[last] * n_items + film[last], return_index=True)[1]]
    weight = 0.5 ** (age[last] / half_life)
    total = np.bincount(row[last], weights=weight, minlength=len(histories))
    weight = (weight / total[row[last]]).astype(np.float32)
    return sparse.csr_array((weight, (row[last], film[last])), shape=(len(histories), n_items))


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
