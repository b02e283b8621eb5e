"""Small worlds whose right answers are known."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from pandas.testing import assert_frame_equal

from recsys.data import datasets
from recsys.data.dataset import MOVIE_COLUMNS, PROFILE_COLUMNS, Catalog, Dataset, Interactions
from recsys.data.film_details import Details
from recsys.data.tags import Tags

# a toy data set with this provenance is loaded in place of the sample
ARCHIVE = {"sha256": datasets.PUBLISHED[datasets.DEFAULT_DATASET].sha256}


def catalog(n_items: int) -> Catalog:
    """Films 100, 101, … called "Film 0", "Film 1", …; even ones are comedies, odd ones horror."""
    films = np.arange(n_items)
    movies = pd.DataFrame(
        {
            "movie_id": films + 100,
            "title": [f"Film {film}" for film in films],
            "year": pd.array(1990 + films % 10, dtype="Int64"),
            "genres": ["Horror" if film % 2 else "Comedy" for film in films],
            "tags": "",
            "imdb_id": "",
            "tmdb_id": pd.array([pd.NA] * n_items, dtype="Int64"),
        }
    )[list(MOVIE_COLUMNS)]
    return Catalog(movies, movies.iloc[:0])


def tagged(films: Catalog, tags: Tags) -> Catalog:
    """The same films with these tags."""
    return replace(films, movies=tags.assign_to(films.movies), tags=tags)


def enriched(world: Dataset, known: Mapping[int, Mapping[str, Any]]) -> Dataset:
    """The same set with what is known of its films, by their original ids."""
    return replace(world, catalog=replace(world.catalog, details=Details.from_facts(known)))


def dataset(histories: Sequence[Sequence[int]], n_items: int, name: str = "toy") -> Dataset:
    """A data set with exactly these histories; ratings are 4, time runs on by a minute from film to film."""
    lengths = [len(history) for history in histories]
    item = np.concatenate([np.asarray(history, np.int32) for history in histories])
    user = np.repeat(np.arange(len(histories), dtype=np.int32), lengths)
    timestamp = 1_000_000_000 + 60 * np.arange(len(item), dtype=np.int64)
    events = Interactions(user, item, np.full(len(item), 4, np.float32), timestamp)
    return Dataset(name, catalog(n_items), events, np.arange(1, len(histories) + 1))


def described(world: Dataset, *people: tuple[str, str, str]) -> Dataset:
    """The same set with its people: (gender, age, occupation) of each user."""
    return replace(world, user_profiles=pd.DataFrame(people, columns=list(PROFILE_COLUMNS), dtype="str"))


def over_days(histories: Sequence[Sequence[tuple[int, int]]], n_items: int = 30, name: str = "days") -> Dataset:
    """What each user watched, as (film, day), oldest first; day 0 is 2001-09-09."""
    world = dataset([[film for film, _ in history] for history in histories], n_items, name)
    days = np.array([day for history in histories for _, day in history], np.int64)
    return replace(world, interactions=replace(world.interactions, timestamp=999_993_600 + 86_400 * days))


def cycle(n_items: int = 20, n_users: int = 200, length: int = 12, seed: int = 0) -> Dataset:
    """The next film is the last one plus one, round and round; each user starts somewhere else."""
    starts = np.random.default_rng(seed).integers(n_items, size=n_users)
    return dataset([(start + np.arange(length)) % n_items for start in starts], n_items, "cycle")


def checkerboard(n: int = 30, seed: int = 0) -> Dataset:
    """n users, n films; even users watch the even films in random order, odd users the odd ones."""
    rng = np.random.default_rng(seed)
    return dataset([rng.permutation(np.arange(user % 2, n, 2)) for user in range(n)], n, "checkerboard")


def same(one: Dataset, other: Dataset) -> None:
    """Assert that two data sets agree in everything but their names."""
    assert one.full_fingerprint == other.full_fingerprint
    assert one.catalog.tags.texts == other.catalog.tags.texts
    assert_frame_equal(one.catalog.movies, other.catalog.movies)
    assert_frame_equal(one.catalog.infrequent, other.catalog.infrequent)
    for column in ("user", "item", "rating", "timestamp"):
        np.testing.assert_array_equal(getattr(one.interactions, column), getattr(other.interactions, column))
    for column in ("movie", "tag_index", "timestamp"):
        np.testing.assert_array_equal(getattr(one.catalog.tags, column), getattr(other.catalog.tags, column))
    np.testing.assert_array_equal(one.user_ids, other.user_ids)
    assert (one.user_profiles is None) == (other.user_profiles is None)
    if one.user_profiles is not None:
        assert_frame_equal(one.user_profiles, other.user_profiles)
