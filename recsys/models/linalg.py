"""Linear algebra: products with few rows, and singular value decompositions with reproducible results."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

FEW_ROWS = 8
BLOCK_ROWS = 512  # of a matrix; a block of 384 columns fits into the L2 cache


def row_products(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return rows @ matrix.T, (B, I), of rows (B, D) and a matrix (I, D).

    BLAS copies the matrix to multiply it by several rows. For up to FEW_ROWS rows, it is faster to multiply each row by
    a block of the matrix, so that the matrix is read once from memory and not copied.
    """
    if len(rows) > FEW_ROWS:
        return (matrix @ rows.T).T
    products = np.empty((len(rows), len(matrix)), np.result_type(rows, matrix))
    for start in range(0, len(matrix), BLOCK_ROWS):
        block = matrix[start : start + BLOCK_ROWS]
        for index, row in enumerate(rows):
            products[index, start : start + BLOCK_ROWS] = block @ row
    return products


def truncated_svd(matrix: sparse.sparray, rank: int, start: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return left singular vectors (m, r), the largest singular values (r,) and right ones (r, n) of a matrix (m, n).

    The values have no particular order. ARPACK computes at most min(m, n) - 1 values, so r is min(rank, min(m, n) - 1).
    But r is 1 for a matrix with one row or column, and 0 for a matrix of zeros. `start` (min(m, n),) is the
    start vector of ARPACK's iteration, which would otherwise be random.
    """
    if not matrix.count_nonzero():  # ARPACK fails for a matrix of zeros
        return np.zeros((matrix.shape[0], 0)), np.zeros(0), np.zeros((0, matrix.shape[1]))
    if min(matrix.shape) == 1:  # ARPACK would compute min(m, n) - 1 = 0 values
        return np.linalg.svd(matrix.toarray(), full_matrices=False)
    return svds(matrix, min(rank, min(matrix.shape) - 1), v0=start)


def fix_signs(vectors: np.ndarray) -> np.ndarray:
    """Flip columns (m, r) so that the entry with the largest absolute value is positive.

    Without this, signs depend on the CPU.
    """
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(0, keepdims=True), 0)  # (1, r)
    return np.where(largest < 0, -vectors, vectors)
