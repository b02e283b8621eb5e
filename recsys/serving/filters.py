"""Filter recommendations, and make lists diverse.

Shapes: I items, G genres, D dimensions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from recsys.config import Fraction, config_class
from recsys.data.dataset import Dataset, cache_by_dataset
from recsys.text.fields import original_languages
from recsys.text.films import genre_matrix

# level → half-open range [low, high) of `FilmFeatures.popularity_percentile`
POPULARITY_LEVELS: dict[str, tuple[float, float]] = {
    "mainstream": (0.0, 0.05),
    "well known": (0.0, 0.20),
    "any": (0.0, 1.0),
    "lesser known": (0.20, 1.0),
    "hidden gems": (0.50, 1.0),
}
MMR_POOL_SIZE = 100  # best films from which `mmr` selects a diverse list
OTHER_LANGUAGE = "en"  # language of films that are not in the table of original languages: English or unknown
Year = Annotated[int, Field(ge=0, le=9999)]


@config_class
class Filters:
    """Filters of a request. The default excludes only the films of the history."""

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
    def active(self) -> list[str]:
        """The names of the fields that differ from their defaults."""
        return [row.name for row in fields(self) if getattr(self, row.name) != row.default]

    @property
    def restricts(self) -> bool:
        """Whether `allowed_mask` can exclude a film."""
        return bool(set(self.active) - {"hide_seen", "diversity"})


@dataclass(frozen=True)
class FilmFeatures:
    """The properties of films that filters read."""

    years: np.ndarray  # (I,) int, 0: unknown
    genres: tuple[str, ...]  # G, in alphabetical order
    genre_matrix: np.ndarray  # (I, G) bool
    popularity_percentile: np.ndarray  # (I,) share of the films that are watched more often, 0 for the most watched
    languages: Mapping[str, np.ndarray]  # code → items (n,); {} if unknown
    countries: Mapping[str, np.ndarray]  # name → items (n,); {} without film details

    @property
    def year_range(self) -> tuple[int, int]:
        """The years of the oldest and the newest film, (0, 0) if no year is known."""
        years = self.years[self.years > 0]
        return (int(years.min()), int(years.max())) if len(years) else (0, 0)


@cache_by_dataset
def film_features(dataset: Dataset) -> FilmFeatures:
    """Return the features of all items. They take a moment for large catalogues."""
    years = np.array([film.year or 0 for film in dataset.catalog.films[: dataset.n_items]], np.int64)
    matrix, genres = genre_matrix(dataset.catalog)
    ascending = np.sort(dataset.counts)
    n_more = len(ascending) - np.searchsorted(ascending, dataset.counts, side="right")
    percentile = n_more / max(1, len(ascending))
    languages, details = original_languages(dataset.name), dataset.catalog.details
    movie_ids = dataset.catalog.movie_ids.tolist()
    items_by_language, items_by_country = {}, {}
    if languages:
        items_by_language = _items_by_value([languages.get(movie, OTHER_LANGUAGE)] for movie in movie_ids)
    if len(details):
        items_by_country = _items_by_value(details.get(movie).countries for movie in movie_ids)
    return FilmFeatures(years, genres, matrix, percentile, items_by_language, items_by_country)


def _items_by_value(values_of_items: Iterable[Iterable[str]]) -> dict[str, np.ndarray]:
    """Return value → items that have it, (n,)."""
    items: dict[str, list[int]] = {}
    for item, values in enumerate(values_of_items):
        for value in values:
            items.setdefault(value, []).append(item)
    return {value: np.array(numbers, np.int64) for value, numbers in items.items()}


def allowed_mask(features: FilmFeatures, filters: Filters, history: Sequence[int]) -> np.ndarray:
    """Return True for the items that pass all filters but `hide_seen`, (I,) bool. For `history`, see `Request`."""
    return _all_of(features, _masks(features, filters, history).values())


def blocking_filters(
    features: FilmFeatures, filters: Filters, history: Sequence[int], unwanted: Sequence[int] = ()
) -> list[str]:
    """Return the filters (fields) whose removal alone lets a film pass. Call it only if no film passes all filters."""
    masks = _masks(features, filters, history)
    candidates = np.ones(len(features.years), bool)
    candidates[_without_infrequent(features, [*unwanted, *(history if filters.hide_seen else ())])] = False

    def is_blocking(name: str) -> bool:
        others = [mask for other, mask in masks.items() if other != name]
        return bool((_all_of(features, others) & candidates).any())

    return list(filter(is_blocking, masks))


def _without_infrequent(features: FilmFeatures, films: Sequence[int]) -> list[int]:
    """Return the film numbers that are items. Infrequent films have no features."""
    return [film for film in films if film < len(features.years)]


def _all_of(features: FilmFeatures, masks: Iterable[np.ndarray]) -> np.ndarray:
    """Return the conjunction of masks (I,) bool."""
    return np.logical_and.reduce([np.ones(len(features.years), bool), *masks])


def _masks(features: FilmFeatures, filters: Filters, history: Sequence[int]) -> dict[str, np.ndarray]:
    """Return a mask (I,) bool for each filter that is set, by its field."""
    masks = {}
    if filters.years:
        oldest, newest = filters.years
        masks["years"] = (features.years > 0) & (features.years >= oldest) & (features.years <= newest)
    if filters.genres:
        masks["genres"] = _has_genre(features, filters.genres)
    if filters.excluded_genres:
        masks["excluded_genres"] = ~_has_genre(features, filters.excluded_genres)
    for name in ("languages", "countries"):
        if selected_values := getattr(filters, name):
            masks[name] = np.zeros(len(features.years), bool)
            for value in selected_values:
                masks[name][getattr(features, name).get(value, [])] = True
    if filters.popularity != "any":
        low, high = POPULARITY_LEVELS[filters.popularity]
        masks["popularity"] = (features.popularity_percentile >= low) & (features.popularity_percentile < high)
    history_years = [features.years[item] for item in _without_infrequent(features, history) if features.years[item]]
    if filters.released_by_last_film and history_years:
        masks["released_by_last_film"] = (features.years > 0) & (features.years <= history_years[-1])
    return masks


def _has_genre(features: FilmFeatures, genres: Sequence[str]) -> np.ndarray:
    """Return True for the films with one of the genres, (I,) bool. Genres that the data set lacks are ignored."""
    columns = [features.genres.index(genre) for genre in genres if genre in features.genres]
    return np.asarray(features.genre_matrix[:, columns].any(axis=1))


def mmr(items: np.ndarray, scores: np.ndarray, similarity: np.ndarray, k: int, diversity: float) -> np.ndarray:
    """Choose at most k items by maximal marginal relevance, with λ = 1 - diversity.

    Each step chooses an item with a high score and a low similarity to the items chosen before. The best item is always
    the first. A diversity of 0 does not change the order.

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
    chosen = np.zeros(0, np.int64)
    for _ in range(min(k, len(items))):
        marginal = (1 - diversity) * relevance - diversity * max_similarity
        marginal[chosen] = -np.inf
        best = int(marginal.argmax())  # ties: the item that the model ranks higher
        chosen = np.append(chosen, best)
        max_similarity = np.maximum(max_similarity, similarity[best])
    return items[chosen]


def genre_similarity(matrix: np.ndarray) -> np.ndarray:
    """Return the cosines (n, n), 0…1, of films with these genres (n, G). They are 0 for a film without genres."""
    vectors = matrix / np.maximum(1.0, np.sqrt(matrix.sum(1, keepdims=True)))
    return np.asarray(vectors @ vectors.T)


def vector_similarity(vectors: np.ndarray) -> np.ndarray:
    """Return the cosines of vectors (n, D), scaled to 0 for the least and 1 for the most similar pair, (n, n).

    They are scaled because the range of cosines differs between models.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions = vectors / np.where(lengths > 0, lengths, 1)
    cosines = directions @ directions.T
    pairs = cosines[~np.eye(len(cosines), dtype=bool)]
    low, high = (float(pairs.min()), float(pairs.max())) if len(pairs) else (0.0, 1.0)
    return np.clip((cosines - low) / ((high - low) or 1.0), 0, 1)
