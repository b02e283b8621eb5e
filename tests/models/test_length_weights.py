"""Weights of models whose scores are given. Targets are sampled from a pool of them with chosen weights."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.special import log_softmax

from recsys.data.dataset import HeldOut, Queries
from recsys.models import length_weights
from recsys.models.length_weights import comparable_scores
from recsys.models.pool import Pool, PoolConfig
from recsys.models.visitor_pool import VisitorPool
from tests.models.score_tables import TRAIN, ScoreTable, held_out, pool_of, sample_held_out, score_table

VISITOR_EDGES = (2, 3, 5)  # the ranges are 1, 2, 3–4, ≥ 5


def test_fit_returns_the_weights_with_which_targets_were_sampled():
    members = {
        "one": score_table(1, softmax=True),
        "other": score_table(2, softmax=True),
        "idle": score_table(3, softmax=True),
    }
    model = pool_of(members).fit(TRAIN, sample_held_out(4000, members, (0.9, 0.4, 0.0)))
    np.testing.assert_allclose(model.length_weights.weights, [[0.9, 0.4, 0.0]], atol=0.05)


def test_a_wrong_member_gets_no_weight():
    members = {"right": score_table(1, softmax=True), "wrong": score_table(2, softmax=True)}
    (weights,) = pool_of(members).fit(TRAIN, sample_held_out(1000, members, (1.0, -0.3))).length_weights.weights
    assert weights[1] == 0
    assert weights[0] > 0.7


def test_each_range_has_the_weights_of_its_users():
    members = {"one": score_table(1, softmax=True), "other": score_table(2, softmax=True)}
    short = sample_held_out(1500, members, (1.0, 0.2), (0, 6))
    long = sample_held_out(1500, members, (0.2, 1.0), (6, 20), seed=1)
    histories = [*short.queries.histories, *long.queries.histories]
    valid = HeldOut(Queries(histories), np.concatenate([short.targets, long.targets]))
    model = pool_of(members, (6,)).fit(TRAIN, valid)
    np.testing.assert_allclose(model.length_weights.weights, [[1.0, 0.2], [0.2, 1.0]], atol=0.1)
    scores = model.score(Queries([np.arange(5), np.arange(6)]))
    raw = [member.score(Queries([np.arange(5), np.arange(6)])) for member in members.values()]
    expected = [log_softmax(own, 1) for own in raw]
    for row in (0, 1):
        mixed = (
            model.length_weights.weights[row, 0] * expected[0][row]
            + model.length_weights.weights[row, 1] * expected[1][row]
        )
        np.testing.assert_allclose(scores[row], mixed, rtol=1e-4)


@dataclass
class ReadsLong(ScoreTable):
    """A table whose scores are the same for all histories of fewer than five films."""

    def score(self, queries):
        short = np.array([len(history) < 5 for history in queries.histories])
        return np.where(short[:, None], score_table(9).table[0].astype(np.float32), super().score(queries))


@pytest.mark.parametrize(("model_class", "edges"), [(Pool, (5,)), (VisitorPool, (2, 3, 5))])
def test_without_short_histories_long_ones_are_cut(model_class, edges):
    """One member knows what comes after the last film; the other has learnt to read whole histories, and only those."""
    members = {"order": score_table(2, softmax=True), "whole": ReadsLong(score_table(1).table, softmax=True)}
    model = model_class(PoolConfig(members=tuple(members), edges=edges))
    model.set_members(members)
    weights = model.fit(TRAIN, sample_held_out(800, members, (0.5, 1.0), (8, 20))).length_weights.weights
    assert weights[-1, 1] > 0.8
    assert (weights[:-1, 1] < 0.2).all()
    assert (weights[:-1, 0] > 0.3).all()


def test_a_range_without_queries_has_the_common_weights():
    members = {"one": score_table(1, softmax=True), "other": score_table(2, softmax=True)}
    short, long = pool_of(members, (30,)).fit(TRAIN, sample_held_out(800, members, (1.0, 0.3))).length_weights.weights
    np.testing.assert_allclose(long, short, atol=0.02)


def test_without_validation_weights_are_equal():
    model = pool_of({"one": score_table(1), "other": score_table(2)}, (10,)).fit(TRAIN)
    np.testing.assert_array_equal(model.length_weights.weights, np.full((2, 2), 0.5, np.float32))


def test_gradient_of_the_loss(monkeypatch):
    found = []
    monkeypatch.setattr(
        "scipy.optimize.minimize", lambda loss, start, **_: found.append(loss) or type("R", (), {"x": start})
    )
    members = {"one": score_table(1), "other": score_table(2)}
    pool_of(members).fit(TRAIN, sample_held_out(50, members, (0.5, 0.5)))
    loss, at = found[-1], np.array([0.7, 0.3])
    assert check_grad(lambda weights: loss(weights)[0], lambda weights: loss(weights)[1], at) < 1e-2


def test_sampled_candidates_represent_all_others(monkeypatch):
    members = {"one": score_table(1, softmax=True), "other": score_table(2, softmax=True)}
    valid = sample_held_out(3000, members, (0.6, 0.9))
    exact = pool_of(members).fit(TRAIN, valid).length_weights.weights
    monkeypatch.setattr(length_weights, "N_TOP", 4)
    monkeypatch.setattr(length_weights, "N_SAMPLED", 8)
    np.testing.assert_allclose(pool_of(members).fit(TRAIN, valid).length_weights.weights, exact, rtol=0.15)


def test_candidates_are_the_best_and_some_others_without_excluded_items(monkeypatch):
    monkeypatch.setattr(length_weights, "N_TOP", 3)
    monkeypatch.setattr(length_weights, "N_SAMPLED", 2)
    items, counts = length_weights._candidates(np.arange(12.0), np.array([11, 4]), np.random.default_rng(0))
    assert set(items[:3]) == {10, 9, 8}
    assert len(set(items) | {11, 4}) == 7
    np.testing.assert_array_equal(counts, [1, 1, 1, 3.5, 3.5])  # seven others
    few, ones = length_weights._candidates(np.arange(4.0), np.array([3]), np.random.default_rng(0))
    assert set(few) == {0, 1, 2}
    np.testing.assert_array_equal(ones, 1)


@pytest.mark.parametrize(("limit", "n", "blocks"), [("SCORE_BATCH", 32, (32, 32, 32, 4)), ("MAX_EXAMPLES", 20, (20,))])
def test_limits_of_queries_and_batches(monkeypatch, limit, n, blocks):
    monkeypatch.setattr(length_weights, limit, n)
    members = {"one": score_table(1)}
    valid = sample_held_out(100, members, (1.0,))
    members["one"].blocks = ()
    pool_of(members).fit(TRAIN, valid)
    assert members["one"].blocks == blocks


def test_an_overconfident_member_gets_a_lower_weight():
    """A member whose scores are three times what they should be gets a third of the weight."""
    honest = score_table(1, 1.5, softmax=True)
    valid = sample_held_out(3000, {"honest": honest}, (1.0,))
    (weights,) = pool_of({"sure": ScoreTable(honest.table * 3, softmax=True)}).fit(TRAIN, valid).length_weights.weights
    assert weights[0] == pytest.approx(1 / 3, rel=0.1)


def test_comparable_scores_are_log_probabilities_if_there_are_any():
    scores = score_table(1).table[:2].astype(np.float32)
    np.testing.assert_allclose(
        comparable_scores(score_table(1, softmax=True), scores), log_softmax(scores, 1), rtol=1e-4
    )


def test_comparable_scores_do_not_depend_on_the_unit():
    scores = np.array([[0.0, 1.0, 3.0, 0.0]], np.float32)
    expected = [[0, np.log(2), np.log(4), 0]]  # the mean is 1
    for row in (scores, 1000 * scores, scores - 7):
        np.testing.assert_allclose(comparable_scores(score_table(1), row), expected, rtol=1e-5, atol=1e-6)


def test_comparable_scores_of_equal_scores_are_zero():
    np.testing.assert_array_equal(comparable_scores(score_table(1), np.full((1, 4), 3, np.float32)), np.zeros((1, 4)))


def test_a_history_is_cut_to_each_range_up_to_its_length():
    valid = held_out([1, 4, 20, 30])
    examples = length_weights.histories_cut_to_each_range(valid, VISITOR_EDGES, np.random.default_rng(0))
    lengths = [len(history) for history in examples.queries.histories]
    assert sorted(lengths[:4]) == [1, 1, 1, 1]
    assert sorted(lengths[4:7]) == [2, 2, 2]
    assert all(length in (3, 4) for length in lengths[7:10])
    assert sorted(lengths[10:]) == [20, 30]  # whole


def test_a_cut_query_has_the_newest_items_and_excludes_the_whole_history():
    valid = held_out([9, 12])
    examples = length_weights.histories_cut_to_each_range(valid, VISITOR_EDGES, np.random.default_rng(0))
    for history, target, excluded in zip(examples.queries.histories, examples.targets, examples.excluded, strict=True):
        whole = valid.queries.histories[target]
        np.testing.assert_array_equal(history, whole[-len(history) :])
        np.testing.assert_array_equal(excluded, whole)
