"""Content-based filtering: items with descriptions similar to those of the watched items.

Shapes: B queries, I items, D features.
"""

from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse

from recsys.config import Positive, config_class
from recsys.data.dataset import Dataset, HeldOut, Queries
from recsys.models.base import Model
from recsys.models.histories import csr_state, fill_empty_histories, profile_weights, require_n_items
from recsys.text import films
from recsys.text.fields import field_vectors
from recsys.training.options import RunOptions

Vectors = Literal["sentences", "tf-idf", "genres", "fields"]


@config_class
class ContentConfig:
    """Settings of Content. A half-life of 1.5 is good on each of ML-1M, ML-100K and ML-latest-small."""

    vectors: Vectors = "sentences"  # features of an item: a sentence embedding, words, genres, or several fields
    half_life: Positive = 1.5  # items: an item has half the weight of an item watched this many items later


class Content(Model):
    """Score(j) = cos(u, v_j), where the profile u = Σ_i w_i v_i is the weighted mean of the history's item vectors.

    The weight w_i of an item decays with its age in the history. The item vectors v (D,) have length 1. The config
    chooses one of four kinds:

    - sentences: embeddings of title, year, genres and tags by all-MiniLM-L6-v2 (Sentence-BERT, arXiv:1908.10084). If
      the encoder cannot be loaded, TF-IDF is used, `note` is set and there are no `item_embeddings`.
    - tf-idf: the words of the same texts, weighted by TF-IDF. Directors, cast, subjects and countries are added if the
      data set was enriched.
    - genres: one coordinate per genre. Items with the same genres have equal scores.
    - fields: tags, genres, period, title, original language and credits, each with its weight, see `text/fields.py`.
      These vectors have no length of 1, so the score is not divided by that of v.

    Interactions are not used, but an empty history is scored by popularity.
    """

    Config = ContentConfig
    config: ContentConfig
    uses_item_texts: ClassVar[bool] = True

    def __init__(self, config: Any = None, title: str = "") -> None:
        """Create an unfitted model. Without a config it has the defaults."""
        super().__init__(config, title)
        self.has_item_embeddings = self.config.vectors == "sentences"  # `fit` resets it if the encoder cannot be loaded
        self.uses_credits = self.config.vectors in ("tf-idf", "fields")
        # `serving.predictor` then fits it on all films. Sentence embeddings of all films would take minutes.
        self.scores_cold_items = not self.has_item_embeddings

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Compute the item vectors. `valid` is not used.

        Reports {"stage": "download" or "encode", "done": n, "total": n} for sentence embeddings.
        """
        self._set_vectors(self._item_vectors(train, run or RunOptions()), train.counts.astype(np.float32))
        return self

    def _item_vectors(self, train: Dataset, run: RunOptions) -> np.ndarray | sparse.csr_array:
        """Return the vectors of all items, (I, D) float32, with zeros for an item without a description."""
        if self.config.vectors == "sentences":
            return films.film_vectors(train.name, train.catalog, run.report).matrix
        if self.config.vectors == "tf-idf":
            return films.tfidf(films.texts_with_credits(train.catalog))
        if self.config.vectors == "fields":
            return field_vectors(train.name, train.catalog)
        return films.genre_vectors(train.catalog)

    def _set_vectors(self, vectors: np.ndarray | sparse.csr_array, counts: np.ndarray) -> None:
        """Store item vectors (I, D) and counts (I,). A sparse matrix for "sentences" means that TF-IDF was used."""
        self.vectors, self.counts = vectors, counts
        wants_sentences, has_words = self.config.vectors == "sentences", sparse.issparse(vectors)
        self.has_item_embeddings = wants_sentences and not has_words
        self.note = films.NO_ENCODER if wants_sentences and has_words else ""

    def score(self, queries: Queries) -> np.ndarray:
        """Return cosines, (B, I) float32, and 0 for a profile of zeros."""
        weights = profile_weights(queries.histories, self.vectors.shape[0], self.config.half_life)  # (B, I)
        profiles = weights @ self.vectors  # (B, D), sparse if the vectors are
        lengths = np.sqrt((profiles * profiles).sum(1))  # (B,)
        # a dense factor, because most products of sparse vectors are not 0
        scores = (self.vectors @ (profiles.toarray() if sparse.issparse(profiles) else profiles).T).T  # (B, I)
        scores /= np.where(lengths > 0, lengths, 1)[:, None]
        return fill_empty_histories(scores, queries.histories, self.counts)

    def item_embeddings(self) -> np.ndarray:
        """Return the sentence embeddings, (I, 384) float32, rows of length 1."""
        return self.vectors if self.has_item_embeddings else super().item_embeddings()

    def state(self) -> dict[str, np.ndarray]:
        """Return "counts" (I,) and "vectors" (I, D), float32. Sparse vectors have the three arrays of `csr_state`."""
        if isinstance(self.vectors, np.ndarray):
            return {"counts": self.counts, "vectors": self.vectors}
        return {"counts": self.counts, **csr_state(self.vectors)}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Restore the arrays of `state`."""
        counts = require_n_items(state, "counts", n_items)
        if "indptr" in state:
            n_dims = int(state["indices"].max(initial=0)) + 1  # SciPy cannot infer it if all rows are 0
            shape = (len(state["indptr"]) - 1, n_dims)
            vectors = sparse.csr_array((state["data"], state["indices"], state["indptr"]), shape)
        else:
            vectors = state["vectors"]
        if vectors.shape[0] != n_items:
            raise ValueError(f"the saved vectors are of {vectors.shape[0]} items, not {n_items}; fit it again")
        self._set_vectors(vectors, counts)
