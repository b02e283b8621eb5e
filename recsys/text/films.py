"""Films as texts, as genre vectors, and as sentence vectors.

Sentence vectors are shipped for the data sets that have shipped models. For other data sets they are computed once and
stored. Each file of vectors contains the fingerprint of its texts. If the sentence encoder is not available, TF-IDF
vectors of the same texts replace the sentence vectors.

Shapes: I items, G genres, D dimensions of a vector: 384 for the encoder, the size of the vocabulary for TF-IDF.
"""

import json
import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from scipy import sparse

from recsys import arrays, paths, storage
from recsys.data.dataset import Catalog
from recsys.data.download import DownloadError
from recsys.data.film_details import FilmDetails
from recsys.errors import MissingLibraryError
from recsys.progress import ProgressCallback, no_progress
from recsys.text import encoder

NO_ENCODER = (
    "The language model is not available, so films are compared by the words in their titles, years, genres and tags."
)
VECTORS = "vectors"  # name of the array in a file of vectors
Value = TypeVar("Value", bound=Hashable)


@dataclass(frozen=True)
class FilmVectors:
    """One vector per film."""

    matrix: np.ndarray | sparse.csr_array  # (I, D) float32, rows of length 1; sparse: TF-IDF
    note: str = ""  # NO_ENCODER if TF-IDF replaces the encoder


def rows_by_value(values_of_rows: Iterable[Iterable[Value]]) -> dict[Value, list[int]]:
    """Return value → rows that have the value, ascending. `values_of_rows` has the distinct values of each row."""
    rows: dict[Value, list[int]] = {}
    for row, values in enumerate(values_of_rows):
        for value in values:
            rows.setdefault(value, []).append(row)
    return rows


def film_texts(catalog: Catalog) -> list[str]:
    """Return a line per film: "Toy Story (1995). Animation, Children's, Comedy. pixar, toys".

    Missing parts are left out. In an imported data set, the text of an item is added at the end.
    """
    return [_film_text(film) for film in catalog.movies.itertuples()]


def _film_text(film: Any) -> str:
    """Return the line of one film, a row of `Catalog.movies`."""
    title = film.title if pd.isna(film.year) else f"{film.title} ({film.year})"
    parts = (title, film.genres.replace("|", ", "), film.tags, getattr(film, "text", ""))
    return ". ".join(part for part in parts if part)


def texts_with_credits(catalog: Catalog) -> list[str]:
    """Return `film_texts` with the credits from Wikidata, if the data set has them.

    The words of a name are joined, such as Ann_Lee. The texts are for TF-IDF, not for a sentence encoder.
    """
    texts = film_texts(catalog)
    if not len(catalog.details):
        return texts
    credit_texts = [_credits(catalog.details.get(movie)) for movie in catalog.movies["movie_id"].tolist()]
    return [". ".join(filter(None, parts)) for parts in zip(texts, credit_texts, strict=True)]


def _credits(detail: FilmDetails) -> str:
    """Return directors, cast, countries and subjects: "Ann_Lee, United_States, organized crime"."""
    names = dict.fromkeys([*detail.directors, *detail.cast, *detail.countries])  # a director can also be in the cast
    return ", ".join(["_".join(re.findall(r"\w+", name)) for name in names] + list(detail.subjects))


def texts_fingerprint(texts: Sequence[str]) -> str:
    """Return the SHA-256 of texts in their order."""
    return storage.sha256(json.dumps(list(texts), ensure_ascii=False).encode())


def genre_matrix(catalog: Catalog) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the genres of each film, (I, G) bool, and the names of the G genres in alphabetical order."""
    films = [[genre for genre in genres.split("|") if genre] for genres in catalog.movies["genres"].tolist()]
    names = tuple(sorted({genre for genres in films for genre in genres}))
    column = {genre: index for index, genre in enumerate(names)}
    matrix = np.zeros((len(films), len(names)), bool)
    for item, genres in enumerate(films):
        matrix[item, [column[genre] for genre in genres]] = True
    return matrix, names


def genre_vectors(catalog: Catalog) -> np.ndarray:
    """Return the genres of each film as a unit vector, (I, G) float32. A film without genres has zeros."""
    matrix = genre_matrix(catalog)[0].astype(np.float32)
    return matrix / np.sqrt(np.maximum(matrix.sum(1, keepdims=True), 1))


def film_vectors(dataset: str, catalog: Catalog, report: ProgressCallback = no_progress) -> FilmVectors:
    """Return the sentence vectors of all films: shipped, stored earlier, or encoded and stored now.

    Encoding 3,000 films takes about 10 s. If the encoder is not available, the result has TF-IDF vectors of the same
    texts. They are not stored. Raises MissingLibraryError if scikit-learn is not installed either.
    """
    texts = film_texts(catalog)
    fingerprint = texts_fingerprint(texts)
    if (stored := read_vectors("film", dataset, fingerprint)) is not None:
        return FilmVectors(stored)
    try:
        vectors = encoder.encode(texts, report)
    except (DownloadError, MissingLibraryError):
        return FilmVectors(tfidf(texts), NO_ENCODER)
    return FilmVectors(save_vectors("film", dataset, fingerprint, vectors))


def stored_film_vectors(dataset: str, catalog: Catalog) -> np.ndarray | None:
    """Return the shipped or stored sentence vectors of all films, or None, see `read_vectors`. Nothing is encoded."""
    return read_vectors("film", dataset, texts_fingerprint(film_texts(catalog)))


def read_vectors(kind: str, dataset: str, fingerprint: str) -> np.ndarray | None:
    """Return shipped or stored sentence vectors, (n, 384) float32 with rows of length 1.

    `kind` is "film" or "tag", and `fingerprint` the `texts_fingerprint` of the n encoded texts. Returns None if there
    is no intact file of these texts.
    """
    for path in (paths.shipped_vectors(kind, dataset), paths.vectors(kind, dataset, fingerprint)):
        if (vectors := arrays.read(path, VECTORS, fingerprint)) is not None:
            return _as_unit_vectors(vectors)
    return None


def save_vectors(kind: str, dataset: str, fingerprint: str, vectors: np.ndarray) -> np.ndarray:
    """Write vectors (n, 384) as float16, and return them as `read_vectors` will return them.

    With float16, the file has half the size, and a cosine changes by less than 0.001. A failed write only warns.
    """
    rounded = vectors.astype(np.float16)
    arrays.write_or_warn(paths.vectors(kind, dataset, fingerprint), VECTORS, rounded, fingerprint)
    return _as_unit_vectors(rounded)


def _as_unit_vectors(rounded: np.ndarray) -> np.ndarray:
    """Return float16 vectors (n, 384) as float32, scaled to length 1, because rounding has changed the lengths."""
    vectors = rounded.astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def tfidf(texts: Sequence[str]) -> sparse.csr_array:
    """Return the TF-IDF vectors of texts, (I, D) float32, over words of two or more characters.

    English stop words are left out. A row is a unit vector, or zeros for a text without words in the vocabulary. Raises
    MissingLibraryError without scikit-learn.
    """
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
    except ImportError as error:
        raise MissingLibraryError("TF-IDF", "scikit-learn") from error
    vectorizer = TfidfVectorizer(stop_words="english", dtype=np.float32)
    words_of = vectorizer.build_analyzer()  # text → words in the vocabulary
    if not any(words_of(text) for text in texts):
        vectorizer.set_params(vocabulary=[""])  # one column of zeros; scikit-learn refuses an empty vocabulary
    return sparse.csr_array(vectorizer.fit_transform(texts))
