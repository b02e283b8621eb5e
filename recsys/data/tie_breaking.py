"""Sort ratings by user and time, shuffle ties (ratings with equal user and time), and detect repeated rows.

Times are whole seconds, and MovieLens users rated a page of films at once. A stable sort keeps ties in the order of the
file. This is the order of a hash table in ML-1M, and the order of movie ids in most later data sets. A model could
learn this order, although it is unrelated to taste. A random order prevents this.

Shapes: E events.
"""

from dataclasses import replace

import numpy as np

from recsys.data.dataset import DataError, Dataset

GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)  # increment of SplitMix64


def is_duplicate(*columns: np.ndarray) -> np.ndarray:
    """Return whether each row equals an earlier row, (E,) bool. Each column has the shape (E,).

    The rows are sorted for this, because a hash table of two million rows would take 200 MB.
    """
    order = np.lexsort(columns[::-1])  # stable, so the earliest of equal rows comes first
    repeats_earlier_row = np.zeros(len(order), bool)
    repeats_earlier_row[order[1:]] = np.logical_and.reduce([equals_previous(column[order]) for column in columns])
    return repeats_earlier_row


def equals_previous(values: np.ndarray) -> np.ndarray:
    """Return whether each value but the first equals the previous value, (E - 1,) bool."""
    return values[1:] == values[:-1]


def random_sort_keys(user_ids: np.ndarray, movie_ids: np.ndarray, seed: int) -> np.ndarray:
    """Return random sort keys, (E,) uint64, that depend only on seed, user id and movie id.

    SplitMix64 mixes the sum of seed and user id, and mixes again after the movie id is added.
    """
    keys = np.full(len(user_ids), seed, np.uint64)
    for ids in (user_ids, movie_ids):
        keys = mix(keys + ids.astype(np.uint64) + GOLDEN_GAMMA)
    return keys


def mix(values: np.ndarray) -> np.ndarray:
    """Return a hash of each value (uint64): the last step of SplitMix64.

    Reference: Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
    """
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def shuffle_ties(dataset: Dataset, seed: int) -> Dataset:
    """Shuffle ties, see `reshuffle_ties`.

    Raises DataError if the data set has no times, or if its ties are in random order already.
    """
    if not dataset.has_times:
        text = "{name} has no times, so no ratings have the same time; use --protocol full"
        raise DataError(text, name=dataset.name)
    if dataset.ties == "drawn":
        text = "{name}: films rated in the same second are already in random order; use --protocol full"
        raise DataError(text, name=dataset.name)
    return reshuffle_ties(dataset, seed)


def reshuffle_ties(dataset: Dataset, seed: int) -> Dataset:
    """Return the data set with its ties in a random order. `seed` is from 0 to 2^64 - 1."""
    events = dataset.interactions
    user_ids, movie_ids = dataset.user_ids[events.user], dataset.catalog.movie_ids[events.item]
    order = np.argsort(random_sort_keys(user_ids, movie_ids, seed), kind="stable")
    order = order[user_time_order(events.user[order], events.timestamp[order])]
    return replace(dataset, interactions=events.select(order), ties="drawn")


def user_time_order(user: np.ndarray, timestamp: np.ndarray) -> np.ndarray:
    """Return the row numbers (E,) that sort by user and then time. The sort is stable.

    One combined key sorts 20 million rows six times as fast as np.lexsort.
    """
    if len(timestamp) == 0:
        return np.empty(0, np.int64)
    start = int(timestamp.min())
    span = int(timestamp.max()) - start + 1
    if int(user.max()) * span >= 1 << 62:  # the key could exceed int64
        return np.lexsort((timestamp, user))
    key = user.astype(np.int64) * span
    key += timestamp - start
    return np.argsort(key, kind="stable")
