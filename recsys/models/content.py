"""Content: items whose descriptions are near to those of the items watched.

A user's profile is the weighted mean of the vectors of the items watched, later items counting more; an item's score is
its cosine with the profile.
Shapes: B queries, I items, D numbers per item.
"""

from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse

from recsys.config import Positive, config_class
from recsys.data.schema import Dataset, HeldOut, Queries
from recsys.models.base import Model
from recsys.models.histories import csr_state, fill_empty_histories, profile_weights, require_n_items
from recsys.text import films
from recsys.training.run import Run

Vectors = Literal["sentences", "tf-idf", "genres"]


@config_class
class ContentConfig:
    """A half-life of 1.5 is good on each of ML-1M, ML-100K and ML-latest-small."""

    vectors: Vectors = "sentences"  # what describes an item: a sentence encoder's vector, its words, or its genres
    half_life: Positive = 1.5  # items: one watched this many items before the last counts half as much


class Content(Model):
    """Cosines with a profile, by one of three kinds of vectors (`ContentConfig.vectors`).

    - sentences: all-MiniLM-L6-v2 (Sentence-BERT, arXiv:1908.10084) on title, year, genres and tags. Where the encoder
      cannot be had TF-IDF stands in, and `note` says so; there are no `item_embeddings` then.
    - tf-idf: the words of the same texts, rare ones counting more; where the set was enriched, its directors, cast,
      subjects and countries too.
    - genres: one coordinate per genre; items of the same genres tie.

    An empty history gets the order of popularity.
    """

    Config = ContentConfig
    config: ContentConfig
    uses_item_texts: ClassVar[bool] = True

    def __init__(self, config: Any = None, title: str = "") -> None:
        super().__init__(config, title)
        self.has_item_embeddings = self.config.vectors == "sentences"  # unless the encoder cannot be had
        self.uses_credits = self.config.vectors == "tf-idf"
        self.scores_cold_items = not self.has_item_embeddings  # sentence vectors of all films take minutes to compute

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: Run | None = None) -> Self:
        """Get the items' vectors; interactions are only counted, for empty histories. `valid` changes nothing.

        Reports {"stage": "download" or "encode", "done": n, "total": n} while the encoder is at work.
        """
        self._learnt(self._vectors(train, run or Run()), train.counts.astype(np.float32))
        return self

    def _vectors(self, train: Dataset, run: Run) -> np.ndarray | sparse.csr_array:
        """(I, D) float32, rows of length 1, or 0 for an item that nothing is known of."""
        if self.config.vectors == "sentences":
            return films.film_vectors(train.name, train.catalog, run.report).matrix
        if self.config.vectors == "tf-idf":
            return films.tfidf(films.texts_with_credits(train.catalog))
        return films.genre_vectors(train.catalog)

    def _learnt(self, vectors: np.ndarray | sparse.csr_array, counts: np.ndarray) -> None:
        self.vectors, self.counts = vectors, counts  # (I, D), (I,)
        wants_sentences, has_words = self.config.vectors == "sentences", sparse.issparse(vectors)
        self.has_item_embeddings = wants_sentences and not has_words
        self.note = films.NO_ENCODER if wants_sentences and has_words else ""

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32, cosines; 0 throughout where nothing is known of the items watched."""
        weights = profile_weights(queries.histories, self.vectors.shape[0], self.config.half_life)  # (B, I)
        profiles = weights @ self.vectors  # (B, D), sparse where the vectors are
        scores = profiles @ self.vectors.T  # (B, I)
        lengths = np.sqrt((profiles * profiles).sum(1))  # (B,)
        if sparse.issparse(scores):
            scores = scores.toarray()
        scores /= np.where(lengths > 0, lengths, 1)[:, None]
        return fill_empty_histories(scores, queries.histories, self.counts)

    def item_embeddings(self) -> np.ndarray:
        """(I, 384) float32, rows of length 1: the descriptions as the sentence encoder has them."""
        return self.vectors if self.has_item_embeddings else super().item_embeddings()

    def state(self) -> dict[str, np.ndarray]:
        """{"counts": (I,)} and {"vectors": (I, D)} float32, or the arrays of a CSR matrix where that is sparse."""
        if isinstance(self.vectors, np.ndarray):
            return {"counts": self.counts, "vectors": self.vectors}
        return {"counts": self.counts, **csr_state(self.vectors)}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not that of `n_items` items."""
        counts = require_n_items(state, "counts", n_items)
        if "indptr" in state:
            n_dims = int(state["indices"].max(initial=0)) + 1  # SciPy cannot infer it if all rows are 0
            shape = (len(state["indptr"]) - 1, n_dims)
            vectors = sparse.csr_array((state["data"], state["indices"], state["indptr"]), shape)
        else:
            vectors = state["vectors"]
        if vectors.shape[0] != n_items:
            raise ValueError(f"the saved vectors are of {vectors.shape[0]} items, not {n_items}; fit it again")
        self._learnt(vectors, counts)
