"""Content: films whose descriptions are near to what was watched.

A person is the mean of the vectors of their films, later films counting more; a film's score is its cosine with that.
Shapes: B queries, I items, D numbers per film.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse

from recsys.data.schema import Dataset, HeldOut, Queries
from recsys.models._histories import per_item, popular_where_empty, profile_weights
from recsys.models._text import NO_ENCODER, FilmVectors, film_texts, film_vectors, genres, tfidf
from recsys.models.base import Recommender
from recsys.training.run import Run


@dataclass(frozen=True)
class ContentConfig:
    """The default is good on each of ML-1M, ML-100K and ML-latest-small."""

    half_life: float = 1.5  # films: one watched this many films before the last counts half as much


class Content(Recommender):
    """What the variants share; they differ in where the vectors come from.

    An empty history gets the order of popularity. `note` is a sentence for the page, "" when there is nothing to say.
    """

    family = "Content"
    Config = ContentConfig
    note = ""

    @abstractmethod
    def _vectors(self, train: Dataset, run: Run) -> FilmVectors:
        """One vector per film of the catalogue."""

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: Run | None = None) -> Self:
        """Get the films' vectors; ratings serve only to count, for empty histories."""
        found = self._vectors(train, run or Run())
        self.vectors, self.note = found.matrix, found.note  # (I, D)
        self.counts = train.counts.astype(np.float32)  # (I,)
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32, cosines."""
        weights = profile_weights(queries.histories, self.vectors.shape[0], self.config.half_life)  # (B, I)
        profiles = weights @ self.vectors  # (B, D), sparse as the vectors are
        scores = profiles @ self.vectors.T  # (B, I)
        lengths = np.sqrt((profiles * profiles).sum(1))  # (B,)
        if sparse.issparse(scores):
            scores = scores.toarray()
        scores /= np.where(lengths > 0, lengths, 1)[:, None]  # no words in common with any film: 0 for all
        return popular_where_empty(scores, queries.histories, self.counts)

    def state(self) -> dict[str, np.ndarray]:
        """{"counts": (I,)} and {"vectors": (I, D)} float32, or the three arrays of a CSR matrix when that is sparse."""
        if isinstance(self.vectors, np.ndarray):
            return {"counts": self.counts, "vectors": self.vectors}
        parts = {name: getattr(self.vectors, name) for name in ("data", "indices", "indptr")}
        return {"counts": self.counts, **parts}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not that of `n_items` films."""
        self.counts = per_item(state, "counts", n_items)
        if "indptr" in state:
            self.vectors = sparse.csr_array((state["data"], state["indices"], state["indptr"]))
        else:
            self.vectors = state["vectors"]
        if self.vectors.shape[0] != n_items:
            raise ValueError(f"the saved vectors are of {self.vectors.shape[0]} films, not {n_items}; fit it again")


class ContentSentence(Content):
    """Vectors of the sentence encoder all-MiniLM-L6-v2; TF-IDF where it cannot be had, and `note` says so."""

    title = "Content, sentences"
    paper = "arXiv:1908.10084"

    def _vectors(self, train: Dataset, run: Run) -> FilmVectors:
        return film_vectors(train.name, train.catalog, run.report)

    def film_vectors(self) -> np.ndarray | None:
        """(I, D) float32: the films' descriptions as the encoder has them; None where the stand-in is at work."""
        return None if sparse.issparse(self.vectors) else self.vectors

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """As in `Content`; sparse vectors are those of the stand-in."""
        super().load_state(state, n_items)
        self.note = NO_ENCODER if sparse.issparse(self.vectors) else ""


class ContentTfidf(Content):
    """Words of title, year, genres and tags, rare ones counting more."""

    title = "Content, TF-IDF"
    presets = {
        ("content-tfidf", "ml-1m"): ContentConfig(half_life=2.0),
        ("content-tfidf", "ml-100k"): ContentConfig(half_life=2.0),
    }

    def _vectors(self, train: Dataset, run: Run) -> FilmVectors:
        return FilmVectors(tfidf(film_texts(train.catalog)))


class ContentGenre(Content):
    """Genres alone: each film a mark per genre. Films with the same genres tie."""

    title = "Content, genres"
    presets = {
        ("content-genre", "ml-1m"): ContentConfig(half_life=1.0),
        ("content-genre", "ml-100k"): ContentConfig(half_life=3.0),
    }

    def _vectors(self, train: Dataset, run: Run) -> FilmVectors:
        return FilmVectors(genres(train.catalog))


VARIANTS = {"content-sentence": ContentSentence, "content-tfidf": ContentTfidf, "content-genre": ContentGenre}
