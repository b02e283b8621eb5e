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
from recsys.data.statistics import has_ratings
from recsys.serving import filters
from recsys.serving.filters import FilmFeatures, Filters
from recsys.serving.search.normalize import normalize, strip_article

DAMPING = 20  # average ratings that the order "best rated" adds to each film, because few ratings are unreliable
ORDERS = ("most watched", "best rated", "newest", "oldest", "title")


@dataclass(frozen=True)
class LibraryQuery:
    """The films to browse. Queries are hashable, so results can be cached."""

    filters: Filters = field(default_factory=Filters)  # years, genres and popularity; other filters have no effect
    tags: tuple[str, ...] = ()  # a film must have all of them; case is ignored
    order: str = ORDERS[0]


@dataclass(frozen=True, eq=False)
class Library:
    """The films of a data set with the values that filters and orders read."""

    dataset: Dataset
    features: FilmFeatures  # features of F films
    watched: np.ndarray  # (F,) number of ratings; 0 for infrequent films, whose ratings are not stored
    rating: np.ndarray  # (F,) mean stars, NaN for infrequent films and in a data set without ratings

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> "Library":
        """Return the library of a data set. It takes a second for 20 million ratings."""
        events, n_infrequent = dataset.interactions, len(dataset.catalog.infrequent)
        watched = np.append(dataset.counts, np.zeros(n_infrequent, np.int64))
        stars = np.bincount(events.item, weights=events.rating, minlength=len(watched))
        rated = (watched > 0) & has_ratings(dataset)
        rating = np.divide(stars, watched, out=np.full(len(watched), np.nan), where=rated)
        return cls(dataset, _library_features(dataset), watched, rating)

    def __len__(self) -> int:
        """The number of films, F."""
        return len(self.watched)

    def search(self, query: LibraryQuery, among: Sequence[int] | None = None) -> np.ndarray:
        """Return the numbers of the matching films, (n,), in the order of the query.

        With film numbers `among`, only these films can match, and they keep their order.
        """
        mask = self.matching_mask(query)
        if among is not None:
            films = np.asarray(among, np.int64)
            return films[mask[films]]
        films = self._sorted_films(query.order)
        return films[mask[films]]

    def matching_mask(self, query: LibraryQuery) -> np.ndarray:
        """Return True for the films that match the filters and have all tags, (F,) bool."""
        mask, tags = filters.allowed_mask(self.features, query.filters, ()), self.dataset.catalog.tags
        for tag in query.tags:
            word = " ".join(tag.lower().split())
            number = bisect_left(tags.words, word)
            if number == len(tags.words) or tags.words[number] != word:
                return np.zeros(len(self), bool)
            mask &= np.isin(self._movie_ids, tags.movie[tags.word == number])
        return mask

    def tags(self, n: int) -> list[str]:
        """Return the n tags that most films have, in alphabetical order."""
        return sorted(tag for tag, _ in self._films_by_tag.most_common(n))

    def _sorted_films(self, order: str) -> np.ndarray:
        """Return all film numbers in one of ORDERS, (F,). Ties: the most watched film first, then the lowest number."""
        if order not in self._sorted_films_cache:
            films = np.lexsort((np.arange(len(self)), -self.watched, self._sort_key(order)))
            self._sorted_films_cache[order] = films
        return self._sorted_films_cache[order]

    @cached_property
    def _sorted_films_cache(self) -> dict[str, np.ndarray]:
        return {}

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
            return np.unique(np.array(titles, dtype=object), return_inverse=True)[1]
        return -self.watched

    @cached_property
    def _damped_rating(self) -> np.ndarray:
        """The mean stars after DAMPING additional ratings with the mean of all ratings, (F,); -inf: no ratings."""
        ratings = self.dataset.interactions.rating
        prior = float(ratings.mean(dtype=np.float64)) if len(ratings) else 0.0
        damped = (self.watched * np.nan_to_num(self.rating) + DAMPING * prior) / (self.watched + DAMPING)
        return np.where(self.watched > 0, damped, -np.inf)

    @cached_property
    def _movie_ids(self) -> np.ndarray:
        """The original film ids, (F,)."""
        return np.array([film.movie_id for film in self.dataset.catalog.films], np.int64)

    @cached_property
    def _films_by_tag(self) -> Counter[str]:
        """The number of films of each tag."""
        tags = self.dataset.catalog.tags
        pairs = np.unique(np.stack([tags.word, tags.movie]).astype(np.int64), axis=1)  # a tag counts once per film
        return Counter(tags.words[word] for word in pairs[0].tolist())


def _library_features(dataset: Dataset) -> FilmFeatures:
    """Return the features of F films.

    The popularity percentile of an item is the same as in filters of recommendations. For an infrequent film, it is
    I / (I + 1), as if all I items were watched more often.
    """
    features = filters.film_features(replace(dataset, catalog=dataset.catalog.complete))
    items = filters.film_features(dataset).popularity_percentile
    infrequent = np.full(len(dataset.catalog.infrequent), dataset.n_items / (dataset.n_items + 1))
    return replace(features, popularity_percentile=np.append(items, infrequent))
