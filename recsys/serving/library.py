"""All films of a set to browse, those included that training left out: filtered, put in order, a page at a time.

Shapes: F films as `Catalog.films` numbers them, I of them items; T tags given.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from recsys.data.dataset import Dataset
from recsys.data.statistics import has_ratings
from recsys.serving import filters
from recsys.serving.filters import FilmFeatures, Filters
from recsys.serving.search.normalize import normalize, strip_article

DAMPING = 20  # ratings of the average film that "best rated" adds to each film's own: five of five stars say little
ORDERS = ("most watched", "best rated", "newest", "oldest", "title")


@dataclass(frozen=True)
class LibraryQuery:
    """What somebody wants to see of the library. Hashable, so that answers can be cached by it."""

    filters: Filters = field(default_factory=Filters)  # years, genres and how well known; the rest is not read
    tags: tuple[str, ...] = ()  # all of them, in upper or lower case
    order: str = ORDERS[0]


@dataclass(frozen=True, eq=False)
class Library:
    """What browsing looks at, film by film."""

    dataset: Dataset
    facts: FilmFeatures  # of F films
    watched: np.ndarray  # (F,) how often each was rated; 0 for those left out, whose few ratings are not kept
    rating: np.ndarray  # (F,) mean stars, NaN where nobody's are known and in a set without ratings

    @classmethod
    def of(cls, dataset: Dataset) -> "Library":
        """That of a data set; takes a second for 20 million ratings."""
        events, n_left_out = dataset.interactions, len(dataset.catalog.infrequent)
        watched = np.append(dataset.counts, np.zeros(n_left_out, np.int64))
        stars = np.bincount(events.item, weights=events.rating, minlength=len(watched))
        known = (watched > 0) & has_ratings(dataset)
        rating = np.divide(stars, watched, out=np.full(len(watched), np.nan), where=known)
        return cls(dataset, _library_features(dataset), watched, rating)

    def __len__(self) -> int:
        """F."""
        return len(self.watched)

    def find(self, wish: LibraryQuery, among: Sequence[int] | None = None) -> np.ndarray:
        """The films (n,) that pass, in the order that is wished; among: only these, in the order in which they come."""
        passing = self.passing(wish)
        if among is not None:
            films = np.asarray(among, np.int64)
            return films[passing[films]]
        order = self._order(wish.order)
        return order[passing[order]]

    def passing(self, wish: LibraryQuery) -> np.ndarray:
        """(F,) bool: which films have the years, genres, renown and tags that are wished."""
        return filters.allowed_mask(self.facts, wish.filters, ()) & self._tagged(wish.tags)

    def tags(self, most: int) -> list[str]:
        """The tags that were given to most films, at most so many, in alphabetical order."""
        return sorted(tag for tag, _ in Counter(self._films_by_tag).most_common(most))

    def _order(self, name: str) -> np.ndarray:
        """(F,) all films in one of ORDERS; of equals the more watched, then the lower number first."""
        if name not in self._orders:
            self._orders[name] = np.lexsort((np.arange(len(self)), -self.watched, self._key(name)))
        return self._orders[name]

    @cached_property
    def _orders(self) -> dict[str, np.ndarray]:
        return {}

    def _key(self, name: str) -> np.ndarray:
        """(F,) what ascends in an order; films of which nothing is known come last."""
        if name == "best rated":
            return -self._damped
        if name in ("newest", "oldest"):
            years = self.facts.years
            return np.where(years > 0, -years if name == "newest" else years, np.iinfo(np.int64).max)
        if name == "title":
            titles = [
                strip_article(normalize(film.title)) for film in self.dataset.catalog.films
            ]  # "The Matrix" is under M
            return np.unique(np.array(titles, dtype=object), return_inverse=True)[1]
        return -self.watched

    @cached_property
    def _damped(self) -> np.ndarray:
        """(F,) mean stars as if DAMPING more people had rated like all people; minus infinity where nobody rated."""
        ratings = self.dataset.interactions.rating
        prior = float(ratings.mean(dtype=np.float64)) if len(ratings) else 0.0
        damped = (self.watched * np.nan_to_num(self.rating) + DAMPING * prior) / (self.watched + DAMPING)
        return np.where(self.watched > 0, damped, -np.inf)

    def _tagged(self, tags: Sequence[str]) -> np.ndarray:
        """(F,) bool: which films somebody gave all of these tags."""
        given = self.dataset.catalog.tags
        passing = np.ones(len(self), bool)
        for tag in tags:
            word = " ".join(tag.lower().split())
            place = bisect_left(given.words, word)
            known = given.words[place : place + 1] == (word,)
            passing &= np.isin(self._movie_ids, given.movie[given.word == place] if known else [])
        return passing

    @cached_property
    def _movie_ids(self) -> np.ndarray:
        """(F,) original film ids."""
        return np.array([film.movie_id for film in self.dataset.catalog.films], np.int64)

    @cached_property
    def _films_by_tag(self) -> dict[str, int]:
        """Tag → how many films have it."""
        given = self.dataset.catalog.tags
        pairs = np.unique(np.stack([given.word, given.movie]).astype(np.int64), axis=1)  # who gave it does not count
        words, films = np.unique(pairs[0], return_counts=True)
        return {given.words[word]: int(n) for word, n in zip(words.tolist(), films.tolist(), strict=True)}


def _library_features(dataset: Dataset) -> FilmFeatures:
    """The facts of F films. How well known an item is counts among the items, as elsewhere; a film left out comes last.

    All I items are watched more than it, of I + 1 films.
    """
    whole = filters.film_features(replace(dataset, catalog=dataset.catalog.complete))
    items = filters.film_features(dataset).popularity_percentile
    last = np.full(len(dataset.catalog.infrequent), dataset.n_items / (dataset.n_items + 1))
    return replace(whole, popularity_percentile=np.append(items, last))
