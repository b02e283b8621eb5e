"""Content-based filtering: items whose descriptions are similar to the descriptions of watched items.

Shapes: B queries, I items, D features.
"""

from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse

from recsys.config import Positive, config_class
from recsys.data.dataset import Dataset, Queries
from recsys.models.array_model import ArrayModel, csr_from_state, csr_state, item_array
from recsys.models.histories import profile_weights
from recsys.models.linalg import row_products
from recsys.text import films
from recsys.text.fields import field_vectors
from recsys.training.options import RunOptions


@config_class
class ContentConfig:
    """Settings of Content. A half-life of 1.5 is good on each of ML-1M, ML-100K and ML-latest-small."""

    # features of an item: a sentence embedding, words, genres, or several fields
    vectors: Literal["sentences", "tf-idf", "genres", "fields"] = "sentences"
    half_life: Positive = 1.5  # in items: an item has half the weight of an item watched this many items later


class Content(ArrayModel):
    """Score(j) = cos(u, v_j), where the profile u = Σ_i w_i v_i is the weighted mean of the history's item vectors.

    The weight w_i of an item decays with its age in the history. The item vectors v (D,) have length 1. The config
    chooses one of four kinds:

    - sentences: embeddings of title, year, genres and tags by all-MiniLM-L6-v2 (Sentence-BERT, arXiv:1908.10084). If
      the encoder cannot be loaded, TF-IDF is used, `note` is set and there are no `item_embeddings`.
    - tf-idf: the words of the same texts, weighted by TF-IDF. Directors, cast, subjects and countries are added if the
      data set was enriched.
    - genres: one coordinate per genre. Items with the same genres have equal scores.
    - fields: tags, genres, period, title, original language and credits, each with its weight, see `text/fields.py`.
      These vectors do not have length 1, and the score is not divided by the length of v.

    Interactions are not used, except for the popularity that scores an empty history.
    """

    Config = ContentConfig
    config: ContentConfig
    uses_item_texts: ClassVar[bool] = True

    def __init__(self, config: Any = None, title: str = "") -> None:
        super().__init__(config, title)
        self.has_item_embeddings = self.config.vectors == "sentences"  # expected before the fit, see `_derive`
        self.uses_credits = self.config.vectors in ("tf-idf", "fields")
        self.uses_field_vectors = self.config.vectors == "fields"
        # A model that scores cold items (infrequent films) is fitted on all films. Their sentence embeddings would take
        # minutes.
        self.scores_cold_items = not self.has_item_embeddings

    def _fit(self, train: Dataset, run: RunOptions) -> None:
        """Set `vectors` (I, D) float32, with zeros for an item without a description.

        Sentence embeddings report {"stage": "download" or "encode", "done": n, "total": n}.
        """
        if self.config.vectors == "sentences":
            self.vectors = films.film_vectors(train.name, train.catalog, run.report).matrix
        elif self.config.vectors == "tf-idf":
            self.vectors = films.tfidf(films.texts_with_credits(train.catalog))
        elif self.config.vectors == "fields":
            self.vectors = field_vectors(train.name, train.catalog)
        else:
            self.vectors = films.genre_vectors(train.catalog)

    def _derive(self) -> None:
        """Set `note` and `has_item_embeddings`. Sparse vectors for "sentences" mean that TF-IDF was used."""
        lacks_encoder = self.config.vectors == "sentences" and sparse.issparse(self.vectors)
        self.has_item_embeddings = self.config.vectors == "sentences" and not lacks_encoder
        self.note = films.NO_ENCODER if lacks_encoder else ""

    def _score(self, queries: Queries) -> np.ndarray:
        """Return cosines, and 0 for a profile of zeros."""
        weights = profile_weights(queries.histories, self.vectors.shape[0], self.config.half_life)  # (B, I)
        profiles = weights @ self.vectors  # (B, D), sparse if the vectors are
        lengths = np.sqrt((profiles * profiles).sum(1))  # (B,)
        if sparse.issparse(profiles):
            products = (self.vectors @ profiles.toarray().T).T  # dense, because it has few zeros
        else:
            products = row_products(profiles, self.vectors)
        return products / np.where(lengths > 0, lengths, 1)[:, None]

    def item_embeddings(self) -> np.ndarray:
        """Return the sentence embeddings, (I, 384) float32, rows of length 1."""
        return self.vectors if self.has_item_embeddings else super().item_embeddings()

    def state(self) -> dict[str, np.ndarray]:
        """Return "counts" (I,) and "vectors" (I, D), float32. Sparse vectors have the three arrays of `csr_state`."""
        vectors = csr_state(self.vectors) if sparse.issparse(self.vectors) else {"vectors": self.vectors}
        return {"counts": self.counts, **vectors}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """See `Model.load_state`."""
        self.counts = item_array(state, "counts", n_items)
        if "indptr" in state:
            # D columns, or fewer if the last features are all zero
            self.vectors = csr_from_state(state, int(state["indices"].max(initial=0)) + 1)
        else:
            self.vectors = item_array(state, "vectors", n_items)
        self._derive()
