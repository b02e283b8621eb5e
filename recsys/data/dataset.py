"""Data sets, their parts, and the queries that models answer.

Items are numbered 0…I-1, and item i is row i of `Catalog.movies`. A *movie id* is the id of a film in the files of the
data set, unlike its item. Only `Catalog` has movie ids, and only `Dataset.user_ids` has user ids of the files.
Shapes: U users, I items, F films, E events (ratings), B queries, T items of one history.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any, Literal, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from recsys.data import film_names
from recsys.data.film_details import Details
from recsys.data.tags import Tags
from recsys.errors import RecsysError, os_error_reason

# The order of events with equal user and time. "file": as in the file. "drawn": random. "rows": the data set has no
# times, so all events of a user are in the order of the file, and `timestamp` has row numbers.
Ties = Literal["file", "drawn", "rows"]
Noun = Literal["film", "item"]  # for the items of a data set, in texts of the app
MOVIE_COLUMNS = {  # columns of a film table, with dtypes. An unknown text is "", another unknown value is pd.NA
    "movie_id": "int64",  # the id in the files of the data set
    "title": "str",  # without the year, and with the article in front: "The Matrix"
    "year": "Int64",
    "genres": "str",  # "Action|Sci-Fi"
    "tags": "str",  # the most frequent tags, separated by ", "
    "imdb_id": "str",  # "tt0114709"
    "tmdb_id": "Int64",
}
OPTIONAL_MOVIE_COLUMNS = (  # all str, only in own data sets, see `own_data`
    "item_id",  # the id in the file, if it is not a number
    "image",  # a web address
    "text",  # a description
)
PROFILE_COLUMNS = ("gender", "age", "occupation")  # of `Dataset.user_profiles`
AGES = ("Under 18", "18-24", "25-34", "35-44", "45-49", "50-55", "56+")  # in years, as in ML-1M
T = TypeVar("T")


class DataError(RecsysError):
    """A data set or a data file that cannot be used."""


@contextmanager
def read_errors(path: Path) -> Iterator[None]:
    """Turn an OSError in the block into a DataError that asks to check the path."""
    try:
        yield
    except OSError as error:
        text = "cannot read {path}: {strerror}; check the path"
        raise DataError(text, path=path, strerror=os_error_reason(error)) from error


class Film(NamedTuple):
    """A film of a data set."""

    movie_id: int
    title: str
    year: int | None
    genres: str

    @property
    def label(self) -> str:
        """Title and year: "Toy Story (1995)"."""
        return self.title if self.year is None else f"{self.title} ({self.year})"


def film_table(rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    """Return the film table (F, 7) with these rows. The cells of a row are in the order of MOVIE_COLUMNS."""
    columns = enumerate(MOVIE_COLUMNS.items())
    return pd.DataFrame({name: pd.array([row[index] for row in rows], dtype) for index, (name, dtype) in columns})


def film_tuples(movies: pd.DataFrame) -> list[Film]:
    """Return the rows of a film table as `Film` tuples, because indexing a table is much slower."""
    years = [None if pd.isna(year) else int(year) for year in movies["year"]]
    return list(map(Film, movies["movie_id"].tolist(), movies["title"].tolist(), years, movies["genres"].tolist()))


@dataclass(frozen=True)
class Catalog:
    """The films of a data set."""

    movies: pd.DataFrame  # (I, 7 to 10) MOVIE_COLUMNS and perhaps OPTIONAL_MOVIE_COLUMNS; row i is item i
    infrequent: pd.DataFrame  # films with too few ratings for training; same columns
    tags: Tags = field(default_factory=Tags, repr=False)  # for all films
    details: Details = field(default_factory=Details, repr=False)  # for all films

    def __len__(self) -> int:
        return len(self.movies)

    @cached_property
    def movie_ids(self) -> np.ndarray:
        """Movie ids (I,) of the items."""
        return self.movies["movie_id"].to_numpy(np.int64)

    @cached_property
    def item_of(self) -> dict[int, int]:
        """Movie id → item, without infrequent films."""
        return {int(movie): item for item, movie in enumerate(self.movie_ids)}

    @cached_property
    def films(self) -> list[Film]:
        """Items, then infrequent films, with the corrected titles and years of `film_names`.

        A film number is an index of this list.
        """
        names = film_names.read().by_data_title
        films = [*film_tuples(self.movies), *film_tuples(self.infrequent)]
        for number, film in enumerate(films):
            if name := names.get((film.title, film.year)):
                films[number] = film._replace(title=name.title, year=name.year)
        return films

    @cached_property
    def duplicates(self) -> list[tuple[int, ...]]:
        """Groups of film numbers that are entries of the same film, see `_is_same_film`."""
        # A film's name is its title without brackets. `candidates` has only the films with a repeated hash of name and
        # year, because a table of all films of a large catalogue would need much memory.
        hashes = pd.Series([hash((film.title.partition(" (")[0], film.year)) for film in self.films], dtype=np.int64)
        numbers = np.flatnonzero(hashes.duplicated(keep=False))
        columns = ["imdb_id", "tmdb_id"]
        ids = pd.concat([self.movies[columns], self.infrequent[columns]], ignore_index=True)
        candidates = ids.loc[numbers].fillna({"tmdb_id": 0})  # `_is_same_film` treats 0 as unknown
        candidates["title"] = [self.films[number].title for number in numbers]
        candidates["year"] = [self.films[number].year for number in numbers]
        candidates["name"] = [title.partition(" (")[0] for title in candidates["title"]]
        duplicates = []
        for _, group in candidates.dropna(subset="year").groupby(["name", "year"], sort=False):
            clusters: list[list[Any]] = []  # two different films can have the same title and year
            for film in group.itertuples():
                matching = [cluster for cluster in clusters if any(_is_same_film(film, other) for other in cluster)]
                clusters = [cluster for cluster in clusters if cluster not in matching]
                clusters.append([*chain(*matching), film])  # merges the matching clusters
            duplicates += [tuple(sorted(film.Index for film in cluster)) for cluster in clusters if len(cluster) > 1]
        return duplicates

    def main_film_by_duplicate(self, counts: Sequence[int] | np.ndarray) -> dict[int, int]:
        """Return duplicate → main film, both as film numbers, for each group in `duplicates`.

        The main film is the entry with the most ratings. The other entries are the duplicates. `counts` are numbers of
        ratings by film number. Films after the end of `counts` have no ratings.
        """
        main_film_of: dict[int, int] = {}
        for group in self.duplicates:
            most_rated = max(group, key=lambda film: (counts[film] if film < len(counts) else 0, -film))
            main_film_of |= {film: most_rated for film in group if film != most_rated}
        return main_film_of

    @cached_property
    def film_number_of(self) -> dict[int, int]:
        """Movie id → film number."""
        return {film.movie_id: number for number, film in enumerate(self.films)}

    @cached_property
    def images(self) -> dict[int, str]:
        """Movie id → web address of an image, for films that have one."""
        movies = self.complete.movies
        if "image" not in movies:
            return {}
        pairs = zip(movies["movie_id"].tolist(), movies["image"].tolist(), strict=True)
        return {movie: image for movie, image in pairs if image}

    @cached_property
    def complete(self) -> "Catalog":
        """A catalogue whose items include the infrequent films, for models that read only descriptions."""
        all_movies = pd.concat([self.movies, self.infrequent], ignore_index=True)
        return replace(self, movies=all_movies, infrequent=self.infrequent.iloc[:0])

    def as_of(self, time: int) -> "Catalog":
        """Return the catalogue as it was at a time, in seconds since 1970.

        Tags given at this time or later and tags without a time are removed. The subjects of the details are also
        removed, because their dates are unknown.
        """
        tags, details = self.tags.before(time), self.details.without_subjects()
        movies, infrequent = tags.assign_to(self.movies), tags.assign_to(self.infrequent)
        return replace(self, movies=movies, infrequent=infrequent, tags=tags, details=details)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the movie ids. A checkpoint is only valid for the movie ids that it was trained on."""
        digest = hashlib.sha256(self.movie_ids.astype("<i8").tobytes())
        if "item_id" in self.movies:  # movie ids are then numbered from 1 in every file, so they do not identify items
            digest.update(json.dumps(self.movies["item_id"].tolist()).encode())
        return digest.hexdigest()


