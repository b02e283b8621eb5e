"""Films by theme: what somebody is in the mood for, compared with the text about each film.

Theme and texts become vectors of length 1, and films are ordered by their cosine with the theme. The vectors come from
the sentence encoder, which knows that a detective solves crimes, or, where it is missing, from single words (TF-IDF).
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
from recsys.errors import MissingLibraryError
from recsys.progress import Report, ignore
from recsys.text import encoder
from recsys.text.films import film_texts, kept_vectors, tfidf_words

LONGEST = 300  # characters of a theme that are read

Vectors: TypeAlias = np.ndarray | sparse.csr_array


class Missing(Enum):
    """What a comparison by meaning lacks, so that themes are compared word by word."""

    NOTHING = "nothing"  # they are compared by meaning
    VECTORS = "vectors"  # the films of this set were never encoded, which takes minutes for a large one
    ENCODER = "encoder"  # it is not on this machine
    LIBRARY = "library"  # sentence-transformers is not installed


@dataclass(frozen=True)
class Near:
    """One film that is similar to a theme."""

    item: int
    cosine: float  # 1: the same text


class ThemeIndex:
    """Searches the films of a data set by theme."""

    def __init__(
        self, matrix: Vectors, encode: Callable[[Sequence[str]], Vectors], missing: Missing = Missing.NOTHING
    ) -> None:
        """matrix (I, D): rows of length 1, or 0; `encode` gives such rows (n, D) for n texts."""
        self._matrix, self._encode, self.missing = matrix, encode, missing

    def search(self, theme: str, limit: int = 8) -> list[Near]:
        """Up to `limit` films with a cosine above 0, the largest first, equal ones by item."""
        theme = " ".join(theme.split())[:LONGEST]
        if not theme:
            return []
        cosines: Any = self._matrix @ self._encode([theme]).T  # (I, 1), sparse as both are
        near = (cosines.toarray() if sparse.issparse(cosines) else np.asarray(cosines)).ravel()
        order = np.argsort(-near, kind="stable")[: max(0, limit)]
        return [Near(int(item), float(near[item])) for item in order if near[item] > 0]


def open_index(dataset: Dataset) -> ThemeIndex:
    """The best index that needs neither a download nor minutes of work; it takes seconds, so keep it."""
    vectors = kept_vectors(dataset.name, dataset.catalog)
    if vectors is None:
        return _by_words(dataset, Missing.VECTORS)
    try:
        encode = encoder.load(ignore, fetch=False)
    except DownloadError:
        return _by_words(dataset, Missing.ENCODER)
    except MissingLibraryError:
        return _by_words(dataset, Missing.LIBRARY)
    return ThemeIndex(vectors, lambda texts: encode(texts, ignore))


def fetch_encoder(report: Report) -> None:
    """Download the sentence encoder, 90 MB, once; reports {"stage": "download", "done", "total"}.

    Raises DownloadError, and MissingLibraryError without sentence-transformers.
    """
    encoder.load(report)


def _by_words(dataset: Dataset, missing: Missing) -> ThemeIndex:
    """An index that compares single words."""
    matrix, encode = tfidf_words(film_texts(dataset.catalog))
    return ThemeIndex(matrix, encode, missing)
