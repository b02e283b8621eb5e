"""Browse all films of a data set, infrequent films included, with filters and orders.

Shapes: F films, in the order of `Catalog.films`. The first I films are items.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from recsys.data.dataset import Dataset
from recsys.data.datasets import PUBLISHED
from recsys.data.statistics import has_ratings
from recsys.serving import filters
from recsys.serving.filters import FilmFeatures, Filters
from recsys.serving.search.normalize import normalize, strip_article

DAMPING = 20  # ratings with average stars that "best rated" adds to each film, because a mean of few is unreliable
ORDERS = ("most watched", "best rated", "newest", "oldest", "title")


@dataclass(frozen=True)
class LibraryQuery:
    """The filters, tags and order of a list of films. Queries are hashable, so results can be cached."""

    filters: Filters = field(default_factory=Filters)  # hide_seen, diversity, released_by_last_film have no effect
    tags: tuple[str, ...] = ()  # a film must have all of them; case is ignored
    order: str = ORDERS[0]


@dataclass(frozen=True, eq=False)
class Library:
    """The films of a data set with the values that filters and orders read."""

    dataset: Dataset
    features: FilmFeatures  # of F films, not of I items
    n_ratings: np.ndarray  # (F,) int, 0 for infrequent films, whose ratings are not stored
    mean_stars: np.ndarray  # (F,) NaN for infrequent films and in a data set without ratings
    _sorted_films_cache: dict[str, np.ndarray] = field(default_factory=dict, init=False)  # by order

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> "Library":
        """Create the library of a data set. It takes a second for 20 million ratings."""
        interactions, n_infrequent = dataset.interactions, len(dataset.catalog.infrequent)
        n_ratings = np.append(dataset.counts, np.zeros(n_infrequent, np.int64))
        total_stars = np.bincount(interactions.item, weights=interactions.rating, minlength=len(n_ratings))
        is_rated = (n_ratings > 0) & has_ratings(dataset)
        mean_stars = np.divide(total_stars, n_ratings, out=np.full(len(n_ratings), np.nan), where=is_rated)
        return cls(dataset, _library_features(dataset), n_ratings, mean_stars)

    def __len__(self) -> int:
        """The number of films, F."""
        return len(self.n_ratings)

    @cached_property
    def n_viewers(self) -> np.ndarray:
        """The number of users who rated each film, (F,). It is below `n_ratings` if users rated a film repeatedly."""
        if self.dataset.name in PUBLISHED:  # published data sets have no repeated ratings
            return self.n_ratings
        events = self.dataset.interactions
        pairs = np.unique(events.user.astype(np.int64) * len(self) + events.item)  # distinct pairs of user and film
        return np.bincount(pairs % len(self), minlength=len(self))

    def search(self, query: LibraryQuery, candidates: Sequence[int] | None = None) -> np.ndarray:
        """Return the numbers of the matching films, (n,), in the order of the query.

        With `candidates`, only these film numbers can match, and they keep their order.
        """
        films = self._sorted_films(query.order) if candidates is None else np.asarray(candidates, np.int64)
        return films[self.matching_mask(query)[films]]

    def matching_mask(self, query: LibraryQuery) -> np.ndarray:
        """Return True for the films that match the filters and have all tags, (F,) bool."""
        mask, tags = filters.allowed_mask(self.features, query.filters, ()), self.dataset.catalog.tags
        for tag in query.tags:
            text = " ".join(tag.lower().split())
            index = bisect_left(tags.texts, text)
            if index == len(tags.texts) or tags.texts[index] != text:  # no film has the tag
                return np.zeros(len(self), bool)
            mask &= np.isin(self._movie_ids, tags.movie[tags.tag_index == index])
        return mask

    def common_tags(self, n: int) -> list[str]:
        """Return the n tags that most films have, in alphabetical order."""
        return sorted(tag for tag, _ in self._n_films_by_tag.most_common(n))

    def _sorted_films(self, order: str) -> np.ndarray:
        """Return all film numbers in one of ORDERS, (F,). Ties: the most watched film first, then the lowest number."""
        if order not in self._sorted_films_cache:
            films = np.lexsort((np.arange(len(self)), -self.n_ratings, self._sort_key(order)))
            self._sorted_films_cache[order] = films
        return self._sorted_films_cache[order]

    def _sort_key(self, order: str) -> np.ndarray:
        """Return the sort key of each film, (F,), smallest first. Films with an unknown value are last."""
        if order == "best rated":
            return -self._damped_rating
        if order in ("newest", "oldest"):
            years = self.features.years
            return np.where(years > 0, -years if order == "newest" else years, np.iinfo(np.int64).max)
        if order == "title":
            films = self.dataset.catalog.films
            titles = [strip_article(normalize(film.title)) for film in films]  # "The Matrix" is under M
            _, positions = np.unique(np.array(titles, dtype=object), return_inverse=True)  # in alphabetical order
            return positions
        return -self.n_ratings

    @cached_property
    def _damped_rating(self) -> np.ndarray:
        """The mean stars with DAMPING additional ratings, which are the mean of all ratings, (F,); -inf: no ratings."""
        ratings = self.dataset.interactions.rating
        prior = float(ratings.mean(dtype=np.float64)) if len(ratings) else 0.0
        damped = (self.n_ratings * np.nan_to_num(self.mean_stars) + DAMPING * prior) / (self.n_ratings + DAMPING)
        return np.where(self.n_ratings > 0, damped, -np.inf)

    @cached_property
    def _movie_ids(self) -> np.ndarray:
        """The movie ids, (F,)."""
        return np.array([film.movie_id for film in self.dataset.catalog.films], np.int64)

    @cached_property
    def _n_films_by_tag(self) -> Counter[str]:
        """The number of films that have each tag."""
        tags = self.dataset.catalog.tags
        pairs = np.unique(np.stack([tags.tag_index, tags.movie]).astype(np.int64), axis=1)  # a tag counts once per film
        return Counter(tags.texts[index] for index in pairs[0].tolist())


def _library_features(dataset: Dataset) -> FilmFeatures:
    """Return the features of F films.

    The popularity percentile of an item is the same as in filters of recommendations. For an infrequent film, it is
    I / (I + 1), which is the highest. It is not 1, because the ranges in `filters.POPULARITY_LEVELS` exclude 1.
    """
    features = filters.film_features(replace(dataset, catalog=dataset.catalog.complete))
    item_percentiles = filters.film_features(dataset).popularity_percentile
    infrequent_percentiles = np.full(len(dataset.catalog.infrequent), dataset.n_items / (dataset.n_items + 1))
    return replace(features, popularity_percentile=np.append(item_percentiles, infrequent_percentiles))
