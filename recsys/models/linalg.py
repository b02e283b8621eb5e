"""Truncated singular value decomposition with reproducible results."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds


def truncated_svd(matrix: sparse.sparray, rank: int, start: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the largest singular values of a matrix (m, n) and their singular vectors.

    Args:
        matrix: A sparse matrix, (m, n).
        rank: The number of singular values wanted. The result has r = min(rank, min(m, n) - 1), 1 for a single row or
            column, and 0 for a matrix of zeros.
        start: Start vector of the iteration, (min(m, n),). Without it, ARPACK would start from a random vector.

    Returns:
        Left singular vectors (m, r), singular values (r,) in no particular order, right singular vectors (r, n).
    """
    if not matrix.count_nonzero():  # ARPACK fails for a matrix of zeros
        return np.zeros((matrix.shape[0], 0)), np.zeros(0), np.zeros((0, matrix.shape[1]))
    if min(matrix.shape) == 1:  # ARPACK computes at most min(m, n) - 1 singular values
        return np.linalg.svd(matrix.toarray(), full_matrices=False)
    return svds(matrix, min(rank, min(matrix.shape) - 1), v0=start)


def fix_signs(vectors: np.ndarray) -> np.ndarray:
    """Return the columns of (m, r) with signs such that the entry with the largest absolute value is positive.

    The sign of a singular vector is arbitrary and differs between processors.
    """
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(0, keepdims=True), 0)  # (1, r)
    return np.where(largest < 0, -vectors, vectors)
