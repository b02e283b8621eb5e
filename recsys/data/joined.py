"""The people of another MovieLens set, whose film ids are the same, as further people to learn from.

Whoever is in both sets is left out of the other: their last films, which are held out here, would be learnt from there.
"""

import numpy as np
import pandas as pd

from recsys.data.dataset import PEOPLE_COLUMNS, DataError, Dataset, Interactions
from recsys.data.datasets import TIES_SEED
from recsys.data.tie_breaking import random_sort_keys

SHARED = 5  # ratings of the same film in the same second that nobody shares with somebody else by accident


def add_users_from(other: Dataset, train: Dataset, whole: Dataset, until: int | None = None) -> Dataset:
    """`train` with the people of `other` added after its own, but for those who are in `whole` too.

    train: a part of `whole`; it keeps its films, and others are dropped from the histories. Films of one second are put
    in an order drawn by person. until: only what was watched by then, in seconds since 1970. Raises DataError when
    nobody is left to add.
    """
    for dataset in (other, whole):
        if "item_id" in dataset.catalog.movies or dataset.ties == "rows":
            raise DataError(f"{dataset.name} is none of MovieLens' sets, whose film ids agree; leave out --also")
    item = np.searchsorted(train.catalog.movie_ids, movies := _movies(other))
    item = np.minimum(item, train.n_items - 1)
    keep = (train.catalog.movie_ids[item] == movies) & ~np.isin(other.interactions.user, shared_users(whole, other))
    if until is not None:
        keep &= np.asarray(other.interactions.timestamp) <= until
    if not keep.any():
        raise DataError(f"{other.name} has nobody to add to {train.name}; take another set")
    more = _sorted(Interactions(other.interactions.user, item.astype(np.int32), *_ratings(other)).select(keep))
    people, row = np.unique(more.user, return_inverse=True)
    own = train.interactions
    events = Interactions(
        np.concatenate([own.user, (row + train.n_users).astype(np.int32)]),
        np.concatenate([own.item, more.item]),
        np.concatenate([own.rating, more.rating]),
        np.concatenate([own.timestamp, more.timestamp]),
    )
    # ids of the two sets are of different people; negative ones collide with nobody's
    user_ids = np.concatenate([train.user_ids, -1 - other.user_ids[people]])
    return Dataset(train.name, train.catalog, events, user_ids, train.ties, _described(train, other, people))


def shared_users(one: Dataset, other: Dataset) -> np.ndarray:
    """Rows of `other`, ascending: people who share SHARED ratings, film and second, with somebody of `one`."""
    keys, users = _keys(one), np.asarray(one.interactions.user)
    order = np.argsort(keys, kind="stable")
    wanted = _keys(other)
    first, last = (np.searchsorted(keys[order], wanted, side) for side in ("left", "right"))
    times = last - first  # how many people of `one` have this rating
    theirs = np.repeat(np.asarray(other.interactions.user), times)
    position = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times) + np.repeat(first, times)
    pairs, shared = np.unique(np.stack([theirs, users[order][position]]), axis=1, return_counts=True)
    return np.unique(pairs[0, shared >= SHARED])


def _described(train: Dataset, other: Dataset, rows: np.ndarray) -> pd.DataFrame | None:
    """The people of `train`, then those rows of `other`; "" where one of the two does not describe its own."""
    if train.user_profiles is None and other.user_profiles is None:
        return None
    unknown = pd.DataFrame("", range(max(train.n_users, other.n_users)), list(PEOPLE_COLUMNS), "str")
    own, more = (unknown if people is None else people for people in (train.user_profiles, other.user_profiles))
    return pd.concat([own.iloc[: train.n_users], more.iloc[rows]], ignore_index=True)


def _movies(dataset: Dataset) -> np.ndarray:
    """(E,) original film ids."""
    return dataset.catalog.movie_ids[dataset.interactions.item]


def _keys(dataset: Dataset) -> np.ndarray:
    """(E,) one number for film and second; film ids stay below 2^30 and times below 2^33."""
    return _movies(dataset) << 33 | np.asarray(dataset.interactions.timestamp)


def _ratings(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    return dataset.interactions.rating, dataset.interactions.timestamp


def _sorted(events: Interactions) -> Interactions:
    """By person and time, films of one second in a drawn order."""
    order = np.lexsort((random_sort_keys(events.user, events.item, TIES_SEED), events.timestamp, events.user))
    return events.select(order)
