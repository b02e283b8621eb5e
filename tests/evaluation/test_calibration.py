import numpy as np
import pytest

from recsys.evaluation import calibration as module
from recsys.evaluation.calibration import calibration, reliability


def test_a_case_worked_by_hand(monkeypatch):
    monkeypatch.setattr(module, "BINS", 2)
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
