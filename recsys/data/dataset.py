"""The four tables that flow through the project.

Items are numbered 0…I-1 everywhere inside; item i is row i of the catalogue. Original ids live in `Catalog` and
`Dataset.user_ids` alone. Shapes: U users, I items, E events (ratings), B queries.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from recsys.data.film_details import Details
from recsys.data.tags import Tags
from recsys.errors import RecsysError

# the order within one second: as in the ratings file, or drawn by seed and person; "rows": there are no times, and the
# order is that of the rows, whose numbers stand for times
Ties = Literal["file", "drawn", "rows"]
Noun = Literal["film", "item"]  # what a set is of
MOVIE_COLUMNS = ("movie_id", "title", "year", "genres", "tags", "imdb_id", "tmdb_id")
MORE_COLUMNS = ("item_id", "image", "text")  # a film table may have these too, see `Catalog`
PEOPLE_COLUMNS = ("gender", "age", "occupation")
AGES = ("Under 18", "18-24", "25-34", "35-44", "45-49", "50-55", "56+")  # groups of ages in years, as ML-1M has them


class DataError(RecsysError):
    """Data that cannot be used as it is."""


class Film(NamedTuple):
    """What a person reads of one film."""

    movie_id: int
    title: str
    year: int | None
    genres: str

    @property
    def label(self) -> str:
        """Title and year: "Toy Story (1995)"."""
        return self.title if self.year is None else f"{self.title} ({self.year})"


def films(movies: pd.DataFrame) -> list[Film]:
    """The rows of a film table as plain Python, which is far quicker to index than pandas."""
    years = [None if pd.isna(year) else int(year) for year in movies["year"]]
    return list(map(Film, movies["movie_id"].tolist(), movies["title"].tolist(), years, movies["genres"].tolist()))


@dataclass(frozen=True)
class Catalog:
    """The films of a data set. `movies` has MOVIE_COLUMNS: row i is item i.

    movie_id int64 · title str, without the year, articles in front ("The Matrix") · year Int64, nullable ·
    genres str, "Action|Sci-Fi", "" when none · tags str, the most frequent ones separated by ", ", "" when none ·
    imdb_id str like "tt0114709", "" when unknown · tmdb_id Int64, nullable. Of somebody's own set also, all str:
    item_id what it is called in the file, where that is no number · image an address · text what else is said of it.
    """

    movies: pd.DataFrame
    infrequent: pd.DataFrame  # same columns: films of the set with too few ratings to train on
    tags: Tags = field(default_factory=Tags, repr=False)  # when each tag was given, for all these films
    details: Details = field(default_factory=Details, repr=False)  # who made them, where the set was enriched

    def __len__(self) -> int:
        return len(self.movies)

    @cached_property
    def movie_ids(self) -> np.ndarray:
        """(I,) original film ids."""
        return self.movies["movie_id"].to_numpy(np.int64)

    @cached_property
    def item_of(self) -> dict[int, int]:
        """Original film id → item; films that were left out are not in it."""
        return {int(movie): item for item, movie in enumerate(self.movie_ids)}

    @cached_property
    def films(self) -> list[Film]:
        """The film of item i at index i; after the I items, those that training left out."""
        return [*films(self.movies), *films(self.infrequent)]

    @cached_property
    def number_of(self) -> dict[int, int]:
        """Original film id → index in `films`."""
        return {film.movie_id: number for number, film in enumerate(self.films)}

    @cached_property
    def images(self) -> dict[int, str]:
        """Original film id → the address of its picture, where somebody's own set gives one."""
        tables = [movies for movies in (self.movies, self.infrequent) if "image" in movies]
        pairs = (zip(movies["movie_id"].tolist(), movies["image"].tolist(), strict=True) for movies in tables)
        return {movie: image for table in pairs for movie, image in table if image}

    @cached_property
    def complete(self) -> "Catalog":
        """All films as items, in the order of `films`, and none left out: for models that read descriptions alone."""
        whole = pd.concat([self.movies, self.infrequent], ignore_index=True)
        return replace(self, movies=whole, infrequent=self.infrequent.iloc[:0])

    def as_of(self, time: int) -> "Catalog":
        """The catalogue with the tags that were given before a time, in seconds since 1970.

        Films whose tags have no times lose them: nobody knows whether they were given before. So it is with subjects.
        """
        known, details = self.tags.before(time), self.details.as_released()
        movies, infrequent = known.onto(self.movies), known.onto(self.infrequent)
        return replace(self, movies=movies, infrequent=infrequent, tags=known, details=details)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the film list; a checkpoint fits a catalogue when this agrees."""
        digest = hashlib.sha256(self.movie_ids.astype("<i8").tobytes())
        if "item_id" in self.movies:  # ids are mere numbers then, which other items may have
            digest.update(json.dumps(self.movies["item_id"].tolist()).encode())
        return digest.hexdigest()


@dataclass(frozen=True)
class Interactions:
    """E events, sorted by user, then time; `Dataset.ties` tells how films of the same second were put in order."""

    user: np.ndarray  # (E,) int32, rows 0…U-1
    item: np.ndarray  # (E,) int32
    rating: np.ndarray  # (E,) float32
    timestamp: np.ndarray  # (E,) int64, seconds since 1970

    def __len__(self) -> int:
        return len(self.item)

    def select(self, keep: np.ndarray) -> "Interactions":
        """The events that a boolean mask (E,) keeps, in the same order."""
        return Interactions(self.user[keep], self.item[keep], self.rating[keep], self.timestamp[keep])


@dataclass(frozen=True, eq=False)  # compared by identity, so that weak caches can hold what belongs to one
class Dataset:
    """One named set: its films, its users and what they watched, oldest first.

    `people` has PEOPLE_COLUMNS: row u is user u. All are str, "" for what somebody did not say: gender "F" or "M" ·
    age one of AGES · occupation in the words of the set.
    """

    name: str
    catalog: Catalog
    interactions: Interactions
    user_ids: np.ndarray  # (U,) original ids
    ties: Ties = "file"
    user_profiles: pd.DataFrame | None = None  # (U, 3); None: the set says nothing about its people
    user_names: np.ndarray | None = None  # (U,) str, what the file calls its users; None: by their ids
    noun: Noun = "film"

    @property
    def n_users(self) -> int:
        """U."""
        return len(self.user_ids)

    @property
    def n_items(self) -> int:
        """I."""
        return len(self.catalog)

    @cached_property
    def offsets(self) -> np.ndarray:
        """(U+1,) user u's events are rows offsets[u]:offsets[u+1]."""
        user = self.interactions.user
        return np.searchsorted(user, np.arange(self.n_users + 1, dtype=user.dtype))  # other types would copy all E

    def history(self, user: int) -> np.ndarray:
        """The items of one user, oldest first."""
        return self.interactions.item[self.offsets[user] : self.offsets[user + 1]]

    @cached_property
    def histories(self) -> list[np.ndarray]:
        """Every user's items, oldest first; views, not copies."""
        return np.split(np.asarray(self.interactions.item), self.offsets[1:-1])

    @cached_property
    def counts(self) -> np.ndarray:
        """(I,) how often each item was watched."""
        return np.bincount(self.interactions.item, minlength=self.n_items)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the sequences in original film ids, user by user, without times or ratings."""
        digest = hashlib.sha256(np.diff(self.offsets).astype("<i8").tobytes())
        digest.update(self.catalog.movie_ids[self.interactions.item].astype("<i8").tobytes())
        return digest.hexdigest()

    @cached_property
    def full_fingerprint(self) -> str:
        """SHA-256 of the sequences with their times and ratings; never needed to load or to serve a set."""
        digest = hashlib.sha256(bytes.fromhex(self.fingerprint))
        digest.update(self.interactions.timestamp.astype("<i8").tobytes())
        digest.update(self.interactions.rating.astype("<f4").tobytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class Queries:
    """B histories to score: what each person has watched so far, oldest first."""

    histories: Sequence[np.ndarray]
    users: np.ndarray | None = None  # (B,) rows of the training data; None: unseen users, such as visitors of the app
    ratings: Sequence[np.ndarray] | None = None  # (T,) float32 for each history, NaN: not rated; None: nothing was
    user_profiles: pd.DataFrame | None = None  # (B, 3) as in `Dataset`; None: nothing is known of them

    def __len__(self) -> int:
        return len(self.histories)

    def __getitem__(self, rows: slice | np.ndarray) -> "Queries":
        chosen = np.arange(len(self))[rows]
        users = None if self.users is None else self.users[rows]
        ratings = None if self.ratings is None else [self.ratings[row] for row in chosen]
        profiles = None if self.user_profiles is None else self.user_profiles.iloc[rows]
        return Queries([self.histories[row] for row in chosen], users, ratings, profiles)


@dataclass(frozen=True)
class HeldOut:
    """Histories and, for each, the item that came next."""

    queries: Queries
    targets: np.ndarray  # (B,) items

    def __len__(self) -> int:
        return len(self.targets)


@dataclass(frozen=True)
class Split:
    """What a model may learn from, what it may be tuned on, and what it is measured by."""

    train: Dataset
    valid: HeldOut
    test: HeldOut
    description: dict[
        str, Any
    ]  # how the set was divided, as JSON: {"name": "time", "dates": {"valid": "2000-12-04", …}}
