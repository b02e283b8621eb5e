"""Neighbours: users who watched the same items, or items that the same users watched.

Shapes: B queries, b of them at a time, U users of the training data, I items, E ratings, X neighbours.
"""

import warnings
from collections.abc import Iterator
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse

from recsys.config import Count, NonNegative, Positive, config_class
from recsys.data.schema import Dataset, HeldOut, Queries
from recsys.errors import MissingLibraryError
from recsys.models.base import Model
from recsys.models.histories import (
    csr_from_state,
    csr_state,
    fill_empty_histories,
    profile_weights,
    ratings_of,
    require_n_items,
    seen,
    stars,
    watched,
)
from recsys.training.options import RunOptions

AT_ONCE = 64  # queries at a time: their similarities to U users are held together

Weighting = Literal["cosine", "tf-idf", "bm25"]


@config_class
class UserKnnConfig:
    """Defaults are those tuned on ML-1M."""

    neighbours: Count = 50  # X, the most similar users
    shrink: NonNegative = 100.0  # added to the number of ratings; 0 is the formula as it was written
    centred: bool = False  # neighbours vote with their ratings less their own mean


class UserKnn(Model):
    """What similar users rated, by either formula of the thesis behind this project:

        r_ij =       Σ_k cos(u_i, u_k) · r_kj         / number of ratings    (centred=False)
        r_ij = r̄_i + Σ_k cos(u_i, u_k) · (r_kj - r̄_k) / number of ratings    (centred=True)

    r_kj is the rating of item j by neighbour k, and the number of ratings is how many of the X neighbours rated item j.
    Taken literally, an item that one neighbour rated beats all that many have rated, hence `shrink`, added to it.

    The mean of all ratings stands for that of an item that has none in the history to be answered; without any, all
    items count alike, and a cosine is the same whichever rating that is. It stands for r̄_i too, which changes no order,
    so that visitors need not have rated much. Neither formula
    reads the order of a history. Users of the training data are among their own neighbours, where they vote for what
    they have seen. An empty history gets the order of popularity.

    Neither formula comes out in stars. A rating is therefore predicted as by Resnick et al. (CSCW 1994), but with
    cosines: the sum of the cosines of those who rated the item stands for the number of ratings and `shrink`, and the
    person's own mean for r̄_i. Where no neighbour rated the item, that mean is the prediction.
    """

    Config = UserKnnConfig
    config: UserKnnConfig
    state_has_histories = True
    uses_times_or_ratings = True
    uses_query_ratings = True
    predicts_ratings = True

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Keep all ratings, of several by one user for one item the last; `valid` and `run` change nothing."""
        self._learnt(ratings_of(train), train.counts.astype(np.float32))
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32, the rating predicted by the formula."""
        scores = np.empty((len(queries), len(self.counts)), np.float32)
        for part, near in self._in_parts(queries):
            total = (near @ self.votes).toarray()
            near.data = (near.data > 0).astype(np.float32)
            number = (near @ self.rated).toarray()  # of ratings
            scores[part] = self.base + total / np.maximum(number + self.config.shrink, 1)
        return fill_empty_histories(scores, queries.histories, self.counts)

    def predicted_ratings(self, queries: Queries) -> np.ndarray:
        """(B, I) float32 stars: the votes of the neighbours who rated an item, weighted by their cosines."""
        given = stars(queries, len(self.counts), self.mean)  # (B, I)
        number = np.diff(given.indptr)
        means = np.where(number > 0, given.sum(1) / np.maximum(number, 1), self.mean)[:, None]  # (B, 1)
        found = np.empty(given.shape, np.float32)
        for part, near in self._in_parts(queries):
            total, weight = (near @ self.votes).toarray(), (near @ self.rated).toarray()
            voted = total / np.maximum(weight, 1e-9) + (means[part] if self.config.centred else 0)
            found[part] = np.where(weight > 1e-9, voted, means[part])
        return found

    def _in_parts(self, queries: Queries) -> Iterator[tuple[slice, sparse.csr_array]]:
        """Which of the queries, and the cosines (b, U) of each with its neighbours."""
        for start in range(0, len(queries), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            yield part, self._neighbours(queries[part])

    def _neighbours(self, queries: Queries) -> sparse.csr_array:
        """(b, U) the cosines of each history with its X most similar users."""
        n_users = len(self.ratings.indptr) - 1
        items = self._given(queries)  # (b, I)
        cosine = (items @ self.directions).toarray()  # (b, U)
        cosine /= np.sqrt(np.maximum((items * items).sum(1), 1e-9))[:, None]
        few = min(self.config.neighbours, n_users)
        near = np.argpartition(cosine, n_users - few, axis=1)[:, n_users - few :]  # (b, X)
        ends = np.arange(0, near.size + 1, few)
        return sparse.csr_array((np.take_along_axis(cosine, near, 1).ravel(), near.ravel(), ends), shape=cosine.shape)

    def _given(self, queries: Queries) -> sparse.csr_array:
        """(b, I) the ratings of each history; 1 for all where nothing was rated."""
        if queries.ratings is None:
            return seen(queries.histories, len(self.counts))
        return stars(queries, len(self.counts), self.mean)

    def _learnt(self, ratings: sparse.csr_array, counts: np.ndarray) -> None:
        self.ratings, self.counts, self.mean = ratings, counts, float(ratings.data.mean())
        self.votes, self.base = _centred(ratings) if self.config.centred else (ratings, 0.0)
        self.rated = _with_data(ratings, np.ones_like(ratings.data))
        lengths = np.sqrt((ratings * ratings).sum(1))  # (U,)
        self.directions = sparse.csr_array(
            _with_data(ratings, ratings.data / _per_rating(ratings, lengths)).T
        )  # (I, U)

    def state(self) -> dict[str, np.ndarray]:
        """{"counts": (I,)} float32 and the three arrays of a CSR matrix (U, I): everybody's ratings."""
        return {"counts": self.counts, **csr_state(self.ratings)}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not that of `n_items` items."""
        self._learnt(csr_from_state(state, None, n_items), require_n_items(state, "counts", n_items))


def _centred(ratings: sparse.csr_array) -> tuple[sparse.csr_array, float]:
    """(U, I) each rating less its user's mean, and the mean of all ratings."""
    means = ratings.sum(1) / np.maximum(np.diff(ratings.indptr), 1)  # (U,)
    return _with_data(ratings, ratings.data - _per_rating(ratings, means)), float(ratings.data.mean())


def _with_data(matrix: sparse.csr_array, data: np.ndarray) -> sparse.csr_array:
    """The same sparsity pattern with other values."""
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _per_rating(ratings: sparse.csr_array, per_user: np.ndarray) -> np.ndarray:
    """(E,) for each rating the value (U,) of the user who gave it."""
    return np.repeat(per_user, np.diff(ratings.indptr)).astype(np.float32)


@config_class
class ItemKnnConfig:
    """Defaults are those tuned on ML-1M."""

    weighting: Weighting = "tf-idf"  # of the user-item matrix, before items are compared
    neighbours: Count = 20  # K, the most similar items that are kept of each item, itself included
    half_life: Positive = 1.0  # items: one watched this many items before the last counts half as much


class ItemKnn(Model):
    """Items that the same users watched (Sarwar et al., WWW 2001; Deshpande and Karypis, 2004), by `implicit`.

    Whether somebody watched an item is 0 or 1. Unlike the papers, which do not look at order, later items of a history
    count more: with the default `half_life` of one item, each counts twice as much as the one before it. That makes it
    another method than the published one, and a better one; half_life=inf is the papers' mean. An empty history gets
    the order of popularity.
    """

    Config = ItemKnnConfig
    config: ItemKnnConfig

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Compare all items; `valid` and `run` change nothing. Raises MissingLibraryError without implicit."""
        model = _implicit(self.config.weighting)(K=min(self.config.neighbours, train.n_items), num_threads=1)
        with warnings.catch_warnings():  # about threads of BLAS, not used here, and a matrix that it makes itself
            warnings.simplefilter("ignore")
            model.fit(watched(train), show_progress=False)
        self.similarities = sparse.csr_array(model.similarity.astype(np.float32))  # (I, I)
        self.counts = train.counts.astype(np.float32)  # (I,)
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32: the weighted mean of each item's similarities with those of the history."""
        weights = profile_weights(queries.histories, len(self.counts), self.config.half_life)  # (B, I)
        return fill_empty_histories((weights @ self.similarities).toarray(), queries.histories, self.counts)

    def state(self) -> dict[str, np.ndarray]:
        """{"counts": (I,)} float32 and the three arrays of a CSR matrix (I, I)."""
        return {"counts": self.counts, **csr_state(self.similarities)}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not that of `n_items` items."""
        self.counts = require_n_items(state, "counts", n_items)
        self.similarities = csr_from_state(state, n_items, n_items)


def _implicit(weighting: Weighting) -> Any:
    """implicit's class for a weighting."""
    try:
        from implicit import nearest_neighbours
    except ImportError as error:
        raise MissingLibraryError("item kNN", "implicit") from error
    return {
        "cosine": nearest_neighbours.CosineRecommender,
        "tf-idf": nearest_neighbours.TFIDFRecommender,
        "bm25": nearest_neighbours.BM25Recommender,
    }[weighting]
