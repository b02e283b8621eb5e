import numpy as np
import pytest

from recsys.models import pmi
from tests import toys


def cosine(vectors):
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit @ unit.T


def test_neighbours_start_near_each_other():
    data = toys.cycle(n_items=40, n_users=100)
    vectors = pmi.pmi_vectors(data, 16, 0.05, np.random.default_rng(0))
    assert vectors.std() == pytest.approx(0.05)
    near = cosine(vectors)
    beside = np.mean([near[item, (item + 1) % 40] for item in range(40)])
    opposite = np.mean([near[item, (item + 20) % 40] for item in range(40)])
    assert beside > 0.4
    assert opposite < 0.1


def test_the_factorisation_is_of_positive_pointwise_mutual_information():
    data = toys.dataset([[0, 1], [0, 1], [2, 3], [0, 3]], 5)
    counts = np.array([[0, 2, 0, 1, 0], [2, 0, 0, 0, 0], [0, 0, 0, 1, 0], [1, 0, 1, 0, 0], [0, 0, 0, 0, 0]])
    np.testing.assert_array_equal(pmi._neighbour_counts(data).toarray(), counts)
    information = pmi._positive_pmi(pmi._neighbour_counts(data)).toarray()
    assert information[0, 1] == pytest.approx(np.log((2 / 8) / (3 / 8 * 2 / 8)))
    assert information[0, 3] == pytest.approx(max(0, np.log((1 / 8) / (3 / 8 * 2 / 8))))
    assert information[0, 2] == 0


def test_no_item_starts_at_zero():
    data = toys.dataset([[0, 1, 2, 3]] * 3, 10)  # six items without neighbours
    vectors = pmi.pmi_vectors(data, 32, 0.05, np.random.default_rng(0))
    assert vectors.shape == (10, 32)
    assert vectors.dtype == np.float32
    assert (np.abs(vectors).max(1) > 0).all()


def test_a_shift_is_the_same_rotation_at_every_position():
    positions = pmi.sinusoids(50, 16)
    assert positions.shape == (50, 16)
    products = positions @ positions.T
    np.testing.assert_allclose(np.diag(products, 3), products[0, 3], rtol=1e-4)


def test_a_neighbour_counts_less_the_farther_away_it_is():
    counts = pmi._neighbour_counts(toys.dataset([[0, 1, 2, 3, 4], [0, 2]], 5)).toarray()
    np.testing.assert_allclose(counts[0], [0, 1, 1 / 2 + 1, 1 / 3, 0])
