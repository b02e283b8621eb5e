"""Films by theme: what somebody is in the mood for, compared with what is known of each film as text.

Text and theme become vectors of length 1, and films are ordered by their cosine with the theme: vectors of the sentence
encoder, which knows that a detective solves crimes, or of single words (TF-IDF) where it cannot be had.
Shapes: I films, D numbers per film.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from recsys.data.download import DownloadError
from recsys.data.schema import Dataset
from recsys.models import _encoder
from recsys.models._text import film_texts, kept_vectors, tfidf_words
from recsys.training.run import ignore

LONGEST = 300  # characters of a theme that are read

Vectors: TypeAlias = np.ndarray | sparse.csr_array


class Lacking(Enum):
    """Why themes are compared word by word."""

    NOTHING = "nothing"  # they are not: the sentence encoder is at work
    VECTORS = "vectors"  # the films of this set were never encoded, which takes minutes for a large one
    ENCODER = "encoder"  # it is not on this machine
    LIBRARY = "library"  # sentence-transformers is not installed


@dataclass(frozen=True)
class Near:
    """One film that comes near to a theme."""

    item: int
    cosine: float  # 1: the same text


class ThemeIndex:
    """Searches the films of a data set by theme."""

    def __init__(
        self, matrix: Vectors, encode: Callable[[Sequence[str]], Vectors], lacking: Lacking = Lacking.NOTHING
    ) -> None:
        """matrix (I, D): rows of length 1, or 0; `encode` gives such rows (n, D) for n texts."""
        self._matrix, self._encode, self.lacking = matrix, encode, lacking

    def search(self, theme: str, limit: int = 8) -> list[Near]:
        """Up to `limit` films, the nearest first, equal ones by item; only those with a cosine above 0."""
        theme = " ".join(theme.split())[:LONGEST]
        if not theme:
            return []
        cosines: Any = self._matrix @ self._encode([theme]).T  # (I, 1), sparse as both are
        near = (cosines.toarray() if sparse.issparse(cosines) else np.asarray(cosines)).ravel()
        order = np.argsort(-near, kind="stable")[: max(0, limit)]
        return [Near(int(item), float(near[item])) for item in order if near[item] > 0]


def open_index(dataset: Dataset) -> ThemeIndex:
    """An index of the best kind that needs neither a download nor minutes of work; takes seconds, so keep it."""
    vectors = kept_vectors(dataset.name, dataset.catalog)
    if vectors is None:
        return _by_words(dataset, Lacking.VECTORS)
    try:
        encode = _encoder.load(ignore, fetch=False)
    except DownloadError:
        return _by_words(dataset, Lacking.ENCODER)
    except ImportError:
        return _by_words(dataset, Lacking.LIBRARY)
    return ThemeIndex(vectors, lambda texts: encode(texts, ignore))


def fetch_encoder(report: Callable[[dict[str, Any]], None]) -> None:
    """Download the sentence encoder, 90 MB, once; reports {"stage": "download", "done", "total"}.

    Raises DownloadError, a DataError, with what to do.
    """
    _encoder.load(report)


def _by_words(dataset: Dataset, lacking: Lacking) -> ThemeIndex:
    matrix, encode = tfidf_words(film_texts(dataset.catalog))
    return ThemeIndex(matrix, encode, lacking)
