"""EASE: a film's score is a weighted sum of what was watched, all weights found at once.

Shapes: B queries, I items.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from recsys import machine
from recsys.data.schema import DataError, Dataset, HeldOut, Queries
from recsys.models._histories import per_item, popular_where_empty, seen, watched
from recsys.models.base import Recommender
from recsys.training.run import Run

BLOCK = 1024  # rows of a films × films matrix that are worked on at a time
COPIES = 3  # films × films matrices at once: the weights, and twice more while they are written to disk


@dataclass(frozen=True)
class EaseConfig:
    """Defaults are those tuned on ML-1M."""

    regularization: float = 200.0  # λ, added to the diagonal of the films × films counts


class Ease(Recommender):
    """Embarrassingly shallow autoencoder (Steck, WWW 2019, arXiv:1905.03375).

    Every film is regressed on all others with a ridge. Who watched what is 0 or 1, ratings do not count. Inverse and
    weights share one matrix in single precision. An empty history gets the order of popularity.
    """

    title = "EASE"
    family = "Factorisation"
    paper = "arXiv:1905.03375"
    Config = EaseConfig
    presets = {
        ("ease", "ml-1m"): EaseConfig(),
        ("ease", "ml-100k"): EaseConfig(regularization=100.0),
        ("ease", "ml-latest-small"): EaseConfig(regularization=50.0),
    }

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: Run | None = None) -> Self:
        """Algorithm 1 of the paper; `valid` and `run` change nothing.

        Raises DataError, before anything is allocated, where memory is too short for films² numbers.
        """
        _refuse_what_does_not_fit(train.n_items)
        gram = _gram(watched(train))  # (I, I)
        gram[np.diag_indices_from(gram)] += self.config.regularization
        self.weights = _weights(_inverse(gram))  # (I, I)
        self.counts = train.counts.astype(np.float32)  # (I,)
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32: about 1 for a film that fits, about 0 for one that does not."""
        films = seen(queries.histories, len(self.counts))  # (B, I)
        return popular_where_empty(films @ self.weights, queries.histories, self.counts)

    def state(self) -> dict[str, np.ndarray]:
        """{"weights": (I, I), "counts": (I,)} float32."""
        return {"weights": self.weights, "counts": self.counts}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not that of `n_items` films."""
        self.weights, self.counts = per_item(state, "weights", n_items), per_item(state, "counts", n_items)


def _refuse_what_does_not_fit(n_items: int) -> None:
    """DataError with the number of GB, where they are not there."""
    needed, free = COPIES * 4 * n_items**2, machine.free_memory()
    if needed > free:
        raise DataError(
            f"EASE needs films² numbers: {n_items:,} films take {needed / 1e9:,.1f} GB of memory, and this machine has "
            f"{free / 1e9:,.1f} GB left; choose another model, such as item-knn"
        )


def _gram(people: sparse.csr_matrix) -> np.ndarray:
    """(I, I) float32: how many people watched both films. By blocks: a sparse product would take twice the memory."""
    n_items = people.shape[1]
    films, gram = people.T.tocsr(), np.empty((n_items, n_items), np.float32)
    for start in range(0, n_items, BLOCK):
        gram[start : start + BLOCK] = (films[start : start + BLOCK] @ people).toarray()
    return gram


def _inverse(gram: np.ndarray) -> np.ndarray:
    """(I, I) in the place of a symmetric positive definite matrix; DataError where rounding makes it another."""
    triangle, failed = lapack.spotrf(gram.T, overwrite_a=True)  # .T: LAPACK reads columns first, and takes no copy
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
    """(I, I) B_ij = -P_ij / P_jj in the place of P, 0 on the diagonal: equation 8 of the paper."""
    inverse /= -inverse.diagonal().copy()
    np.fill_diagonal(inverse, 0)
    return inverse


VARIANTS = {"ease": Ease}
