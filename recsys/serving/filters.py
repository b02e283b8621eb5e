"""Which films may be recommended, how well known they are, and how diverse a list is. Shapes: I films, G genres."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from recsys.config import Fraction, config_class
from recsys.data.dataset import Dataset
from recsys.text.films import genre_matrix

# How well known: the share of the set's films that are watched more often lies between these two.
POPULARITY_LEVELS: dict[str, tuple[float, float]] = {
    "mainstream": (0.0, 0.05),
    "well known": (0.0, 0.20),
    "any": (0.0, 1.0),
    "lesser known": (0.20, 1.0),
    "hidden gems": (0.50, 1.0),
}
Year = Annotated[int, Field(ge=0, le=9999)]
MMR_POOL_SIZE = 100  # of the best films, from which a diverse list is chosen


@config_class
class Filters:
    """Which films a person wants to be shown. The default lets every film pass that was not watched."""

    years: tuple[Year, Year] | None = None  # first and last, both included; a film without a year does not pass
    genres: tuple[str, ...] = ()  # at least one of them
    excluded_genres: tuple[str, ...] = ()  # none of them
    popularity: Literal["mainstream", "well known", "any", "lesser known", "hidden gems"] = "any"  # a step of KNOWN
    released_by_last_film: bool = False  # nothing newer than the last film of the history
    hide_seen: bool = True  # no film of the history
    diversity: Fraction = 0.0  # 0…1: how much the films of a list are to differ, see `mmr`

    @property
    def active(self) -> list[str]:
        """The names of the fields that differ from the default."""
        return [field.name for field in fields(self) if getattr(self, field.name) != field.default]

    @property
    def restricts(self) -> bool:
        """Whether `allowed` would refuse any film."""
        return bool(
            self.years or self.genres or self.excluded_genres or self.released_by_last_film or self.popularity != "any"
        )


@dataclass(frozen=True)
class FilmFeatures:
    """What filters look at, film by film."""

    years: np.ndarray  # (I,) int, 0: unknown
    genres: tuple[str, ...]  # G, in alphabetical order
    genre_matrix: np.ndarray  # (I, G) bool: which film has which genre
    popularity_percentile: np.ndarray  # (I,) share of the films that are watched more often: 0 for the most watched one

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last year of a film; (0, 0) where no film has a year."""
        known = self.years[self.years > 0]
        return (int(known.min()), int(known.max())) if len(known) else (0, 0)


def film_features(dataset: Dataset) -> FilmFeatures:
    """The facts of every film; `Predictor.facts` keeps them, as this takes a moment for a large catalogue."""
    years = dataset.catalog.movies["year"].fillna(0).to_numpy(np.int64)
    has, genres = genre_matrix(dataset.catalog)
    ascending = np.sort(dataset.counts)
    more = len(ascending) - np.searchsorted(ascending, dataset.counts, side="right")  # equally watched: equally known
    return FilmFeatures(years, genres, has, more / max(1, len(ascending)))


def allowed_mask(
    known: FilmFeatures, filters: Filters, history: Sequence[int], unwanted: Sequence[int] = ()
) -> np.ndarray:
    """(I,) bool: which films pass every filter and are not `unwanted`; history: items, the newest last."""
    passing = _all_of(known, list(_masks(known, filters, history).values()))
    passing[_items(known, unwanted)] = False
    return passing


def blocking_filters(
    known: FilmFeatures, filters: Filters, history: Sequence[int], unwanted: Sequence[int] = ()
) -> list[str]:
    """Where no film is left: the filters of which each alone, if dropped, would let one through."""
    masks = _masks(known, filters, history)
    free = np.ones(len(known.years), bool)
    free[_items(known, [*unwanted, *(history if filters.hide_seen else ())])] = False
    without = {name: [mask for other, mask in masks.items() if other != name] for name in masks}
    return [name for name, others in without.items() if (_all_of(known, others) & free).any()]


