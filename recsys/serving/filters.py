"""Exclude films by filters, and select diverse lists of films.

Shapes: I items, G genres, D dimensions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from recsys.config import Fraction, config_class
from recsys.data.dataset import Dataset, cache_by_dataset
from recsys.data.film_tables import original_languages
from recsys.text.films import genre_matrix, rows_by_value

# level → half-open range [low, high) of `FilmFeatures.popularity_percentile`
POPULARITY_LEVELS: dict[str, tuple[float, float]] = {
    "mainstream": (0.0, 0.05),
    "well known": (0.0, 0.20),
    "any": (0.0, 1.0),
    "lesser known": (0.20, 1.0),
    "hidden gems": (0.50, 1.0),
}
N_MMR_CANDIDATES = 100  # best films from which `mmr` selects a diverse list
DEFAULT_LANGUAGE = "en"  # of films that are not in the table of original languages; for some, it is really unknown
Year = Annotated[int, Field(ge=0, le=9999)]


@config_class
class Filters:
    """The filters of a request. By default, only the films of the history are excluded."""

    years: tuple[Year, Year] | None = None  # both included; excludes films without a year
    genres: tuple[str, ...] = ()  # a film must have at least one of them
    excluded_genres: tuple[str, ...] = ()  # a film must have none of them
    popularity: Literal["mainstream", "well known", "any", "lesser known", "hidden gems"] = "any"
    released_by_last_film: bool = False  # excludes films that are newer than the last film of the history
    hide_seen: bool = True  # excludes the films of the history
    diversity: Fraction = 0.0  # see `mmr`
    languages: tuple[str, ...] = ()  # ISO 639 codes; a film must have one of them as its original language
    countries: tuple[str, ...] = ()  # a film must be from at least one of them

    @property
    def active_fields(self) -> list[str]:
        """The names of the fields that differ from their defaults."""
        return [field.name for field in fields(self) if getattr(self, field.name) != field.default]

    @property
    def excludes_films(self) -> bool:
        """Whether `allowed_mask` can exclude a film."""
        return bool(set(self.active_fields) - {"hide_seen", "diversity"})


@dataclass(frozen=True)
class FilmFeatures:
    """The properties of films that filters read."""

    years: np.ndarray  # (I,) int, 0: unknown
    years_by_film_number: np.ndarray  # years of the items and then of the infrequent films, int, 0: unknown
    genres: tuple[str, ...]  # (G,) in alphabetical order
    genre_matrix: np.ndarray  # (I, G) bool
    popularity_percentile: np.ndarray  # (I,) share of the films that are watched more often, 0 for the most watched
    items_by_language: Mapping[str, np.ndarray]  # code → items (n,); {} without a table of original languages
    items_by_country: Mapping[str, np.ndarray]  # name → items (n,); {} without film details

    @property
    def year_range(self) -> tuple[int, int]:
        """The years of the oldest and the newest film, (0, 0) if no year is known."""
        years = self.years[self.years > 0]
        return (int(years.min()), int(years.max())) if len(years) else (0, 0)


@cache_by_dataset
def film_features(dataset: Dataset) -> FilmFeatures:
    """Return the features of all items of a data set."""
    all_years = np.array([film.year or 0 for film in dataset.catalog.films], np.int64)
    years = all_years[: dataset.n_items]
    matrix, genres = genre_matrix(dataset.catalog)
    ascending = np.sort(dataset.counts)
    n_more_popular = len(ascending) - np.searchsorted(ascending, dataset.counts, side="right")
    percentile = n_more_popular / max(1, len(ascending))
    language_by_id, details = original_languages(dataset.name), dataset.catalog.details
    movie_ids = dataset.catalog.movie_ids.tolist()
    items_by_language, items_by_country = {}, {}
    if language_by_id:
        languages = (language_by_id.get(movie_id, DEFAULT_LANGUAGE) for movie_id in movie_ids)
        items_by_language = _items_by_value((language,) for language in languages)
    if len(details):
        items_by_country = _items_by_value(details.get(movie_id).countries for movie_id in movie_ids)
    return FilmFeatures(years, all_years, genres, matrix, percentile, items_by_language, items_by_country)


def _items_by_value(values_of_items: Iterable[Iterable[str]]) -> dict[str, np.ndarray]:
    """Return value → items (n,) that have the value."""
    return {value: np.array(items, np.int64) for value, items in rows_by_value(values_of_items).items()}


def allowed_mask(features: FilmFeatures, filters: Filters, history: Sequence[int]) -> np.ndarray:
    """Return True for the items that pass all filters except `hide_seen`, (I,) bool.

    `history` has film numbers, oldest first. Only `released_by_last_film` reads it.
    """
    years, mask = features.years, np.ones(len(features.years), bool)
    if filters.years:
        oldest, newest = filters.years
        mask &= (years > 0) & (years >= oldest) & (years <= newest)
    if filters.genres:
        mask &= _has_genre(features, filters.genres)
    if filters.excluded_genres:
        mask &= ~_has_genre(features, filters.excluded_genres)
    if filters.languages:
        mask &= _has_value(features, features.items_by_language, filters.languages)
    if filters.countries:
        mask &= _has_value(features, features.items_by_country, filters.countries)
    if filters.popularity != "any":
        low, high = POPULARITY_LEVELS[filters.popularity]
        mask &= (features.popularity_percentile >= low) & (features.popularity_percentile < high)
    if filters.released_by_last_film:
        history_years = [year for film in history if (year := features.years_by_film_number[film]) > 0]
        if history_years:
            mask &= (years > 0) & (years <= history_years[-1])
    return mask


def _has_value(features: FilmFeatures, items_by_value: Mapping[str, np.ndarray], values: Sequence[str]) -> np.ndarray:
    """Return True for the items with one of the values, (I,) bool."""
    mask = np.zeros(len(features.years), bool)
    for value in values:
        mask[items_by_value.get(value, [])] = True
    return mask


def _has_genre(features: FilmFeatures, genres: Sequence[str]) -> np.ndarray:
    """Return True for the items with one of the genres, (I,) bool. Genres that the data set lacks are ignored."""
    columns = [features.genres.index(genre) for genre in genres if genre in features.genres]
    return np.asarray(features.genre_matrix[:, columns].any(axis=1))


def mmr(items: np.ndarray, scores: np.ndarray, similarity: np.ndarray, k: int, diversity: float) -> np.ndarray:
    """Choose at most k items by maximal marginal relevance, with λ = 1 - diversity.

    Each step chooses an item with a high score and a low similarity to the items chosen before. The best item is always
    chosen first. A diversity of 0 does not change the order.

    Args:
        items: Items (n,), best first.
        scores: Scores (n,) of the items. They are scaled to 0…1.
        similarity: Similarities (n, n) of the items, 0…1.
        k: Number of items to choose.
        diversity: 0…1.

    Reference: Carbonell and Goldstein, SIGIR 1998.
    """
    if not len(items):
        return items
    low, high = float(scores.min()), float(scores.max())
    relevance = (scores - low) / ((high - low) or 1.0)
    max_similarity = np.zeros(len(items))  # of each item to the chosen items
    chosen_rows: list[int] = []
    for _ in range(min(k, len(items))):
        marginal_relevance = (1 - diversity) * relevance - diversity * max_similarity
        marginal_relevance[chosen_rows] = -np.inf
        best = int(marginal_relevance.argmax())  # ties: the item that the model ranks higher
        chosen_rows.append(best)
        max_similarity = np.maximum(max_similarity, similarity[best])
    return items[chosen_rows]


def genre_similarity(matrix: np.ndarray) -> np.ndarray:
    """Return the cosines, (n, n) 0…1, of the genres of n films, (n, G) bool. They are 0 for a film without genres."""
    vectors = matrix / np.maximum(1.0, np.sqrt(matrix.sum(1, keepdims=True)))
    return np.asarray(vectors @ vectors.T)


def vector_similarity(vectors: np.ndarray) -> np.ndarray:
    """Return the cosines of vectors (n, D), scaled to 0 for the least and 1 for the most similar pair, (n, n).

    They are scaled because the range of the cosines depends on the model.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions = vectors / np.where(lengths > 0, lengths, 1)
    cosines = directions @ directions.T
    pairs = cosines[~np.eye(len(cosines), dtype=bool)]
    low, high = (float(pairs.min()), float(pairs.max())) if len(pairs) else (0.0, 1.0)
    return np.clip((cosines - low) / ((high - low) or 1.0), 0, 1)
