"""Assemble a `Dataset` from raw ratings, and add users of another data set to training data.

Shapes: E ratings, F films, P user profiles.
"""

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from recsys.data.dataset import PROFILE_COLUMNS, Catalog, DataError, Dataset, Interactions, Noun, Ties
from recsys.data.tags import Tags
from recsys.data.tie_breaking import equals_previous, is_duplicate, random_sort_keys, user_time_order
from recsys.errors import Message
from recsys.progress import ProgressCallback, no_progress

MIN_RATINGS = 5  # default number of ratings that a film needs to be an item
TIES_SEED = 0  # of the random order of ties
MIN_SHARED_RATINGS = 5  # two users with this many ratings of equal film and time are the same person


@dataclass(frozen=True)
class RawRatings:
    """The parsed files of a data set: ratings and films in any order."""

    user: np.ndarray  # (E,) user ids of the files: int32, or int64 for large ids
    movie: np.ndarray  # (E,) movie ids: int32, or int64 for large ids
    rating: np.ndarray  # (E,) float32
    timestamp: np.ndarray  # (E,) int64, seconds since 1970
    films: pd.DataFrame  # (F, 7 to 10) with the columns of `Catalog.movies`; also films without ratings
    tags: Tags = field(default_factory=Tags)
    user_profiles: pd.DataFrame | None = None  # (P, 3) PROFILE_COLUMNS, by user id; None: not available

    def select(self, rows: np.ndarray) -> "RawRatings":
        """Select ratings by their row numbers, in the order of these numbers."""
        columns = {name: getattr(self, name)[rows] for name in ("user", "movie", "rating", "timestamp")}
        return replace(self, **columns)


def assemble(
    name: str, raw: RawRatings, min_ratings: int = MIN_RATINGS, ties: Ties = "file", noun: Noun = "film"
) -> Dataset:
    """Sort ratings by user and time, and move the films with fewer than `min_ratings` ratings to `Catalog.infrequent`.

    Users of the result are sorted by user id, items by movie id. Ratings with equal user and time keep their order in
    `raw` or, with ties="drawn", get a random order that depends only on user id and movie id. Raises DataError if a
    film or user is described twice, if a rated film is not described, or if no film has enough ratings. `noun` is the
    word for items in this error.
    """
    if ties == "drawn":
        raw = raw.select(np.argsort(random_sort_keys(raw.user, raw.movie, TIES_SEED), kind="stable"))
    films = raw.films.sort_values("movie_id", ignore_index=True)
    film_row = _film_rows(pd.Index(films["movie_id"]), raw.movie)  # (E,)
    is_frequent = np.bincount(film_row, minlength=len(films)) >= min_ratings  # (F,)
    order = user_time_order(raw.user, raw.timestamp)
    order = order[is_frequent[film_row[order]]]  # without the ratings of infrequent films
    if not len(order):
        if noun == "item":
            raise DataError(
                "{name}: no item has at least {min_ratings} events, so there is nothing to learn from; use a lower "
                "--min-ratings",
                app_text="{name}: no item has at least {min_ratings} events, so there is nothing to learn from; "
                "choose a lower number for “Leave out items with fewer events than”",
                name=name,
                min_ratings=min_ratings,
            )
        text = "{name}: no film has at least {min_ratings} ratings, so there is nothing to learn from"
        raise DataError(text, name=name, min_ratings=min_ratings)
    item_of_film_row = (np.cumsum(is_frequent) - 1).astype(np.int32)  # only valid for frequent films
    item = item_of_film_row[film_row[order]]
    raw_user = raw.user[order]
    is_new_user = np.concatenate([[True], ~equals_previous(raw_user)])
    user = np.cumsum(is_new_user, dtype=np.int32) - np.int32(1)
    events = Interactions(user, item, raw.rating[order], raw.timestamp[order])
    movies, infrequent = (films[rows].reset_index(drop=True) for rows in (is_frequent, ~is_frequent))
    user_ids = raw_user[is_new_user].astype(np.int64)
    profiles = raw.user_profiles
    if profiles is not None:
        if profiles.index.has_duplicates:
            user_id = profiles.index[profiles.index.duplicated()][0]
            raise DataError("person {user_id} is described twice", user_id=user_id)
        profiles = profiles.reindex(user_ids, fill_value="").reset_index(drop=True)
    return Dataset(name, Catalog(movies, infrequent, raw.tags), events, user_ids, ties, profiles, noun=noun)


def _film_rows(ids: pd.Index, movie: np.ndarray) -> np.ndarray:
    """Return the position (E,) in `ids` of each movie id in `movie`. Raises DataError for repeated or missing ids."""
    if ids.has_duplicates:
        raise DataError("film {ids} is listed twice", ids=ids[ids.duplicated()][0])
    row = ids.get_indexer(movie).astype(np.int32)
    if (row < 0).any():
        raise DataError("film {movie_id} is rated but not listed", movie_id=movie[row < 0][0])
    return row


