"""Replace infrequent films of a history by the items with the most similar content.

A film number (index of `Catalog.films`) of I or more is an infrequent film. Models only read items. Two or more
substitutes per film gave worse recommendations than a single substitute (docs/experiments.md).

Shapes: I items, F films of the catalogue, D words and genres, T films of a history.
"""

import numpy as np
from scipy import sparse

from recsys.data.dataset import Dataset, cache_by_dataset
from recsys.text import films

GENRE_WEIGHT = 0.5  # weight of genres in the similarity; the weight of words (title, tags) is 1 - GENRE_WEIGHT
YEAR_SCALE = 8.0  # a distance of YEAR_SCALE years divides the similarity by e


def find(dataset: Dataset, number: int) -> int:
    """Return the substitute of a film number. An item is its own substitute."""
    if number < dataset.n_items:
        return number
    substitutes = _substitute_cache(dataset)
    if number not in substitutes:
        substitutes[number] = _most_similar(dataset, number)
    return substitutes[number]


def replace_infrequent(dataset: Dataset, history: np.ndarray) -> np.ndarray:
    """Return a history of film numbers (T,) with each infrequent film replaced by its substitute."""
    if not len(history) or history.max() < dataset.n_items:
        return history
    return np.array([find(dataset, number) for number in history.tolist()], np.int64)


def label(dataset: Dataset, number: int) -> str:
    """Return title and year of the substitute of an infrequent film, "" for an item."""
    return "" if number < dataset.n_items else dataset.catalog.films[find(dataset, number)].label


@cache_by_dataset
def _substitute_cache(dataset: Dataset) -> dict[int, int]:
    """Return infrequent film → substitute. It is empty at first, and `find` fills it."""
    return {}


def _most_similar(dataset: Dataset, number: int) -> int:
    """Return the item that is most similar in genres, words and year.

    If the film is a duplicate of an item, that item is the result. Otherwise the similarity is multiplied by the
    logarithm of the number of ratings, because recommenders learn more about popular films.
    """
    main_film = dataset.main_film_by_duplicate.get(number, number)
    if main_film < dataset.n_items:
        return main_film
    film_vectors, item_vectors = _description_vectors(dataset)
    similarity = item_vectors @ film_vectors[[number]].toarray()[0]  # (I,)
    weight = np.log1p(dataset.counts)
    year = dataset.catalog.films[number].year
    if year is not None:
        years = dataset.catalog.movies["year"].fillna(year).to_numpy(np.float64)  # (I,); an unknown year has no effect
        weight *= np.exp(-np.abs(years - year) / YEAR_SCALE)
    similarity *= weight
    return int(np.lexsort((-dataset.counts, -similarity))[0])  # ties: the most watched item


@cache_by_dataset
def _description_vectors(dataset: Dataset) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return the vectors of all films, (F, D), and of the items, (I, D), float32: TF-IDF of their texts, and genres.

    The norm of a row is at most 1. A slice of a sparse array is a copy, so the slice of the items is also cached.
    """
    catalog = dataset.catalog.complete
    # square roots, because a similarity is a product of two vectors
    words = films.tfidf(films.film_texts(catalog)) * np.float32((1 - GENRE_WEIGHT) ** 0.5)
    genres = sparse.csr_array(films.genre_vectors(catalog)) * np.float32(GENRE_WEIGHT**0.5)
    vectors = sparse.csr_array(sparse.hstack([words, genres]))
    return vectors, vectors[: dataset.n_items]
