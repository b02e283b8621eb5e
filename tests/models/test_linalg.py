import numpy as np
import pytest
from scipy import sparse

from recsys.data.dataset import Queries
from recsys.models.ease import Ease, EaseConfig
from recsys.models.linalg import BLOCK_ROWS, FEW_ROWS, fix_signs, row_products, truncated_svd
from recsys.models.pmi import pmi_vectors
from tests import toys


@pytest.mark.parametrize("shape", [(12, 12), (12, 5), (1, 7), (7, 1), (1, 1)])
def test_the_largest_singular_values_are_those_of_the_dense_decomposition(shape):
    matrix = np.random.default_rng(0).random(shape)
    left, values, right = truncated_svd(sparse.csr_array(matrix), 3, np.ones(min(shape)))
    np.testing.assert_allclose(np.sort(values)[::-1], np.linalg.svd(matrix)[1][:3])
    np.testing.assert_allclose(matrix @ right.T, left * values, atol=1e-10)


def test_a_matrix_of_zeros_has_no_singular_values():
    left, values, right = truncated_svd(sparse.csr_array((4, 6)), 3, np.ones(4))
    assert (left.shape, values.shape, right.shape) == ((4, 0), (0,), (0, 6))


def test_signs_do_not_depend_on_the_processor():
    vectors = np.random.default_rng(0).normal(size=(12, 4))
    fixed = fix_signs(vectors)
    np.testing.assert_array_equal(fix_signs(vectors * [1, -1, -1, 1]), fixed)
    np.testing.assert_array_equal(np.abs(fixed), np.abs(vectors))
    assert (np.take_along_axis(fixed, np.abs(fixed).argmax(0)[None], 0) > 0).all()


TINY = {
    "one item": toys.dataset([[0], [0, 0]], 1),
    "one user": toys.dataset([[0, 1, 2]], 3),
    "users with one item each": toys.dataset([[0], [1], [2]], 3),
}


@pytest.mark.parametrize("world", TINY.values(), ids=TINY)
def test_tiny_data_sets_can_be_factorised(world):
    model = Ease(EaseConfig(rank=2)).fit(world)
    assert np.isfinite(model.score(Queries([[0], []]))).all()
    vectors = pmi_vectors(world, 4, 0.05, np.random.default_rng(0))
    assert vectors.shape == (world.n_items, 4)
    assert vectors.any(1).all()


@pytest.mark.parametrize("n_rows", [0, 1, FEW_ROWS, FEW_ROWS + 1])
def test_row_products(n_rows):
    rng = np.random.default_rng(0)
    rows, matrix = rng.normal(size=(n_rows, 5)), rng.normal(size=(2 * BLOCK_ROWS + 7, 5))
    np.testing.assert_allclose(row_products(rows, matrix), rows @ matrix.T)