def drop_duplicates(raw: RawRatings, report: ProgressCallback = no_progress) -> RawRatings:
    """Drop ratings with the same user, film and time as an earlier rating, and report the number of dropped ratings."""
    # A key is a hash of user and film, plus the time, so duplicates have equal keys. Comparing only the ratings with
    # repeated keys is usually six times faster.
    keys = random_sort_keys(raw.user, raw.movie, TIES_SEED) + raw.timestamp.astype(np.uint64)
    sorted_keys = np.sort(keys)
    repeated_keys = sorted_keys[1:][equals_previous(sorted_keys)]
    rows = np.flatnonzero(np.isin(keys, repeated_keys))
    is_dropped = np.zeros(len(keys), bool)
    is_dropped[rows] = is_duplicate(raw.user[rows], raw.movie[rows], raw.timestamp[rows])
    if not is_dropped.any():
        return raw
    text = "repeated ratings (same person, film and time), which count once: {n:,}"
    report({"stage": "note", "text": Message(text, n=is_dropped.sum())})
    return raw.select(np.flatnonzero(~is_dropped))


def add_users_from(other: Dataset, train: Dataset, dataset: Dataset, until: int | None = None) -> Dataset:
    """Append the users of `other` to `train`, the training part of `dataset`. All are MovieLens data sets.

    Ratings of films that `train` lacks, and ratings after `until` (seconds since 1970), are dropped. Users in both data
    sets are not added, because their held-out films would become training data. Raises DataError if a data set lacks
    MovieLens ids or times, or if there is no user to add.
    """
    for source in (other, dataset):
        has_text_ids = "item_id" in source.catalog.movies  # movie ids of MovieLens are numbers
        if has_text_ids or not source.has_times:
            text = "{name} does not have the film IDs of MovieLens, or has no times; leave out --also"
            raise DataError(text, name=source.name)
    events = other.interactions
    item = pd.Index(train.catalog.movie_ids).get_indexer(_movie_ids(other))  # (E,), -1: not in `train`
    is_added = (item >= 0) & ~np.isin(events.user, shared_users(dataset, other))
    if until is not None:
        is_added &= np.asarray(events.timestamp) <= until
    if not is_added.any():
        text = "no person in {name} can be added to {train}; choose another data set"
        raise DataError(text, name=other.name, train=train.name)
    added = replace(events, item=item.astype(np.int32)).select(is_added)
    tie_keys = random_sort_keys(added.user, added.item, TIES_SEED)
    added = added.select(np.lexsort((tie_keys, added.timestamp, added.user)))
    added_users, user_index = np.unique(added.user, return_inverse=True)  # `added_users` are users of `other`
    added = replace(added, user=(train.n_users + user_index).astype(np.int32))
    names = ("user", "item", "rating", "timestamp")
    joined_columns = (np.concatenate([getattr(train.interactions, name), getattr(added, name)]) for name in names)
    # added users get negative ids, because users of different data sets can have equal ids
    user_ids = np.concatenate([train.user_ids, -1 - other.user_ids[added_users]])
    profiles = _joined_profiles(train, other, added_users)
    return Dataset(train.name, train.catalog, Interactions(*joined_columns), user_ids, train.ties, profiles)


def shared_users(dataset: Dataset, other: Dataset) -> np.ndarray:
    """Return the users of `other` who are also in `dataset`, ascending. They share MIN_SHARED_RATINGS ratings."""
    ratings, other_ratings = (
        pd.DataFrame({"film": _movie_ids(part), "time": part.interactions.timestamp, "user": part.interactions.user})
        for part in (dataset, other)
    )
    shared_ratings = ratings.merge(other_ratings, on=["film", "time"], suffixes=("", "_other"))
    pairs = shared_ratings.groupby(["user", "user_other"]).size().reset_index(name="n_ratings")
    return np.unique(pairs["user_other"][pairs["n_ratings"] >= MIN_SHARED_RATINGS])


def _joined_profiles(train: Dataset, other: Dataset, added_users: np.ndarray) -> pd.DataFrame | None:
    """Return the profiles of the users of `train`, then of the added users. None: neither data set has profiles."""
    if train.user_profiles is None and other.user_profiles is None:
        return None
    train_profiles, other_profiles = (
        pd.DataFrame("", range(dataset.n_users), list(PROFILE_COLUMNS), "str")
        if dataset.user_profiles is None
        else dataset.user_profiles
        for dataset in (train, other)
    )
    return pd.concat([train_profiles, other_profiles.iloc[added_users]], ignore_index=True)


def _movie_ids(dataset: Dataset) -> np.ndarray:
    """Return the movie id (E,) of each event."""
    return dataset.catalog.movie_ids[dataset.interactions.item]
