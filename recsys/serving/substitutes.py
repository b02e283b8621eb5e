"""Films that training left out, in a history: the film nearest in content stands in for each.

An item number of I or more means film `number - I` of those left out (`Catalog.films`); no model has learnt anything of
it. Shapes: I items, L films left out, D words and genres.
"""

from collections.abc import Sequence
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from recsys.data.dataset import Catalog, Dataset
from recsys.text import films

N_SUBSTITUTES = 1  # films that stand in for one; two or more do worse (assets/experiments.md)
GENRE_WEIGHT = 0.5  # what genres count for; the words of title and tags count for the rest
YEAR_SCALE = 8.0  # a film made this many years earlier or later is e times less near

_vectors: WeakKeyDictionary[Dataset, tuple[sparse.csr_array, sparse.csr_array]] = WeakKeyDictionary()
_substitutes: WeakKeyDictionary[Dataset, dict[int, tuple[int, ...]]] = WeakKeyDictionary()
_lock = Lock()


def substitutes_of(dataset: Dataset, number: int) -> tuple[int, ...]:
    """The HOW_MANY items that stand in for a film, the nearest last; the film itself if models know it."""
    if number < dataset.n_items:
        return (number,)
    found = _substitutes.setdefault(dataset, {})
    if number not in found:
        found[number] = most_similar(dataset, number)
    return found[number]


def replace_infrequent(dataset: Dataset, history: np.ndarray) -> np.ndarray:
    """A history (n,) of films, left-out ones included, as items (m,) that models know."""
    if not len(history) or history.max() < dataset.n_items:
        return history
    return np.array([item for number in history.tolist() for item in substitutes_of(dataset, number)], np.int64)


def substitute_labels(dataset: Dataset, number: int) -> Sequence[str]:
    """Titles and years of the films that stand in for one, the nearest first; none for a film that models know."""
    if number < dataset.n_items:
        return ()
    return [dataset.catalog.films[item].label for item in reversed(substitutes_of(dataset, number))]


def most_similar(dataset: Dataset, number: int) -> tuple[int, ...]:
    """The HOW_MANY items most like a film in genres, words of title and tags, and year, the nearest last.

    Likeness counts in proportion to the logarithm of the ratings, since recommenders learn more of well-known films.
    """
    with _lock:
        if dataset not in _vectors:
            whole = description_vectors(dataset.catalog.complete)
            _vectors[dataset] = whole, whole[: dataset.n_items]  # a slice is a copy, so it is made once
        every, items = _vectors[dataset]  # (I + L, D), (I, D)
    likeness = items @ every[[number]].toarray()[0]  # (I,)
    likeness *= _year_weight(dataset, number) * np.log1p(dataset.counts)
    order = np.lexsort((-dataset.counts, -likeness))[:N_SUBSTITUTES]  # among equals, the most watched
    return tuple(order[::-1].tolist())


def _year_weight(dataset: Dataset, number: int) -> np.ndarray:
    """(I,) 1 for a film of the same year, less the further its year is; 1 where either year is unknown."""
    year = dataset.catalog.films[number].year
    if year is None:
        return np.ones(dataset.n_items)
    years = dataset.catalog.movies["year"].fillna(year).to_numpy(np.float64)  # (I,)
    return np.exp(-np.abs(years - year) / YEAR_SCALE)


def description_vectors(catalog: Catalog) -> sparse.csr_array:
    """(I, D) float32, rows of length 1 at most: words of title, year and tags by TF-IDF, and genres."""
    words = films.tfidf(films.film_texts(catalog))
    genres = sparse.csr_array(films.genre_vectors(catalog))
    return sparse.csr_array(
        sparse.hstack([words * np.float32((1 - GENRE_WEIGHT) ** 0.5), genres * np.float32(GENRE_WEIGHT**0.5)])
    )
