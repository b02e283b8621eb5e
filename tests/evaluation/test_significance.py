import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recsys.evaluation import significance
from recsys.evaluation.significance import bootstrap, bootstrap_differences, holm, intervals, randomisation
from recsys.ranking.metrics import METRICS, summary


def p_of(differences):
    """p of each column of paired differences (B, M), as models beside one whose figures are all 0."""
    figures = np.column_stack([np.zeros(len(differences)), differences])
    return randomisation(figures, np.array([(column, 0) for column in range(1, figures.shape[1])]))


def test_the_interval_of_a_mean_is_that_of_scipys_bootstrap():
    figures = np.random.default_rng(0).exponential(size=(300, 2)) * [1, 5]
    low, high = bootstrap(figures, resamples=4000)
    for column in range(2):
        other = stats.bootstrap((figures[:, column],), np.mean, n_resamples=4000, method="percentile", rng=1)
        interval = other.confidence_interval
        width = interval.high - interval.low
        assert abs(low[column] - interval.low) < 0.06 * width
        assert abs(high[column] - interval.high) < 0.06 * width


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(0)
    covered = 0
    for trial in range(150):
        low, high = bootstrap(rng.random((100, 1)), resamples=400, seed=trial)
        covered += low[0] <= 0.5 <= high[0]
    assert 0.9 < covered / 150 < 0.98


def test_every_metric_lies_within_its_interval_and_a_sure_thing_has_no_width():
    ranks = np.random.default_rng(0).integers(1, 40, size=(3, 200))
    found, mean = intervals(ranks), {name: np.mean([summary(row)[name] for row in ranks]) for name in METRICS}
    assert set(found) == set(METRICS)
    assert all(low < mean[name] < high for name, (low, high) in found.items())
    assert intervals(np.ones((2, 50), int))["mrr"] == (1, 1)


def test_users_are_drawn_and_not_pairs_of_user_and_seed():
    """Three equal seeds tell no more about other users than one."""
    ranks = np.random.default_rng(0).integers(1, 40, size=(1, 200))
    assert intervals(np.repeat(ranks, 3, 0))["mrr"] == pytest.approx(intervals(ranks)["mrr"])


def test_portions_change_nothing_but_memory(monkeypatch):
    figures = np.random.default_rng(0).random((50, 2))
    whole, p = bootstrap(figures), p_of(figures - 0.45)
    monkeypatch.setattr(significance, "AT_ONCE", 50 * 7)
    assert np.allclose(bootstrap(figures), whole)
    assert np.allclose(p_of(figures - 0.45), p, atol=0.02)


def test_the_interval_of_a_difference_is_that_of_the_differences_themselves():
    figures = np.random.default_rng(0).random((80, 3))
    pairs = np.array([(0, 1), (2, 0)])
    expected = bootstrap(figures[:, pairs[:, 0]] - figures[:, pairs[:, 1]])
    assert np.allclose(bootstrap_differences(figures, pairs), expected)


def test_p_depends_on_the_differences_only_and_not_on_how_good_both_models_are():
    rng = np.random.default_rng(0)
    differences = rng.normal(0.2, 1, size=(60, 1))
    both = rng.random((60, 1)) * 10
    shifted = randomisation(np.hstack([both, both + differences]), np.array([(1, 0)]))
    assert shifted == pytest.approx(p_of(differences))


def test_many_pairs_get_enough_permutations_for_their_correction_to_matter():
    """p is never below 1 / permutations: times the pairs, that must be able to stay under .05."""
    figures = np.random.default_rng(0).random((30, 40)) + np.arange(40)
    pairs = np.array([(one, other) for one in range(40) for other in range(one)])
    assert (holm(randomisation(figures, pairs)) < 0.05).all()


def test_the_randomisation_test_agrees_with_scipys_exact_one():
    differences = np.array([0.3, 0.1, -0.2, 0.5, 0.4, 0.2, -0.1, 0.6, 0.3, 0.05])
    exact = stats.permutation_test((differences,), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert p_of(differences[:, None])[0] == pytest.approx(exact.pvalue, abs=0.01)


def test_equal_models_do_not_differ_and_p_is_never_0():
    rng = np.random.default_rng(0)
    same = np.repeat(rng.random((20, 1)), 2, 1)
    assert randomisation(same, np.array([(0, 1)]))[0] == p_of(np.zeros((20, 1)))[0] == 1
    assert 0 < p_of(np.ones((200, 1)))[0] < 0.001


def test_holms_correction_worked_by_hand():
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(np.array([0.6, 0.9])) == pytest.approx([1, 1])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_lies_between_no_correction_and_bonferronis(p):
    p = np.array(p)
    adjusted = holm(p)
    assert (adjusted >= p).all()
    assert (adjusted <= np.minimum(1, len(p) * p)).all()
    assert adjusted[np.argmin(p)] == adjusted.min()