def _is_same_film(film: Any, other: Any) -> bool:
    """Return whether two films with the same year and the same title without brackets are the same film.

    `film` and `other` are rows of the candidates in `Catalog.duplicates`. An equal IMDb or TMDB id is enough. Otherwise
    the whole titles must be equal, and the ids must not differ. If only one film has a TMDB id, the IMDb ids may
    differ, because TMDB may have deleted the other film as a duplicate.
    """
    if (film.imdb_id and film.imdb_id == other.imdb_id) or (film.tmdb_id and film.tmdb_id == other.tmdb_id):
        return True
    if film.title != other.title or (film.tmdb_id and other.tmdb_id):
        return False
    has_one_tmdb_id = bool(film.tmdb_id or other.tmdb_id)
    return has_one_tmdb_id or not (film.imdb_id and other.imdb_id)


@dataclass(frozen=True)
class Interactions:
    """E events, sorted by user and time. For the order of events with equal user and time, see `Ties`."""

    user: np.ndarray  # (E,) int32, users 0…U-1
    item: np.ndarray  # (E,) int32
    rating: np.ndarray  # (E,) float32
    timestamp: np.ndarray  # (E,) int64, seconds since 1970

    def __len__(self) -> int:
        return len(self.item)

    def select(self, rows: np.ndarray) -> "Interactions":
        """Select events by row numbers, or by (E,) bool."""
        return Interactions(self.user[rows], self.item[rows], self.rating[rows], self.timestamp[rows])


