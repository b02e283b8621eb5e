import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from recsys.evaluation import beyond
from recsys.text.films import genre_vectors
from tests import toys


def test_measures_of_three_lists_worked_by_hand():
    train = toys.dataset([[0, 1], [0, 2], [0, 1], [0, 4]], n_items=5)  # watched 4, 2, 1, 0, 1 times of 8
    items = np.array([[0, 1], [0, 2], [0, 4]])  # even items are comedies, odd ones horror
    found = beyond.summary(items, train)
    assert found["coverage@2"] == pytest.approx(4 / 5)
    assert found["novelty@2"] == pytest.approx((1 + 1 + 1 + 2 + 3 + 3) / 6)  # bits: 1/2, 1/4, 1/8, 1/8
    assert found["diversity@2"] == pytest.approx((1 + 0 + 0) / 3)
    assert found["popularity@2"] == pytest.approx((3 * 4 + 2 + 1 + 1) / 6)
    assert found["gini@2"] == pytest.approx((-4 * 0 - 2 * 1 + 0 * 1 + 2 * 1 + 4 * 3) / (5 * 6))


def test_an_item_nobody_watched_is_as_surprising_as_one_watched_once():
    counts = np.array([7, 1, 0])
    assert beyond.novelty(np.array([[1]]), counts) == beyond.novelty(np.array([[2]]), counts) == 3


def test_where_no_more_items_were_left_nothing_counts():
    train = toys.dataset([[0, 1], [0, 2], [0, 1], [0, 4]], n_items=5)
    short, long = (
        beyond.summary(np.array([[0, 1, -1], [0, 2, -1]]), train),
        beyond.summary(np.array([[0, 1], [0, 2]]), train),
    )
    assert [*short.values()] == [*long.values()]
    assert beyond.diversity(np.array([[3, -1]]), np.eye(5)) == 0


def test_diversity_agrees_with_scikit_learn_on_any_lists():
    rng = np.random.default_rng(0)
    vectors = rng.random((50, 6)) * (rng.random((50, 6)) > 0.5)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    vectors[7] = 0  # without genres: unlike any other
    items = np.array([rng.choice(50, 10, replace=False) for _ in range(20)])
    pairs = np.triu_indices(10, 1)
    expected = np.mean([1 - cosine_similarity(vectors[row])[pairs].mean() for row in items])
    assert beyond.diversity(items, vectors) == pytest.approx(expected)


def test_genres_share_a_items_length_and_an_item_without_any_has_none():
    catalog = toys.catalog(3)
    catalog.movies["genres"] = ["Action|Sci-Fi", "Action", ""]
    vectors = genre_vectors(catalog)
    assert vectors @ vectors.T == pytest.approx(np.array([[1, 0.5**0.5, 0], [0.5**0.5, 1, 0], [0, 0, 0]]))


def test_gini_is_0_where_all_items_are_shown_alike_and_largest_where_one_is():
    assert beyond.gini(np.full(4, 3)) == 0
    assert beyond.gini(np.array([0, 0, 9, 0])) == pytest.approx(3 / 4)
    assert beyond.gini(np.array([1, 3])) == pytest.approx(1 / 4)
