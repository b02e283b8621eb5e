"""What a film is about, as a text, as genres, and as a vector of unit length.

Vectors come with the project for the sets that have a shipped model; for others they are computed once and kept. They
belong to the texts that were encoded, whose hash stands beside them. Where the sentence encoder cannot be had, TF-IDF
over the same texts stands in, and `FilmVectors.note` says so.
Shapes: I items, G genres, D numbers per film (384 from the encoder, the vocabulary's size from TF-IDF).
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from recsys import arrays, files, paths
from recsys.data.details import Detail
from recsys.data.download import DownloadError
from recsys.data.schema import Catalog
from recsys.errors import MissingLibraryError
from recsys.progress import Report, ignore
from recsys.text import encoder

NO_ENCODER = "TF-IDF over title, year, genres and tags: the sentence encoder could not be fetched"
VECTORS = "vectors"  # what the array is called in its file; it is made of texts with a `texts_fingerprint`


@dataclass(frozen=True)
class FilmVectors:
    """One vector per film, and what a reader should know about them."""

    matrix: np.ndarray | sparse.csr_array  # (I, D) float32, rows of length 1; sparse when TF-IDF
    note: str = ""  # a sentence for the page, "" when there is nothing to say


def film_texts(catalog: Catalog) -> list[str]:
    """One line per film: "Toy Story (1995). Animation, Children's, Comedy. pixar, toys"; unknown parts are left out.

    What else somebody's own set says of an item comes last.
    """
    return [_text(film) for film in catalog.movies.itertuples()]


def _text(film: Any) -> str:
    title = film.title if pd.isna(film.year) else f"{film.title} ({film.year})"
    parts = (title, film.genres.replace("|", ", "), film.tags, getattr(film, "text", ""))
    return ". ".join(part for part in parts if part)


def texts_with_credits(catalog: Catalog) -> list[str]:
    """`film_texts` and, of films that Wikidata knows, who made them, as words: a person or a country is one word each.

    Without details these are `film_texts`, to the letter. They are for comparing words, not for a sentence encoder.
    """
    texts = film_texts(catalog)
    if not len(catalog.details):
        return texts
    known = [catalog.details.of(movie) for movie in catalog.movies["movie_id"].tolist()]
    return [". ".join(filter(None, [text, _makers(one)])) for text, one in zip(texts, known, strict=True)]


def _makers(known: Detail) -> str:
    """ "Quentin_Tarantino, John_Travolta, organized crime, United_States"."""
    names = dict.fromkeys([*known.directors, *known.cast, *known.countries])
    return ", ".join(["_".join(re.findall(r"\w+", name)) for name in names] + list(known.subjects))


def texts_fingerprint(texts: Sequence[str]) -> str:
    """SHA-256 of texts in their order."""
    return files.sha256(json.dumps(list(texts), ensure_ascii=False).encode())


def genre_matrix(catalog: Catalog) -> tuple[np.ndarray, tuple[str, ...]]:
    """Which film has which genre, (I, G) bool, and the names of the G genres in alphabetical order."""
    films = [[genre for genre in genres.split("|") if genre] for genres in catalog.movies["genres"].tolist()]
    names = tuple(sorted({genre for genres in films for genre in genres}))
    column = {genre: number for number, genre in enumerate(names)}
    matrix = np.zeros((len(films), len(names)), bool)
    for item, genres in enumerate(films):
        matrix[item, [column[genre] for genre in genres]] = True
    return matrix, names


def genre_vectors(catalog: Catalog) -> np.ndarray:
    """(I, G) float32, `genre_matrix` with rows of length 1, 0 for a film without genres."""
    matrix = genre_matrix(catalog)[0].astype(np.float32)
    return matrix / np.sqrt(np.maximum(matrix.sum(1, keepdims=True), 1))


def film_vectors(dataset: str, catalog: Catalog, report: Report = ignore) -> FilmVectors:
    """Sentence vectors that are shipped, kept from an earlier call, or computed now; else TF-IDF, with a note.

    Computing takes some 10 s per 3,000 films, once. Reports {"stage": "download" or "encode", "done", "total"}.
    """
    if (found := load_vectors(dataset, catalog)) is not None:
        return FilmVectors(found)
    texts = film_texts(catalog)
    try:
        vectors = encoder.encode(texts, report)
    except (DownloadError, MissingLibraryError):
        return FilmVectors(tfidf(texts), NO_ENCODER)
    known_as = texts_fingerprint(texts)
    return FilmVectors(keep(vectors, paths.film_vectors(dataset, known_as), known_as))


def load_vectors(dataset: str, catalog: Catalog) -> np.ndarray | None:
    """(I, 384) float32, rows of length 1: sentence vectors that are shipped or were kept here; None: neither."""
    known_as = texts_fingerprint(film_texts(catalog))
    return read([paths.shipped_film_vectors(dataset), paths.film_vectors(dataset, known_as)], known_as)


def read(places: Iterable[Path], known_as: str) -> np.ndarray | None:
    """(n, 384) float32, rows of length 1, from the first file of these texts; None where there is none."""
    return next((found for path in places if (found := _read(path, known_as)) is not None), None)


def keep(vectors: np.ndarray, path: Path, known_as: str) -> np.ndarray:
    """Write vectors (n, 384) to a file in half precision, if the disk takes them; returns what `read` will give.

    Half precision changes a cosine by less than 0.001 and halves the file.
    """
    halves = vectors.astype(np.float16)
    arrays.keep(path, VECTORS, halves, known_as)
    return _unit(halves)


def tfidf(texts: Sequence[str]) -> sparse.csr_array:
    """(I, D) float32, rows of length 1; English function words are left out. Raises MissingLibraryError."""
    return tfidf_words(texts)[0]


def tfidf_words(
    texts: Sequence[str],
) -> tuple[sparse.csr_array, Callable[[Sequence[str]], sparse.csr_array]]:
    """`tfidf`, and a function from other texts to vectors over the same words: rows of length 1, or 0 without any."""
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
    except ImportError as error:
        raise MissingLibraryError("TF-IDF", "scikit-learn") from error
    words = TfidfVectorizer(stop_words="english", dtype=np.float32)
    vectors = sparse.csr_array(words.fit_transform(texts))
    return vectors, lambda others: sparse.csr_array(words.transform(others))


def _read(path: Path, known_as: str) -> np.ndarray | None:
    """(n, 384) float32, rows of length 1; None when the file is not there, damaged, or of other texts."""
    halves = arrays.read(path, VECTORS, known_as)
    return None if halves is None else _unit(halves)


def _unit(halves: np.ndarray) -> np.ndarray:
    """fp16 to fp32; rounding has changed the lengths too."""
    vectors = halves.astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
