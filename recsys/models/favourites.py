"""Scores for favourites: films that a visitor lists in no order (see `VisitorPool.for_unordered_lists`).

Shapes: B queries, I items, N tested factors, n favourites of a list.
"""

from collections.abc import Sequence
from dataclasses import replace
from enum import IntEnum
from itertools import pairwise

import numpy as np
from scipy.special import logsumexp

from recsys.data.dataset import HeldOut, Queries
from recsys.models.length_weights import MAX_EXAMPLES, Examples

MAX_ORDERS = 4  # number of orders in which a list in no order is scored
INVERSE_TEMPERATURES = np.linspace(0.05, 2, 40, dtype=np.float32)  # tested values, N
N_CALIBRATED = 3  # recommendations whose total probability is compared with the share of hits
MAX_RECENT = 50  # newest items of a history from which lists in no order are drawn
N_SHARED = 10  # first recommendations that are shared out among the favourites of a mixed list


class ListKind(IntEnum):
    """What the films of a list in no order have in common."""

    SINGLE = 0  # it has one film, or none
    MIXED = 1  # no trait that all films have, see `CommonTrait`
    ALIKE = 2  # a trait that all films have


def random_lists(valid: HeldOut, list_lengths: Sequence[int], rng: np.random.Generator) -> Examples:
    """Return lists of random items in random order, like the favourites of a visitor.

    There are lists of up to MAX_EXAMPLES users for each length. Their items are drawn from the MAX_RECENT newest items
    of a history. All items of the history are excluded.
    """
    histories = valid.queries.histories
    lengths = np.array([len(history) for history in histories])
    lists, rows = [], []
    for length in list_lengths:
        for row in rng.permutation(np.flatnonzero(lengths >= length))[:MAX_EXAMPLES]:
            lists.append(rng.permutation(histories[row][-MAX_RECENT:])[:length])
            rows.append(row)
    return Examples(Queries(lists), valid.targets[rows], [histories[row] for row in rows])


def in_several_orders(queries: Queries) -> tuple[Queries, np.ndarray]:
    """Return each list of `queries` in up to MAX_ORDERS orders, and the row of the list for each of them.

    The orders are rotations of the sorted list, so they do not depend on the order of the given list. Models weigh the
    newest items most, and these differ between the rotations.
    """
    rows: list[int] = []
    orders: list[np.ndarray] = []  # positions in the given list
    for row, history in enumerate(queries.histories):
        n_orders = min(MAX_ORDERS, max(len(history), 1))
        starts = np.arange(n_orders) * len(history) // n_orders
        rows += [row] * n_orders
        orders += [np.roll(np.argsort(history, kind="stable"), -start) for start in starts]
    repeated = queries[np.array(rows, np.int64)]
    histories = [np.asarray(history)[order] for history, order in zip(repeated.histories, orders, strict=True)]
    ratings = None
    if repeated.ratings is not None:
        ratings = [stars[order] for stars, order in zip(repeated.ratings, orders, strict=True)]
    return replace(repeated, histories=histories, ratings=ratings), np.array(rows, np.int64)


def mean_by_row(scores: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the mean of the rows of `scores` (n, I) for each value of `rows` (n,), which are 0 … B-1 in order."""
    n_queries = rows[-1] + 1
    if n_queries == len(rows):
        return scores
    bounds = np.searchsorted(rows, np.arange(n_queries + 1))
    return np.stack([scores[start:end].mean(0) for start, end in pairwise(bounds)])


def add_single_films(queries: Queries, rows: np.ndarray) -> tuple[Queries, np.ndarray]:
    """Return the queries, followed by each film of the lists `rows` as a list of its own, and the row of its list.

    The films of a list are sorted, so their given order does not matter.
    """
    orders = {row: np.argsort(queries.histories[row], kind="stable") for row in rows.tolist()}
    list_rows = np.repeat(rows, [len(order) for order in orders.values()])
    positions = [position for order in orders.values() for position in order[:, None]]  # (1,) for each film
    repeated = queries[np.append(np.arange(len(queries)), list_rows)]
    pairs = list(zip(list_rows.tolist(), positions, strict=True))
    histories = [*queries.histories, *(queries.histories[row][position] for row, position in pairs)]
    ratings = None
    if queries.ratings is not None:
        ratings = [*queries.ratings, *(queries.ratings[row][position] for row, position in pairs)]
    return replace(repeated, histories=histories, ratings=ratings), list_rows


def share_out(single_scores: np.ndarray, favourites: np.ndarray) -> np.ndarray:
    """Return scores in which each favourite of a list has a similar number of the first N_SHARED items, (I,) float32.

        log Σ_f exp(s_f(i)) / m_f

    s_f are the scores after the single favourite f, and m_f is the mean of exp(s_f) over its best ⌈N_SHARED / n⌉ items.
    So the best items of each favourite have the same mean, however certain its recommendations are. The scores have an
    additional constant, because the code divides by the sum of the best items.

    Args:
        single_scores: The scores s_f for each favourite, log-probabilities up to a constant, (n, I).
        favourites: The favourites that are items. They are not among the best items, and their own scores are not used.
    """
    candidates = single_scores.copy()
    candidates[:, favourites] = candidates.min(1, keepdims=True)
    n_best = min(-(-N_SHARED // len(single_scores)), candidates.shape[1])
    best = -np.partition(-candidates, n_best - 1, axis=1)[:, :n_best]
    relative = single_scores - logsumexp(best, axis=1, keepdims=True)
    return np.asarray(logsumexp(relative, axis=0), np.float32)


def expected_hit_rates(scores: np.ndarray) -> np.ndarray:
    """Return the total probability of the top N_CALIBRATED items for each of the N INVERSE_TEMPERATURES, (B, N).

    Args:
        scores: Log-probabilities up to a constant, (B, I); -∞ for excluded items.
    """
    n = min(N_CALIBRATED, scores.shape[1])
    top = -np.partition(-scores, n - 1, axis=1)[:, :n]
    highest = scores.max(1, keepdims=True)
    rates = [
        np.exp(factor * (top - highest)).sum(1) / np.exp(factor * (scores - highest)).sum(1)
        for factor in INVERSE_TEMPERATURES
    ]
    return np.stack(rates, axis=1)
