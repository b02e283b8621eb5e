import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recsys import paths
from recsys.data import prepared
from recsys.evaluation import results, significance, tables
from recsys.evaluation.evaluate import evaluate
from recsys.evaluation.significance import (
    against_best,
    bootstrap,
    bootstrap_differences,
    holm,
    intervals,
    pairwise_tests,
    randomisation,
    select_pair,
)
from recsys.ranking.metrics import METRICS, summary
from tests import toys
from tests.artifacts import remove_ranks
from tests.evaluation.made_up import keep


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
    monkeypatch.setattr(significance, "MAX_RANDOM_NUMBERS", 50 * 7)
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


@pytest.mark.slow
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


RNG = np.random.default_rng(0)
GOOD = RNG.integers(1, 15, size=(1, 400))


def test_the_difference_is_that_of_the_metrics_and_others_are_compared_with_the_best():
    keep("good", GOOD)
    keep("worse", GOOD + 3)
    keep("worst", GOOD + 30)
    table = against_best(pairwise_tests("toy", "full"))
    assert table["variant"].tolist() == ["worse", "worst"]
    assert set(table["other"]) == {"good"}
    board = tables.leaderboard("toy", "full").set_index("variant")["ndcg@10"]
    assert table["difference"].tolist() == pytest.approx([board[name] - board["good"] for name in table["variant"]])
    assert (table["low"] < table["difference"]).all()
    assert (table["difference"] < table["high"]).all()
    assert (table["high"] < 0).all()
    assert (table["p_holm"] < 0.01).all()
    assert table["differs"].all()
    assert table["users"].tolist() == [400, 400]


def test_a_difference_that_chance_makes_does_not_count():
    keep("one", RNG.integers(1, 15, size=(1, 400)))
    keep("two", RNG.integers(1, 15, size=(1, 400)))
    (row,) = pairwise_tests("toy", "full").to_dict("records")
    assert row["p_holm"] == row["p"] > 0.05
    assert not row["differs"]
    assert row["low"] < 0 < row["high"]


def test_the_same_users_are_compared_so_that_a_small_steady_difference_is_seen():
    keep("good", GOOD)
    keep("steady", steady := np.where(GOOD < 5, GOOD, GOOD + 1))
    assert pairwise_tests("toy", "full", "mrr")["p"].item() < 0.001
    keep("steady", RNG.permuted(steady, axis=1))  # the same figures, of other users
    assert pairwise_tests("toy", "full", "mrr")["p"].item() > 0.05


def test_seeds_are_averaged_before_users_are_compared():
    keep("good", GOOD)
    keep("both", np.vstack([GOOD, GOOD + 1]))
    (row,) = pairwise_tests("toy", "full", "mrr").to_dict("records")
    assert row["difference"] == pytest.approx(np.mean(1 / (GOOD + 1) - 1 / GOOD) / 2)
    assert row["users"] == 400


def test_if_each_seed_has_another_split_only_seed_0_is_compared():
    # seed 1 has other held-out films, which are easier, and only one recommender was measured on them
    keep("both", np.vstack([GOOD + 1, np.ones_like(GOOD)]), protocol="untied")
    keep("good", GOOD, protocol="untied")
    (row,) = pairwise_tests("toy", "untied", "mrr").to_dict("records")
    assert (row["variant"], row["other"]) == ("both", "good")
    assert row["difference"] == pytest.approx(np.mean(1 / (GOOD + 1) - 1 / GOOD))
    assert row["differs"]


def test_all_pairs_of_the_leaderboard_are_corrected_together():
    for number in range(4):
        keep(f"m{number}", RNG.integers(1, 15, size=(1, 400)))
    table = pairwise_tests("toy", "full")
    assert len(table) == 6
    assert (table["difference"] <= 0).all()
    assert table["p_holm"].to_numpy() == pytest.approx(holm(table["p"].to_numpy()))
    smallest = table.loc[table["p"].idxmin()]
    assert smallest["p"] < smallest["p_holm"] == min(1, 6 * smallest["p"])


