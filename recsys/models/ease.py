"""EASE: an item's score is a weighted sum over the items watched, all weights found at once.

Shapes: B queries, U users, I items, r eigenvectors.
"""

from typing import Self

import numpy as np
from scipy import sparse

from recsys.config import NonNegative, OptionalSize, added, config_class
from recsys.data.schema import DataError, Dataset, HeldOut, Queries
from recsys.models import presets
from recsys.models.base import Model
from recsys.models.histories import fill_empty_histories, require_n_items, seen, watched
from recsys.training.options import RunOptions

BLOCK = 1024  # rows of an (I, I) matrix that are worked on at a time
COPIES = 3  # times that the weights are held at once: once, and twice more while they are written to disk


@config_class
class EaseConfig:
    """Defaults are those tuned on ML-1M."""

    regularization: NonNegative = 200.0  # λ, added to the diagonal of the item-item counts
    rank: OptionalSize = added(0)  # leading eigenvectors of the counts that the weights are made of; 0: all of them


class Ease(Model):
    """Embarrassingly shallow autoencoder (Steck, WWW 2019, arXiv:1905.03375).

    Every item is regressed on all others with a ridge. Whether somebody watched an item is 0 or 1, ratings do not
    count. All of it is in single precision, and the weights overwrite the inverse. An empty history gets the order of
    popularity.

    With a `rank` r, no matrix of items² numbers is made. Let V Λ Vᵀ be the counts G = XᵀX by their r leading
    eigenvectors, those of X's greatest singular values, the other eigenvalues taken as 0. Then (G + λI)⁻¹ is
    (I - A) / λ with A = V Λ / (Λ + λ) Vᵀ, and the paper's weights are B_ij = A_ij / (1 - A_jj). A is kept as L Lᵀ.
    """

    Config = EaseConfig
    config: EaseConfig

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Algorithm 1 of the paper; `valid` and `run` change nothing.

        Raises DataError: before anything is allocated, where memory is too small for items² numbers; later, where
        rounding leaves a matrix without an inverse.
        """
        self.check_memory(train)
        self.counts = train.counts.astype(np.float32)  # (I,)
        if self.config.rank:
            self._take(_leading(watched(train), self.config.rank, self.config.regularization))  # L, (I, r)
            return self
        if train.n_items > presets.MANY_ITEMS:
            raise DataError(
                f"EASE of full rank holds items² numbers, too many for {train.n_items:,}; "
                f"add --rank {presets.LARGE_SET_RANK}"
            )
        gram = _gram(watched(train))  # (I, I)
        gram[np.diag_indices_from(gram)] += self.config.regularization
        self._take(_weights(_inverse(gram)))  # B, (I, I)
        return self

    def fit_memory_bytes(self, n_users: int, n_items: int) -> int:
        """COPIES of the weights: of (I, I) numbers, or with a rank of (I, r) and of the other vectors (U, r)."""
        return COPIES * 4 * (self.config.rank * (n_items + n_users) if self.config.rank else n_items**2)

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32: about 1 for an item that fits, about 0 for one that does not."""
        if self.config.rank:
            scores = self._low_rank([np.unique(np.asarray(history, int)) for history in queries.histories])
        else:
            scores = seen(queries.histories, len(self.counts)) @ self.weights
        return fill_empty_histories(scores, queries.histories, self.counts)

    def _low_rank(self, items: list[np.ndarray]) -> np.ndarray:
        """(B, I) of B sets of items, without a sparse matrix, which would cost one query as much as the rest."""
        profiles = np.zeros((len(items), self.weights.shape[1]), np.float32)  # (B, r)
        for row, own in enumerate(items):
            profiles[row] = self.weights[own].sum(0)
        scores = (self.weights @ profiles.T).T  # (B, I)
        for row, own in enumerate(items):
            scores[row, own] -= self.diagonal[own]  # an item does not speak for itself
        return scores * self.scale

    def state(self) -> dict[str, np.ndarray]:
        """{"weights": (I, I), or (I, r) with a rank, "counts": (I,)} float32."""
        return {"weights": self.weights, "counts": self.counts}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not that of `n_items` items."""
        self.counts = require_n_items(state, "counts", n_items)
        self._take(require_n_items(state, "weights", n_items))

    def _take(self, weights: np.ndarray) -> None:
        """Keep B, or L and what every score of low rank needs."""
        self.weights = weights
        if self.config.rank:
            self.diagonal = np.square(weights).sum(1)  # (I,) A_jj
            self.scale = 1 / (1 - self.diagonal)  # (I,)


def _leading(users: sparse.csr_matrix, rank: int, regularization: float) -> np.ndarray:
    """L (I, r) float32 with A = L Lᵀ, see `Ease`; r is smaller where there are not that many users or items."""
    from scipy.sparse.linalg import svds  # see `_inverse`

    start = np.ones(min(users.shape))  # ARPACK's own would be random
    _, values, vectors = svds(users, min(rank, min(users.shape) - 1), v0=start)  # (r,), (r, I)
    kept = values**2 / (values**2 + regularization)  # (r,)
    return np.ascontiguousarray(vectors.T * np.sqrt(kept), dtype=np.float32)


def _gram(users: sparse.csr_matrix) -> np.ndarray:
    """(I, I) float32: how many users watched both items, from (U, I).

    By blocks: one sparse product would take twice the memory.
    """
    n_items = users.shape[1]
    items, gram = users.T.tocsr(), np.empty((n_items, n_items), np.float32)
    for start in range(0, n_items, BLOCK):
        gram[start : start + BLOCK] = (items[start : start + BLOCK] @ users).toarray()
    return gram


def _inverse(gram: np.ndarray) -> np.ndarray:
    """(I, I), overwriting a symmetric positive definite matrix; DataError where rounding has made it indefinite."""
    from scipy.linalg import lapack  # a network with a memory, which is only loaded, need not wait for it

    triangle, failed = lapack.spotrf(gram.T, overwrite_a=True)  # .T: LAPACK reads columns first, so nothing is copied
    if not failed:
        triangle, failed = lapack.spotri(triangle, overwrite_c=True)
    if failed:
        raise DataError("EASE found no inverse: these counts are too large for its regularization; raise it tenfold")
    inverse = triangle.T  # its lower triangle holds the result
    for start in range(0, len(inverse), BLOCK):
        here = slice(start, start + BLOCK)
        inverse[:start, here] = inverse[here, :start].T
        inverse[here, here] = np.tril(inverse[here, here]) + np.tril(inverse[here, here], -1).T
    return inverse


def _weights(inverse: np.ndarray) -> np.ndarray:
    """(I, I) B_ij = -P_ij / P_jj, overwriting P, 0 on the diagonal: equation 8 of the paper."""
    inverse /= -inverse.diagonal().copy()
    np.fill_diagonal(inverse, 0)
    return inverse
