"""EASE: a linear autoencoder with a closed-form solution (Steck, WWW 2019, arXiv:1905.03375).

Shapes: B queries, U users, I items, r eigenvectors. In formulas, W is the weight matrix and E the identity.
"""

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from recsys.config import NonNegative, OptionalSize, added_later, config_class
from recsys.data.dataset import DataError, Dataset, Queries
from recsys.models import presets
from recsys.models.array_model import ArrayModel
from recsys.models.histories import history_matrix
from recsys.models.linalg import row_products, truncated_svd
from recsys.training.options import RunOptions

BLOCK_ROWS = 1024  # rows of an (I, I) matrix that are computed together, so that temporary arrays are small
MAX_COPIES = 3  # copies of the weights in memory: the weights, and two more while they are written to disk


@config_class
class EaseConfig:
    """Settings of EASE, tuned on ML-1M."""

    regularization: NonNegative = 200.0  # λ, added to the diagonal of the item-item counts
    rank: OptionalSize = added_later(0)  # number of eigenvectors of the item-item counts that are used; 0: all


class Ease(ArrayModel):
    """Score = x W, where x is 1 for the items of the history and 0 for the others.

    W (I, I) minimises |X - XW|² + λ|W|² with a zero diagonal. X (U, I) is 1 where a user watched an item, else 0. With
    the item-item counts G = XᵀX and P = (G + λE)⁻¹, the solution is W_ij = -P_ij / P_jj for i ≠ j. Ratings are not
    used. A score is about 1 for a relevant item and about 0 for other items.

    With a `rank` r, no (I, I) matrix is computed. Let V Λ Vᵀ be the eigendecomposition of G with the r largest
    eigenvalues. The other eigenvalues are set to 0. Then P = (E - A) / λ with A = V Λ / (Λ + λ) Vᵀ. It follows that
    W_ij = A_ij / (1 - A_jj) for i ≠ j. A is stored as L Lᵀ, with L (I, r).

    Departures from the paper, which names the weights B: single precision, and W overwrites P to save memory.
    """

    Config = EaseConfig
    config: EaseConfig
    array_names = ("weights", "counts")

    def _fit(self, train: Dataset, run: RunOptions) -> None:
        """Set `weights` to W (I, I) as in algorithm 1 of the paper, or to L (I, r), float32.

        r is below `rank` if X has few rows or columns.

        Raises:
            DataError: If memory is too small for W, if there are too many items for a full rank, or if rounding leaves
                a matrix without an inverse.
        """
        self.check_memory(train)
        if not self.config.rank and train.n_items > presets.MANY_ITEMS:
            raise DataError(
                "full-rank EASE stores items² numbers, too many for {n_items:,} items; add --rank {rank}",
                n_items=train.n_items,
                rank=presets.LARGE_SET_RANK,
            )
        interactions = history_matrix(train.histories, train.n_items)  # X, (U, I)
        if self.config.rank:
            start = np.ones(min(interactions.shape))
            _, singular_values, vectors = truncated_svd(interactions, self.config.rank, start)  # (r,), (r, I)
            eigenvalues = singular_values**2  # of G
            factor = vectors.T * np.sqrt(eigenvalues / (eigenvalues + self.config.regularization))
            self.weights = np.ascontiguousarray(factor, dtype=np.float32)
            return
        gram = _gram(interactions)
        gram[np.diag_indices_from(gram)] += self.config.regularization
        weights = _inverse(gram)  # P
        weights /= -weights.diagonal().copy()  # equation 8 of the paper
        np.fill_diagonal(weights, 0)
        self.weights = weights

    def _derive(self) -> None:
        """Compute the vectors with which `_score` replaces W, if there is a rank."""
        if self.config.rank:
            self.diagonal = np.square(self.weights).sum(1)  # A_jj, (I,)
            self.scale = 1 / (1 - self.diagonal)  # (I,)

    def fit_memory_bytes(self, n_users: int, n_items: int) -> int:
        """Return the bytes of all copies of W (I, I), or of L (I, r) and the left singular vectors (U, r)."""
        return MAX_COPIES * 4 * (self.config.rank * (n_items + n_users) if self.config.rank else n_items**2)

    def _score(self, queries: Queries) -> np.ndarray:
        if not self.config.rank:
            return history_matrix(queries.histories, len(self.counts)) @ self.weights
        # A sparse x would double the time of a single query.
        histories = [np.unique(np.asarray(history, int)) for history in queries.histories]
        profiles = np.zeros((len(histories), self.weights.shape[1]), np.float32)  # x L, (B, r)
        for row, items in enumerate(histories):
            profiles[row] = self.weights[items].sum(0)
        scores = row_products(profiles, self.weights)  # x A, (B, I)
        for row, items in enumerate(histories):
            scores[row, items] -= self.diagonal[items]  # W has a zero diagonal
        return scores * self.scale


def _gram(interactions: sparse.csr_array) -> np.ndarray:
    """Return G = XᵀX (I, I) float32 of X (U, I): the number of users who watched both items.

    It is computed in blocks because a sparse product would take twice the memory.
    """
    n_items = interactions.shape[1]
    by_item, gram = interactions.T.tocsr(), np.empty((n_items, n_items), np.float32)
    for start in range(0, n_items, BLOCK_ROWS):
        gram[start : start + BLOCK_ROWS] = (by_item[start : start + BLOCK_ROWS] @ interactions).toarray()
    return gram


def _inverse(gram: np.ndarray) -> np.ndarray:
    """Return the inverse (I, I) of a symmetric positive definite matrix, which it overwrites.

    Raises:
        DataError: If rounding has made the matrix indefinite.
    """
    triangle, error_code = lapack.spotrf(gram.T, overwrite_a=True)  # LAPACK is column-major: gram.T needs no copy
    if not error_code:
        triangle, error_code = lapack.spotri(triangle, overwrite_c=True)
    if error_code:
        raise DataError(
            "EASE found no inverse: these counts are too large for its regularization; increase this setting tenfold"
        )
    inverse = triangle.T  # its lower triangle contains the result
    for start in range(0, len(inverse), BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        inverse[:start, block] = inverse[block, :start].T
        inverse[block, block] = np.tril(inverse[block, block]) + np.tril(inverse[block, block], -1).T
    return inverse