@dataclass(frozen=True, eq=False)  # compared by identity, because data sets are keys of weak caches
class Dataset:
    """A data set: films, and users with their histories.

    `user_profiles` has PROFILE_COLUMNS, and row u is user u. All values are str, "" if unknown: gender is "F" or "M",
    age is in AGES, and occupation is a text of the data set.
    """

    name: str
    catalog: Catalog
    interactions: Interactions
    user_ids: np.ndarray  # (U,) ids in the files of the data set
    ties: Ties = "file"
    user_profiles: pd.DataFrame | None = None  # (U, 3); None: not available
    user_names: np.ndarray | None = None  # (U,) str; None: users have only ids
    noun: Noun = "film"

    @property
    def n_users(self) -> int:
        """Number of users, U."""
        return len(self.user_ids)

    @property
    def n_items(self) -> int:
        """Number of items, I."""
        return len(self.catalog)

    @property
    def has_times(self) -> bool:
        """Whether the events have times. Without times, `timestamp` has row numbers."""
        return self.ties != "rows"

    @cached_property
    def offsets(self) -> np.ndarray:
        """The events of user u are the rows offsets[u]:offsets[u+1], (U+1,) int64."""
        users = self.interactions.user
        bounds = np.arange(self.n_users + 1, dtype=users.dtype)  # another dtype would copy `users`
        return np.searchsorted(users, bounds)

    def history(self, user: int) -> np.ndarray:
        """Return the items of one user, oldest first."""
        return self.interactions.item[self.offsets[user] : self.offsets[user + 1]]

    @cached_property
    def histories(self) -> list[np.ndarray]:
        """The items of every user, oldest first, as views of `interactions.item`."""
        return np.split(np.asarray(self.interactions.item), self.offsets[1:-1])

    @cached_property
    def counts(self) -> np.ndarray:
        """Number of events of each item, (I,)."""
        return np.bincount(self.interactions.item, minlength=self.n_items)

    @cached_property
    def main_film_by_duplicate(self) -> dict[int, int]:
        """The result of `Catalog.main_film_by_duplicate` for the ratings of this data set."""
        return self.catalog.main_film_by_duplicate(self.counts)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the histories as movie ids, without times and ratings."""
        digest = hashlib.sha256(np.diff(self.offsets).astype("<i8").tobytes())
        digest.update(self.catalog.movie_ids[self.interactions.item].astype("<i8").tobytes())
        return digest.hexdigest()

    @cached_property
    def full_fingerprint(self) -> str:
        """SHA-256 of the histories with times and ratings, for training and evaluation."""
        digest = hashlib.sha256(bytes.fromhex(self.fingerprint))
        digest.update(self.interactions.timestamp.astype("<i8").tobytes())
        digest.update(self.interactions.rating.astype("<f4").tobytes())
        return digest.hexdigest()


def cache_by_dataset(function: Callable[[Dataset], T]) -> Callable[[Dataset], T]:
    """Cache a function of a data set. The results are deleted with their data sets. Thread-safe."""
    results: WeakKeyDictionary[Dataset, T] = WeakKeyDictionary()
    lock = Lock()

    @wraps(function)
    def cached(dataset: Dataset) -> T:
        with lock:
            if dataset not in results:
                results[dataset] = function(dataset)
            return results[dataset]

    return cached


@dataclass(frozen=True)
class Queries:
    """B histories, oldest item first. A model scores all items for each history."""

    histories: Sequence[np.ndarray]
    users: np.ndarray | None = None  # (B,) users of the training data, 0…U-1; None: other users, such as visitors
    ratings: Sequence[np.ndarray] | None = None  # (T,) float32 for each history; NaN: not rated; None: unknown
    user_profiles: pd.DataFrame | None = None  # (B, 3) as in `Dataset`; None: not available
    are_whole: bool = False  # whether each history begins with the user's first item. Unknown for visitors: False

    def __len__(self) -> int:
        return len(self.histories)

    def __getitem__(self, rows: slice | np.ndarray) -> "Queries":
        row_numbers = np.arange(len(self))[rows]
        histories = [self.histories[row] for row in row_numbers]
        users = None if self.users is None else self.users[rows]
        ratings = None if self.ratings is None else [self.ratings[row] for row in row_numbers]
        profiles = None if self.user_profiles is None else self.user_profiles.iloc[rows]
        return Queries(histories, users, ratings, profiles, self.are_whole)


@dataclass(frozen=True)
class HeldOut:
    """Queries, and the held-out item of each query."""

    queries: Queries
    targets: np.ndarray  # (B,) items

    def __len__(self) -> int:
        return len(self.targets)


@dataclass(frozen=True)
class Split:
    """Training, validation and test data."""

    train: Dataset
    valid: HeldOut
    test: HeldOut
    description: dict[str, Any]  # values for JSON: {"name": "time", "dates": {"valid": "2000-12-04", …}}
