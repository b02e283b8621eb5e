import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from recsys.data.dataset import Queries
from recsys.evaluation import list_metrics
from recsys.evaluation.list_metrics import calibration, probabilities_by_rank, reliability, target_share_by_rank
from recsys.evaluation.metric_texts import LIST_METRICS
from recsys.text.films import genre_vectors
from tests import toys
from tests.serving.given import Given


def test_measures_of_three_lists_worked_by_hand():
    train = toys.dataset([[0, 1], [0, 2], [0, 1], [0, 4]], n_items=5)  # watched 4, 2, 1, 0, 1 times of 8
    items = np.array([[0, 1], [0, 2], [0, 4]])  # even items are comedies, odd ones horror
    found = list_metrics.beyond_accuracy(items, train)
    assert found["coverage@2"] == pytest.approx(4 / 5)
    assert found["novelty@2"] == pytest.approx((1 + 1 + 1 + 2 + 3 + 3) / 6)  # bits: 1/2, 1/4, 1/8, 1/8
    assert found["diversity@2"] == pytest.approx((1 + 0 + 0) / 3)
    assert found["popularity@2"] == pytest.approx((3 * 4 + 2 + 1 + 1) / 6)
    assert found["gini@2"] == pytest.approx((-4 * 0 - 2 * 1 + 0 * 1 + 2 * 1 + 4 * 3) / (5 * 6))


def test_every_list_metric_has_texts():
    train = toys.dataset([range(12)], n_items=12)
    assert list(list_metrics.beyond_accuracy(np.arange(10)[None], train)) == list(LIST_METRICS)


def test_an_item_nobody_watched_is_as_surprising_as_one_watched_once():
    counts = np.array([7, 1, 0])
    assert list_metrics.novelty(np.array([[1]]), counts) == list_metrics.novelty(np.array([[2]]), counts) == 3


def test_where_no_more_items_were_left_nothing_counts():
    train = toys.dataset([[0, 1], [0, 2], [0, 1], [0, 4]], n_items=5)
    short, long = (
        list_metrics.beyond_accuracy(np.array([[0, 1, -1], [0, 2, -1]]), train),
        list_metrics.beyond_accuracy(np.array([[0, 1], [0, 2]]), train),
    )
    assert [*short.values()] == [*long.values()]
    assert list_metrics.diversity(np.array([[3, -1]]), np.eye(5)) == 0


def test_diversity_agrees_with_scikit_learn_on_any_lists():
    rng = np.random.default_rng(0)
    vectors = rng.random((50, 6)) * (rng.random((50, 6)) > 0.5)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    vectors[7] = 0  # without genres: unlike any other
    items = np.array([rng.choice(50, 10, replace=False) for _ in range(20)])
    pairs = np.triu_indices(10, 1)
    expected = np.mean([1 - cosine_similarity(vectors[row])[pairs].mean() for row in items])
    assert list_metrics.diversity(items, vectors) == pytest.approx(expected)


def test_genres_share_a_items_length_and_an_item_without_any_has_none():
    catalog = toys.catalog(3)
    catalog.movies["genres"] = ["Action|Sci-Fi", "Action", ""]
    vectors = genre_vectors(catalog)
    assert vectors @ vectors.T == pytest.approx(np.array([[1, 0.5**0.5, 0], [0.5**0.5, 1, 0], [0, 0, 0]]))


def test_gini_is_0_where_all_items_are_shown_alike_and_largest_where_one_is():
    assert list_metrics.gini(np.full(4, 3)) == 0
    assert list_metrics.gini(np.array([0, 0, 9, 0])) == pytest.approx(3 / 4)
    assert list_metrics.gini(np.array([1, 3])) == pytest.approx(1 / 4)


def test_calibration_worked_by_hand(monkeypatch):
    monkeypatch.setattr(list_metrics, "CALIBRATION_BINS", 2)
    items, targets = np.array([[0, 1], [2, 3]]), np.array([0, 3])
    found = calibration(items, np.array([[0.8, 0.1], [0.6, 0.3]]), targets)
    assert found["by_rank"]["predicted"] == pytest.approx([0.7, 0.2])
    assert found["by_rank"]["hit_rate"] == [0.5, 0.5]
    assert [row["predicted"] for row in found["bins"]] == pytest.approx([0.2, 0.7])
    assert [row["hit_rate"] for row in found["bins"]] == [0.5, 0.5]
    assert found["ece"] == pytest.approx(0.5 * 0.3 + 0.5 * 0.2)


def test_probabilities_that_come_true_have_hardly_an_error_and_doubled_ones_have():
    rng = np.random.default_rng(0)
    probabilities = rng.uniform(0, 0.5, size=(20_000, 1))
    targets = np.where(rng.random(20_000) < probabilities[:, 0], 0, 1)
    items = np.zeros((20_000, 1), int)
    assert calibration(items, probabilities, targets)["ece"] < 0.015
    assert calibration(items, 2 * probabilities, targets)["ece"] == pytest.approx(0.25, abs=0.02)


def test_bins_hold_equally_many_predictions_in_ascending_order():
    rng = np.random.default_rng(0)
    bins = reliability(rng.random(1000) ** 9, rng.random(1000) < 0.5)
    assert [row["share"] for row in bins] == [0.1] * 10
    assert np.all(np.diff([row["predicted"] for row in bins]) > 0)


def test_where_no_more_items_were_left_there_is_no_prediction():
    items, targets = np.array([[0, 1, -1], [2, -1, -1]]), np.array([9, 2])
    found = calibration(items, np.array([[0.5, 0.25, 0], [0.75, 0, 0]]), targets)
    assert found["by_rank"] == {"predicted": [0.625, 0.25], "hit_rate": [0.5, 0.0]}
    assert found["ece"] == pytest.approx((0.5 + 0.25 + 0.25) / 3)  # three predictions, a bin each


def test_the_hit_rate_of_a_rank_is_over_the_lists_that_have_an_item_there():
    items, targets = np.array([[0, 1], [2, -1]]), np.array([1, 9])
    measured = calibration(items, np.array([[0.5, 0.25], [0.75, 0]]), targets)
    assert measured["by_rank"]["hit_rate"] == [0.0, 1.0]


SCORES = np.log([0.1, 0.4, 0.2, 0.3])


def test_the_films_of_a_list_have_their_probabilities_best_first_and_seen_ones_are_left_out():
    table = probabilities_by_rank(Given(SCORES), Queries([np.array([1])])).head(2)
    assert table["rank"].tolist() == [1, 2]
    assert table["item"].tolist() == [3, 2]
    assert table["probability"].tolist() == pytest.approx([0.5, 1 / 3])  # of 0.6, as film 1 is out


def test_each_bin_of_ranks_has_the_share_of_people_for_one_rank_of_it():
    table = target_share_by_rank(np.array([[1, 1, 2, 90, 100], [1, 3, 300, 100, 5000]]))
    assert table["share"].iloc[0] == pytest.approx(3 / 10)
    assert table["first"].iloc[0] == table["last"].iloc[0] == 1
    last = table.iloc[-1]
    assert (last["last"], last["first"] <= 90) == (100, True)
    assert last["share"] == pytest.approx(3 / 10 / (last["last"] - last["first"] + 1))
    assert table["first"].iloc[1:].tolist() == (table["last"].iloc[:-1] + 1).tolist()
    total = (table["share"] * (table["last"] - table["first"] + 1)).sum()
    assert total == pytest.approx(8 / 10)  # two of ten stood further down
