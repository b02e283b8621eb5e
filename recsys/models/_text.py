"""What a film is about, as a text and as a vector of unit length.

Vectors come with the project for the sets that have a shipped model; for others they are computed once and kept. Where
the sentence encoder cannot be had, TF-IDF over the same texts stands in, and `FilmVectors.note` says so.
Shapes: I items, D numbers per film (384 from the encoder, the vocabulary's size from TF-IDF).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from recsys import files, paths
from recsys.data.download import DownloadError, plain_disk_errors
from recsys.data.schema import Catalog, Dataset
from recsys.models import _encoder
from recsys.training.run import ignore

NO_ENCODER = "TF-IDF over title, year, genres and tags: the sentence encoder could not be fetched"

Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class FilmVectors:
    """One vector per film, and what a reader should know about them."""

    matrix: np.ndarray | sparse.csr_array  # (I, D) float32, rows of length 1; sparse when TF-IDF
    note: str = ""  # a sentence for the page, "" when there is nothing to say


def film_texts(catalog: Catalog) -> list[str]:
    """One line per film: "Toy Story (1995). Animation, Children's, Comedy. pixar, toys"; unknown parts are left out."""
    return [_text(film) for film in catalog.movies.itertuples()]


def _text(film: Any) -> str:
    title = film.title if pd.isna(film.year) else f"{film.title} ({film.year})"
    return ". ".join(part for part in (title, film.genres.replace("|", ", "), film.tags) if part)


def film_vectors(dataset: str, catalog: Catalog, report: Report | None = None) -> FilmVectors:
    """Sentence vectors that are shipped, kept from an earlier call, or computed now; else TF-IDF, with a note.

    Computing takes some 10 s per 3,000 films, once. Reports {"stage": "download" or "encode", "done", "total"}.
    """
    if (found := kept_vectors(dataset, catalog)) is not None:
        return FilmVectors(found)
    texts = film_texts(catalog)
    try:
        vectors = _encoder.encode(texts, report or ignore)
    except (DownloadError, ImportError):
        return FilmVectors(tfidf(texts), NO_ENCODER)
    halves = vectors.astype(np.float16)
    _write(paths.film_vectors(dataset), catalog, halves)
    return FilmVectors(_unit(halves))  # what the next call will read


def kept_vectors(dataset: str, catalog: Catalog) -> np.ndarray | None:
    """(I, 384) float32, rows of length 1: sentence vectors that are shipped or were kept here; None: neither."""
    for path in (paths.shipped_film_vectors(dataset), paths.film_vectors(dataset)):
        if (found := _read(path, catalog)) is not None:
            return found
    return None


def tfidf(texts: Sequence[str]) -> sparse.csr_array:
    """(I, D) float32, rows of length 1; English function words are left out. ImportError without scikit-learn."""
    return tfidf_words(texts)[0]


def tfidf_words(
    texts: Sequence[str],
) -> tuple[sparse.csr_array, Callable[[Sequence[str]], sparse.csr_array]]:
    """`tfidf`, and what gives other texts vectors over the same words: rows of length 1, or 0 without such a word."""
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
    except ImportError as error:
        raise ImportError("TF-IDF is computed by the package scikit-learn; run: pip install scikit-learn") from error
    words = TfidfVectorizer(stop_words="english", dtype=np.float32)
    vectors = sparse.csr_array(words.fit_transform(texts))
    return vectors, lambda others: sparse.csr_array(words.transform(others))


def genres(catalog: Catalog) -> np.ndarray:
    """(I, G) float32, one column per genre in alphabetical order: rows of length 1, 0 for a film without any."""
    marks = catalog.movies["genres"].str.get_dummies("|").drop(columns="", errors="ignore").to_numpy(np.float32)
    return marks / np.sqrt(np.maximum(marks.sum(1, keepdims=True), 1))


def ship_film_vectors(dataset: Dataset) -> Path:
    """Compute the vectors of a data set afresh and write them, fp16, among the files that come with the project."""
    path = paths.shipped_film_vectors(dataset.name)
    vectors = _encoder.encode(film_texts(dataset.catalog), ignore)
    _write(path, dataset.catalog, vectors.astype(np.float16))
    return path


def _read(path: Path, catalog: Catalog) -> np.ndarray | None:
    """(I, 384) float32, rows of length 1; None when the file is not there, broken, or of another film list."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        kept = load_file(path)
        if not np.array_equal(kept["movie_ids"], catalog.movie_ids):
            return None
        return _unit(kept["vectors"])
    except (OSError, SafetensorError, KeyError):
        return None  # it can be computed again


def _unit(halves: np.ndarray) -> np.ndarray:
    """fp16 to fp32; rounding has changed the lengths too."""
    vectors = halves.astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _write(path: Path, catalog: Catalog, halves: np.ndarray) -> None:
    """Half precision changes a cosine by less than 0.001 and halves the file."""
    from safetensors.numpy import save

    with plain_disk_errors(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        with files.locked(path.parent):
            files.write(path, save({"vectors": halves, "movie_ids": catalog.movie_ids}))
