"""Nearest neighbours: users with similar ratings, and items with the same users.

Shapes: B queries, b queries of a chunk, U users of the training data, I items, X neighbours.
"""

import warnings
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from scipy import sparse

from recsys.config import Count, NonNegative, Positive, config_class
from recsys.data.dataset import Dataset, Queries
from recsys.errors import MissingLibraryError
from recsys.models.array_model import ArrayModel
from recsys.models.histories import history_matrix, profile_weights, rating_matrix
from recsys.training.options import RunOptions

CHUNK_SIZE = 64  # queries whose similarities to all users are in memory together


@config_class
class UserKnnConfig:
    """Settings of UserKnn, tuned on ML-1M."""

    neighbours: Count = 50  # X, the most similar users
    shrink: NonNegative = 100.0  # added to the number of ratings; 0 is the original formula
    centred: bool = False  # subtract the mean rating of each neighbour


class UserKnn(ArrayModel):
    """User-based nearest neighbours, with the two formulas of the thesis on which this project is based.

        r_ij =       Σ_k cos(u_i, u_k) · r_kj         / (n_j + shrink)    (centred=False)
        r_ij = r̄_i + Σ_k cos(u_i, u_k) · (r_kj - r̄_k) / (n_j + shrink)    (centred=True)

    k runs over the X users most similar to user i. r_kj is the rating of item j by user k, and r̄_k the mean rating of
    user k. n_j is the number of users among the X with a positive cosine and a rating of item j. The order of a history
    has no effect.

    Departures from the thesis:
    - `shrink` is added to n_j. Without it, an item with one rating beats items with many ratings.
    - r̄_i is replaced by the mean of all ratings. This does not change the order of the items.
    - An unrated item of a query gets the mean of all ratings. If the query has no ratings at all, each item gets 1,
      because all constants give the same cosines.
    - Users of the training data are their own neighbours.

    Neither formula predicts ratings. `predicted_ratings` divides by the sum of the cosines of the neighbours who rated
    item j. If `centred`, r̄_i is the user's own mean, as in Resnick et al. (CSCW 1994), here with cosines as weights.
    """

    Config = UserKnnConfig
    config: UserKnnConfig
    state_has_histories = True
    uses_times_or_ratings = True
    uses_query_ratings = True
    predicts_ratings = True
    matrix_name = "ratings"

    def _fit(self, train: Dataset, run: RunOptions) -> None:
        self.ratings = rating_matrix(train)  # (U, I)

    def _derive(self) -> None:
        """Set `votes`, the factor after the cosine in the formula, `base`, the first term, and other attributes."""
        ratings = self.ratings
        self.mean = float(ratings.data.mean())
        self.votes, self.base = ratings, 0.0  # r_kj (U, I), and no first term
        n_ratings = np.diff(ratings.indptr)  # (U,)
        if self.config.centred:
            means = (ratings.sum(1) / np.maximum(n_ratings, 1)).astype(np.float32)  # (U,)
            self.votes = _with_values(ratings, ratings.data - np.repeat(means, n_ratings))  # r_kj - r̄_k
            self.base = self.mean
        self.is_rated = _with_values(ratings, np.ones_like(ratings.data))
        norms = np.sqrt((ratings * ratings).sum(1)).astype(np.float32)  # (U,)
        norms[norms == 0] = 1  # of users whose ratings are all 0, so that their cosines are 0
        directions = _with_values(ratings, ratings.data / np.repeat(norms, n_ratings))
        self.directions = sparse.csr_array(directions.T)  # (I, U), columns of length 1 or 0

    def _score(self, queries: Queries) -> np.ndarray:
        scores = np.empty((len(queries), len(self.counts)), np.float32)
        for chunk, cosines in self._nearest_cosines(queries):
            total_votes = (cosines @ self.votes).toarray()
            is_similar = _with_values(cosines, (cosines.data > 0).astype(np.float32))
            n_ratings = (is_similar @ self.is_rated).toarray()  # n_j
            scores[chunk] = self.base + total_votes / np.maximum(n_ratings + self.config.shrink, 1)
        return scores

    def predicted_ratings(self, queries: Queries) -> np.ndarray:
        """Return the predicted stars, (B, I) float32. If no neighbour rated an item, they are the user's mean."""
        ratings = history_matrix(queries.histories, len(self.counts), queries.ratings, self.mean)  # (B, I)
        n_ratings = np.diff(ratings.indptr)
        means = np.where(n_ratings > 0, ratings.sum(1) / np.maximum(n_ratings, 1), self.mean)[:, None]  # (B, 1)
        predicted = np.empty(ratings.shape, np.float32)
        for chunk, cosines in self._nearest_cosines(queries):
            total_votes, total_weight = (cosines @ self.votes).toarray(), (cosines @ self.is_rated).toarray()
            mean_votes = total_votes / np.maximum(total_weight, 1e-9) + (means[chunk] if self.config.centred else 0)
            predicted[chunk] = np.where(total_weight > 1e-9, mean_votes, means[chunk])
        return predicted

    def _nearest_cosines(self, queries: Queries) -> Iterator[tuple[slice, sparse.csr_array]]:
        """Yield slices of the queries, each with the cosines (b, U) to the X most similar users, else 0."""
        n_users, n_items = self.ratings.shape
        n_neighbours = min(self.config.neighbours, n_users)
        unrated = 1.0 if queries.ratings is None else self.mean
        for start in range(0, len(queries), CHUNK_SIZE):
            chunk = slice(start, start + CHUNK_SIZE)
            chunk_queries = queries[chunk]
            ratings = history_matrix(chunk_queries.histories, n_items, chunk_queries.ratings, unrated)  # (b, I)
            cosines = (ratings @ self.directions).toarray()  # (b, U)
            cosines /= np.sqrt(np.maximum((ratings * ratings).sum(1), 1e-9))[:, None]
            nearest = np.argpartition(cosines, n_users - n_neighbours, axis=1)[:, n_users - n_neighbours :]  # (b, X)
            values = np.take_along_axis(cosines, nearest, 1)
            indptr = np.arange(0, nearest.size + 1, n_neighbours)
            yield chunk, sparse.csr_array((values.ravel(), nearest.ravel(), indptr), shape=cosines.shape)