def _items(known: FilmFeatures, films: Sequence[int]) -> list[int]:
    """Those of some films that are items: I and more are films that training left out, of which no facts are kept."""
    return [film for film in films if film < len(known.years)]


def _all_of(known: FilmFeatures, masks: list[np.ndarray]) -> np.ndarray:
    """(I,) bool: which films pass all of them."""
    passing = np.ones(len(known.years), bool)
    for mask in masks:
        passing &= mask
    return passing


def _masks(known: FilmFeatures, filters: Filters, history: Sequence[int]) -> dict[str, np.ndarray]:
    """Which films (I,) pass, by the name of the filter; only filters that are set."""
    masks = {}
    if filters.years:
        first, last = filters.years
        masks["years"] = (known.years > 0) & (known.years >= first) & (known.years <= last)
    if filters.genres:
        masks["genres"] = _any_of(known, filters.genres)
    if filters.excluded_genres:
        masks["excluded_genres"] = ~_any_of(known, filters.excluded_genres)
    if filters.popularity != "any":
        least, most = POPULARITY_LEVELS[filters.popularity]
        masks["popularity"] = (known.popularity_percentile >= least) & (known.popularity_percentile < most)
    if filters.released_by_last_film and (latest := _latest(known, history)):
        masks["released_by_last_film"] = (known.years > 0) & (known.years <= latest)
    return masks


def _any_of(known: FilmFeatures, genres: Sequence[str]) -> np.ndarray:
    """(I,) which films have one of the genres; a genre that the set lacks is nobody's."""
    columns = [known.genres.index(genre) for genre in genres if genre in known.genres]
    return np.asarray(known.genre_matrix[:, columns].any(axis=1))


def _latest(known: FilmFeatures, history: Sequence[int]) -> int:
    """The year of the last film that has one; 0 where none has."""
    return next((int(known.years[item]) for item in reversed(_items(known, history)) if known.years[item]), 0)


def mmr(items: np.ndarray, scores: np.ndarray, likeness: np.ndarray, k: int, diversity: float) -> np.ndarray:
    """Up to k of `items`, chosen one by one for being good and unlike those already chosen.

    Maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998) with λ = 1 - diversity. items (n,): best first;
    scores (n,): theirs, brought to 0…1 here; likeness (n, n): how alike they are, 0…1. Diversity 0 keeps the order;
    the best film always stays first.
    """
    if not len(items):
        return items
    low, high = float(scores.min()), float(scores.max())
    relevance = (scores - low) / ((high - low) or 1.0)
    nearest, chosen = np.zeros(len(items)), np.zeros(0, np.int64)
    for _ in range(min(k, len(items))):
        marginal = (1 - diversity) * relevance - diversity * nearest
        marginal[chosen] = -np.inf
        best = int(marginal.argmax())  # of equals the one that the model puts first
        chosen = np.append(chosen, best)
        nearest = np.maximum(nearest, likeness[best])
    return items[chosen]


def genre_similarity(has: np.ndarray) -> np.ndarray:
    """(n, n) cosines, 0…1, of the genres (n, G) of films; a film without a genre is like no other."""
    vectors = has / np.maximum(1.0, np.sqrt(has.sum(1, keepdims=True)))
    return np.asarray(vectors @ vectors.T)


def vector_similarity(vectors: np.ndarray) -> np.ndarray:
    """(n, n) cosines of the vectors (n, D) of films, from 0 for the least alike pair to 1 for the most alike.

    What a cosine of 0.4 means differs from model to model; which of these films are the most alike does not.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions = vectors / np.where(lengths > 0, lengths, 1)
    cosines = directions @ directions.T
    pairs = cosines[~np.eye(len(cosines), dtype=bool)]
    low, high = (float(pairs.min()), float(pairs.max())) if len(pairs) else (0.0, 1.0)
    return np.clip((cosines - low) / ((high - low) or 1.0), 0, 1)