def test_a_difference_that_counts_alone_may_not_count_among_many():
    """Twelve models that differ by chance alone: some pairs have p < .05, none of them counts."""
    rng = np.random.default_rng(1)
    for number in range(12):
        keep(f"m{number:02}", rng.integers(1, 15, size=(1, 300)))
    table = pairwise_tests("toy", "full")
    assert (table["p"] < significance.ALPHA).any()
    assert not table["differs"].any()


def test_the_leaderboard_and_two_of_them_have_one_verdict():
    keep("good", GOOD)
    keep("like-it", np.where(RNG.random(GOOD.shape) < 0.05, GOOD + 1, GOOD))
    keep("worst", GOOD + 30)
    table = pairwise_tests("toy", "full")
    for row in against_best(table).to_dict("records"):
        alone = select_pair(table, row["variant"], row["other"])
        assert alone.to_dict() == row


def test_a_pair_is_seen_from_the_one_that_is_named_first():
    keep("als", [[1, 2, 1, 1]])
    keep("popular", [[9, 30, 2, 1]])
    table = pairwise_tests("toy", "full")
    better, worse = select_pair(table, "als", "popular"), select_pair(table, "popular", "als")
    assert better["difference"] == -worse["difference"] > 0
    assert (better["low"], better["high"]) == (-worse["high"], -worse["low"])
    assert (worse["variant"], worse["other"]) == ("popular", "als")
    assert better["p"] == worse["p"]
    assert better["p_holm"] == worse["p_holm"]


def test_two_that_were_not_compared_are_a_sentence():
    keep("good", GOOD)
    keep("worse", GOOD + 3)
    with pytest.raises(results.ResultError, match="good and nobody cannot be compared"):
        select_pair(pairwise_tests("toy", "full"), "good", "nobody")


def test_a_result_that_was_skipped_for_its_seed_is_not_said_to_be_of_different_people():
    seeds = [{"seed": 1, "metrics": {}}]
    keep("good", GOOD, protocol="untied")
    keep("worse", GOOD + 3, protocol="untied")
    keep("seedless", GOOD[:1], protocol="untied", seeds=seeds)
    warned = []
    table = pairwise_tests("toy", "untied", warn=warned.append)
    assert "no result for seed 0" in str(*warned)
    with pytest.raises(results.ResultError, match="because one of them has no usable result"):
        select_pair(table, "good", "seedless")


def test_one_model_alone_is_compared_with_nobody():
    assert pairwise_tests("toy", "full").empty
    keep("good", GOOD)
    table = pairwise_tests("toy", "full")
    assert against_best(table).empty
    assert list(table.columns) == significance.COLUMNS


def test_a_result_of_other_users_is_left_out_and_does_not_stop_the_others():
    keep("good", GOOD)
    keep("worse", GOOD + 3)
    keep("short", GOOD[:, :-1])
    said = []
    table = pairwise_tests("toy", "full", warn=lambda error: said.append(str(error)))
    assert table[["variant", "other"]].values.tolist() == [["worse", "good"]]
    assert len(said) == 1
    assert "short is left out" in said[0]


def test_the_command_for_a_stale_result_brings_it_back_into_the_comparison():
    """gru4rec-ce measured on an older form of the data beside others of today's: no command helped."""
    world = toys.cycle()
    prepared.save(world, {})
    evaluate("counts", world)
    keep("better", np.ones((1, 200)), dataset="cycle", fingerprint=world.fingerprint)
    keep("counts", np.ones((1, 150)), dataset="cycle")
    said = []
    assert pairwise_tests("cycle", "full", warn=lambda error: said.append(str(error))).empty
    assert "evaluate counts --dataset cycle --protocol full" in said[0]
    evaluate("counts", world)
    assert len(pairwise_tests("cycle", "full")) == 1


def test_ranks_that_are_damaged_are_left_out_with_a_sentence(home):
    for variant in ("good", "worse", "worst"):
        keep(variant, GOOD)
    remove_ranks(paths.results(home, "toy", "full"), "worst")
    said = []
    assert len(pairwise_tests("toy", "full", warn=lambda error: said.append(str(error)))) == 1
    assert "worst" in said[0]