def _with_values(matrix: sparse.csr_array, values: np.ndarray) -> sparse.csr_array:
    """Return a matrix with other values at the same positions, which both matrices share in memory."""
    return sparse.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)


@config_class
class ItemKnnConfig:
    """Settings of ItemKnn, tuned on ML-1M."""

    weighting: Literal["cosine", "tf-idf", "bm25"] = "tf-idf"  # of the user-item matrix, before items are compared
    neighbours: Count = 20  # X, the most similar items that are stored for each item, itself included
    half_life: Positive = 1.0  # items: an item has half the weight of an item watched this many items later


class ItemKnn(ArrayModel):
    """Item-based nearest neighbours (Sarwar et al., WWW 2001; Deshpande and Karypis, 2004), by `implicit`.

        score(j) = Σ_i w_i · cos(x_i, x_j)

    x_i (U,) are the users who watched item i: 0 or 1, then weighted. Only the X largest cosines of an item count. w_i
    is the weight of item i in the history, and these weights sum to 1.

    Departure from the papers: newer items weigh more. In the papers all items weigh the same, which a very large
    `half_life` approximates.
    """

    Config = ItemKnnConfig
    config: ItemKnnConfig
    matrix_name = "similarities"

    def _fit(self, train: Dataset, run: RunOptions) -> None:
        try:
            from implicit import nearest_neighbours
        except ImportError as error:
            raise MissingLibraryError("item kNN", "implicit") from error
        classes: dict[str, Any] = {
            "cosine": nearest_neighbours.CosineRecommender,
            "tf-idf": nearest_neighbours.TFIDFRecommender,
            "bm25": nearest_neighbours.BM25Recommender,
        }
        model = classes[self.config.weighting](K=min(self.config.neighbours, train.n_items), num_threads=1)
        with warnings.catch_warnings():  # about unused BLAS threads and the format of a matrix
            warnings.simplefilter("ignore")
            model.fit(sparse.csr_matrix(history_matrix(train.histories, train.n_items)), show_progress=False)
        self.similarities = sparse.csr_array(model.similarity.astype(np.float32))  # (I, I)
        # The weight of a user who watched all items but one is 0. Without other users, x_i is 0 and has no cosines.
        np.nan_to_num(self.similarities.data, copy=False)

    def _score(self, queries: Queries) -> np.ndarray:
        weights = profile_weights(queries.histories, len(self.counts), self.config.half_life)  # (B, I)
        return (weights @ self.similarities).toarray()
