"""Replace infrequent films of a history by the items with the most similar content.

A film number (index of `Catalog.films`) of I or more is an infrequent film. Models only read items.

Shapes: I items, L infrequent films, D words and genres, T films of a history.
"""

from collections.abc import Sequence
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from recsys.data.dataset import Catalog, Dataset
from recsys.text import films

N_SUBSTITUTES = 1  # per film; two or more are worse (docs/experiments.md)
GENRE_WEIGHT = 0.5  # weight of genres in the similarity; the weight of words (title, tags) is 1 - GENRE_WEIGHT
YEAR_SCALE = 8.0  # a distance of YEAR_SCALE years divides the similarity by e

# vectors of all films (I + L, D) and of the items (I, D)
_vectors: WeakKeyDictionary[Dataset, tuple[sparse.csr_array, sparse.csr_array]] = WeakKeyDictionary()
_substitutes: WeakKeyDictionary[Dataset, dict[int, tuple[int, ...]]] = WeakKeyDictionary()  # film number → items
_lock = Lock()


def find(dataset: Dataset, number: int) -> tuple[int, ...]:
    """Return the N_SUBSTITUTES substitutes of a film number, the most similar last. An item is its own substitute."""
    if number < dataset.n_items:
        return (number,)
    cached = _substitutes.setdefault(dataset, {})
    if number not in cached:
        cached[number] = _most_similar(dataset, number)
    return cached[number]


def replace_infrequent(dataset: Dataset, history: np.ndarray) -> np.ndarray:
    """Return a history of film numbers (T,) with each infrequent film replaced by its substitutes."""
    if not len(history) or history.max() < dataset.n_items:
        return history
    return np.array([item for number in history.tolist() for item in find(dataset, number)], np.int64)


def labels(dataset: Dataset, number: int) -> Sequence[str]:
    """Return titles and years of the substitutes of an infrequent film, the most similar first. () for an item."""
    if number < dataset.n_items:
        return ()
    return [dataset.catalog.films[item].label for item in reversed(find(dataset, number))]


def _most_similar(dataset: Dataset, number: int) -> tuple[int, ...]:
    """Return the N_SUBSTITUTES items that are most similar in genres, words and year, the most similar last.

    If the film is listed twice, it is the only result. Otherwise the similarity is multiplied by the logarithm of the
    number of ratings, because recommenders learn more about popular films.
    """
    if (main := dataset.main_films.get(number, number)) < dataset.n_items:
        return (main,)
    with _lock:
        if dataset not in _vectors:
            vectors = description_vectors(dataset.catalog.complete)
            _vectors[dataset] = vectors, vectors[: dataset.n_items]  # a sparse slice is a copy, so it is stored
        film_vectors, item_vectors = _vectors[dataset]  # (I + L, D), (I, D)
    similarity = item_vectors @ film_vectors[[number]].toarray()[0]  # (I,)
    similarity *= _year_weight(dataset, number) * np.log1p(dataset.counts)
    order = np.lexsort((-dataset.counts, -similarity))[:N_SUBSTITUTES]  # ties: the most watched item
    return tuple(order[::-1].tolist())


def _year_weight(dataset: Dataset, number: int) -> np.ndarray:
    """Return a weight for each item that falls with the distance of its year, (I,). It is 1 if a year is unknown."""
    year = dataset.catalog.films[number].year
    if year is None:
        return np.ones(dataset.n_items)
    years = dataset.catalog.movies["year"].fillna(year).to_numpy(np.float64)  # (I,)
    return np.exp(-np.abs(years - year) / YEAR_SCALE)


def description_vectors(catalog: Catalog) -> sparse.csr_array:
    """Return the TF-IDF of title, year and tags, and the genres, (I, D) float32. A row has a norm of 1 at most."""
    words = films.tfidf(films.film_texts(catalog))
    genres = sparse.csr_array(films.genre_vectors(catalog))
    return sparse.csr_array(
        sparse.hstack([words * np.float32((1 - GENRE_WEIGHT) ** 0.5), genres * np.float32(GENRE_WEIGHT**0.5)])
    )
