"""Films of one second: drawn into an order that no file can leak.

A rating has a time in whole seconds, and MovieLens' people rated a page of films at once. A stable sort leaves films of
one second in the order of the file, which in ML-1M is that of a hash table and in most later sets that of the film ids:
something a model can learn that has nothing to do with taste. Shapes: E events.
"""

from dataclasses import replace

import numpy as np

from recsys.data.dataset import DataError, Dataset


def is_duplicate(*parts: np.ndarray) -> np.ndarray:
    """(E,) bool: rows that are in every one of some (E,) parts as an earlier row is.

    By sorting: in a hash table two million rows would take 200 MB.
    """
    order = np.lexsort(parts[::-1])
    found = np.zeros(len(order), bool)
    found[order[1:]] = np.logical_and.reduce([equals_previous(part[order]) for part in parts])
    return found


def equals_previous(values: np.ndarray) -> np.ndarray:
    """(E - 1,) bool: which are as the one before."""
    return values[1:] == values[:-1]


def random_sort_keys(user: np.ndarray, movie: np.ndarray, seed: int) -> np.ndarray:
    """(E,) uint64 random keys, each of its seed, person and film alone: the order of a file cannot show in them.

    The finisher of SplitMix64 (Steele, Lea and Flood, 2014), whose outputs for different inputs are independent for
    all practical purposes, once over seed and person and once more with the film added.
    """
    keys = np.full(len(user), seed, np.uint64)
    for part in (user, movie):
        keys += part.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        keys ^= keys >> np.uint64(31)
    return keys


def shuffle_ties(dataset: Dataset, seed: int) -> Dataset:
    """The same events, films of one second in an order drawn from seed, person and film (original ids).

    Raises DataError where they stand in a drawn order already, and where there are no seconds.
    """
    if dataset.ties == "rows":
        raise DataError(f"{dataset.name} has no times, so nothing in it shares a second; use --protocol full")
    if dataset.ties == "drawn":
        raise DataError(f"{dataset.name}: films of one second are in a drawn order already; use --protocol full")
    return redrawn(dataset, seed)


def redrawn(dataset: Dataset, seed: int) -> Dataset:
    """`shuffle_ties`, wherever the order came from: another drawing for another seed, below 2^64."""
    events = dataset.interactions
    person, film = dataset.user_ids[events.user], dataset.catalog.movie_ids[events.item]
    order = np.argsort(random_sort_keys(person, film, seed), kind="stable")
    order = order[by_user_then_time(events.user[order], events.timestamp[order])]
    return replace(dataset, interactions=events.select(order), ties="drawn")


def by_user_then_time(user: np.ndarray, timestamp: np.ndarray) -> np.ndarray:
    """(E,) the stable order. One combined key sorts 20 million rows six times as fast as np.lexsort."""
    first = timestamp.min(initial=0)
    span = int(timestamp.max(initial=0)) - int(first) + 1
    if int(user.max(initial=0)) * span >= 1 << 62:  # the key would not fit 64 bits
        return np.lexsort((timestamp, user))
    key = user.astype(np.int64) * span
    key += timestamp - first
    return np.argsort(key, kind="stable")
