"""Which films may be recommended, how well known they are, and how varied a list is. Shapes: I films, G genres."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from recsys.data.schema import Catalog, Dataset

# How well known: the share of the set's films that are watched more often lies between these two.
KNOWN: dict[str, tuple[float, float]] = {
    "mainstream": (0.0, 0.05),
    "well known": (0.0, 0.20),
    "any": (0.0, 1.0),
    "lesser known": (0.20, 1.0),
    "hidden gems": (0.50, 1.0),
}
POOL = 100  # of the best films, from which a varied list is drawn


@dataclass(frozen=True)
class Filters:
    """What a person asks of the films that are recommended. The default lets every unwatched film pass."""

    years: tuple[int, int] | None = None  # first and last, both included; a film without a year does not pass
    genres: tuple[str, ...] = ()  # at least one of them
    without: tuple[str, ...] = ()  # none of them
    known: str = "any"  # a step of KNOWN
    no_newer: bool = False  # nothing newer than the last film of the history
    hide_seen: bool = True  # for `recommend`: not those of the history
    diversity: float = 0.0  # for `recommend`, 0…1: how much a list is varied

    @property
    def active(self) -> list[str]:
        """The names of the fields that ask for something."""
        return [field.name for field in fields(self) if getattr(self, field.name) != field.default]


@dataclass(frozen=True)
class Facts:
    """What filters look at, film by film."""

    years: np.ndarray  # (I,) int, 0: unknown
    genres: tuple[str, ...]  # G, in alphabetical order
    has: np.ndarray  # (I, G) bool
    place: np.ndarray  # (I,) share of the films that are watched more often: 0 for the most watched one

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last year of a film; (0, 0) where no film has a year."""
        known = self.years[self.years > 0]
        return (int(known.min()), int(known.max())) if len(known) else (0, 0)


def facts(dataset: Dataset) -> Facts:
    """The facts of every film; to be kept, as it takes a moment for a large catalogue."""
    years = dataset.catalog.movies["year"].fillna(0).to_numpy(np.int64)
    genres, has = genre_table([film.genres for film in dataset.catalog.films])
    ascending = np.sort(dataset.counts)
    more = len(ascending) - np.searchsorted(ascending, dataset.counts, side="right")  # equally watched: equal places
    return Facts(years, genres, has, more / max(1, len(ascending)))


def genre_table(films: Sequence[str]) -> tuple[tuple[str, ...], np.ndarray]:
    """The genres of "Action|Sci-Fi", …: their G names in order, and which film has which, (films, G) bool."""
    names = sorted({genre for genres in set(films) for genre in genres.split("|") if genre})
    column = {genre: place for place, genre in enumerate(names)}
    has = np.zeros((len(films), len(names)), bool)
    for row, genres in enumerate(films):
        has[row, [column[genre] for genre in genres.split("|") if genre]] = True
    return tuple(names), has


def allowed(known: Facts, filters: Filters, history: Sequence[int], unwanted: Sequence[int] = ()) -> np.ndarray:
    """(I,) which films pass every filter and are not `unwanted`; `history`: items, the latest last."""
    passing = _all(known, list(_masks(known, filters, history).values()))
    passing[list(unwanted)] = False
    return passing


def too_strict(known: Facts, filters: Filters, history: Sequence[int], unwanted: Sequence[int] = ()) -> list[str]:
    """Where no film is left: the filters of which each alone, if dropped, would let one through."""
    masks = _masks(known, filters, history)
    free = np.ones(len(known.years), bool)
    free[[*unwanted, *(history if filters.hide_seen else ())]] = False
    without = {name: [mask for other, mask in masks.items() if other != name] for name in masks}
    return [name for name, others in without.items() if (_all(known, others) & free).any()]


def _all(known: Facts, masks: list[np.ndarray]) -> np.ndarray:
    """(I,) which films pass all of them."""
    passing = np.ones(len(known.years), bool)
    for mask in masks:
        passing &= mask
    return passing


def _masks(known: Facts, filters: Filters, history: Sequence[int]) -> dict[str, np.ndarray]:
    """Which films (I,) pass, by the name of the filter; only filters that ask for something."""
    masks = {}
    if filters.years:
        first, last = filters.years
        masks["years"] = (known.years > 0) & (known.years >= first) & (known.years <= last)
    if filters.genres:
        masks["genres"] = _any_of(known, filters.genres)
    if filters.without:
        masks["without"] = ~_any_of(known, filters.without)
    if filters.known != "any":
        least, most = KNOWN[filters.known]
        masks["known"] = (known.place >= least) & (known.place < most)
    if filters.no_newer and (latest := _latest(known, history)):
        masks["no_newer"] = (known.years > 0) & (known.years <= latest)
    return masks


def _any_of(known: Facts, genres: Sequence[str]) -> np.ndarray:
    """(I,) which films have one of the genres; a genre that the set lacks is nobody's."""
    columns = [known.genres.index(genre) for genre in genres if genre in known.genres]
    return np.asarray(known.has[:, columns].any(axis=1))


def _latest(known: Facts, history: Sequence[int]) -> int:
    """The year of the last film that has one; 0 where none has."""
    return next((int(known.years[item]) for item in reversed(history) if known.years[item]), 0)


def varied(catalog: Catalog, items: np.ndarray, scores: np.ndarray, k: int, strength: float) -> np.ndarray:
    """Up to k of `items` (best first, with their scores), chosen one by one for being good and unlike those before.

    Maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998) with λ = 1 - strength. Scores are brought to
    0…1 over `items`; films are alike as their genres are (cosine). 0 keeps the order; the best film stays first.
    """
    if not len(items):
        return items
    low, high = float(scores.min()), float(scores.max())
    relevance = (scores - low) / ((high - low) or 1.0)
    alike = _likeness([catalog.films[item].genres for item in items.tolist()])
    nearest, chosen = np.zeros(len(items)), np.zeros(0, np.int64)
    for _ in range(min(k, len(items))):
        worth = (1 - strength) * relevance - strength * nearest
        worth[chosen] = -np.inf
        best = int(worth.argmax())  # of equals the one that the model puts first
        chosen = np.append(chosen, best)
        nearest = np.maximum(nearest, alike[best])
    return items[chosen]


def _likeness(films: Sequence[str]) -> np.ndarray:
    """(films, films) cosine of their genres, 0…1; without a genre a film is like no other."""
    vectors = genre_table(films)[1].astype(float)
    vectors /= np.maximum(1.0, np.linalg.norm(vectors, axis=1, keepdims=True))
    return vectors @ vectors.T
