import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.special import log_softmax, softmax

from recsys.ranking import ranking as module
from recsys.ranking.ranking import Ranking, ScoreError, log_sum_exp

SCORES = np.array([0.5, 2.0, -1.0, 2.0, 0.0], np.float32)
LEVELS = arrays.arrays(np.float32, st.integers(1, 12), elements=st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 3.0]))


def of_softmax(scores, items):
    return scores[items] - log_sum_exp(scores)


def test_the_scores_are_not_changed():
    scores = SCORES.copy()
    ranking = Ranking.from_scores(scores, np.array([1]), of_softmax)
    ranking.top(3), ranking.rank(2), ranking.rank_ties_last(3), ranking.probabilities(np.array([0]))
    assert np.array_equal(scores, SCORES)


def test_later_changes_of_the_scores_do_not_change_a_ranking():
    scores = SCORES.copy()
    ranking = Ranking.from_scores(scores)
    scores[:] = 0
    assert ranking.top(2).tolist() == [1, 3]


def test_a_ranking_is_read_only():
    with pytest.raises(ValueError, match="read-only"):
        Ranking.from_scores(SCORES).scores[0] = 9
    with pytest.raises(AttributeError):
        Ranking.from_scores(SCORES).scores = SCORES


def test_equal_scores_are_ordered_by_item_number_also_at_the_end_of_a_list():
    assert Ranking.from_scores(SCORES).top(5).tolist() == [1, 3, 0, 4, 2]
    assert Ranking.from_scores(SCORES).top(1).tolist() == [1]
    assert Ranking.from_scores(np.zeros(7)).top(3).tolist() == [0, 1, 2]


def test_a_list_holds_as_many_items_as_are_asked_for_or_as_there_are():
    ranking = Ranking.from_scores(SCORES, np.array([1, 3, 0]))
    assert ranking.top(10).tolist() == [4, 2]
    assert ranking.top(0).tolist() == ranking.top(-1).tolist() == []
    assert Ranking.from_scores(np.zeros(0)).top(3).tolist() == []
    assert len(ranking) == 2


@pytest.mark.parametrize("n_items", [100, 3_000, 20_011])  # the last two are long enough for a bound by groups
@pytest.mark.parametrize("k", [1, 10, 40])
def test_the_list_is_that_of_a_stable_sort_however_long_the_row_and_many_the_ties(n_items, k):
    rng = np.random.default_rng(n_items + k)
    hidden = rng.integers(n_items, size=n_items // 3)
    for scores in (
        rng.normal(size=n_items),
        rng.integers(20, size=n_items).astype(float),
        np.sort(rng.random(n_items)),
    ):
        ranking = Ranking.from_scores(scores.astype(np.float32), hidden)
        expected = np.argsort(-ranking.scores, kind="stable")[:k]
        assert ranking.top(k).tolist() == expected.tolist()


def test_hidden_items_may_be_named_or_masked():
    mask = np.array([False, True, False, False, True])
    named, masked = Ranking.from_scores(SCORES, np.array([4, 1, 1])), Ranking.from_scores(SCORES, mask)
    assert named.top(5).tolist() == masked.top(5).tolist() == [3, 0, 2]
    assert named.rank(1) is masked.rank(1) is None


def test_an_item_scored_minus_infinity_is_not_listed():
    ranking = Ranking.from_scores(np.array([-np.inf, 1.0, -np.inf, 0.0]))
    assert ranking.top(4).tolist() == [1, 3]
    assert ranking.rank(0) is None
    assert len(ranking) == 2
    assert len(Ranking.from_scores(np.full(3, -np.inf)).top(3)) == 0


def test_the_lowest_finite_score_is_still_listed():
    lowest = np.finfo(np.float32).min
    assert Ranking.from_scores(np.array([lowest, -np.inf, 0.0], np.float32)).top(3).tolist() == [2, 0]


@given(LEVELS)
def test_the_rank_of_an_item_is_where_it_stands_in_the_full_list(scores):
    ranking = Ranking.from_scores(scores)
    best = ranking.top(len(scores)).tolist()
    assert best == sorted(best, key=lambda item: (-scores[item], item))
    for item in range(len(scores)):
        assert ranking.rank(item) == (best.index(item) + 1 if item in best else None)


@given(LEVELS)
def test_every_short_list_is_the_beginning_of_the_long_one(scores):
    ranking = Ranking.from_scores(scores)
    for k in range(len(scores) + 1):
        assert ranking.top(k).tolist() == ranking.top(len(scores)).tolist()[:k]


def test_rank_ties_last_counts_every_tie_against_the_item():
    ranking = Ranking.from_scores(SCORES)
    assert [ranking.rank_ties_last(item) for item in range(5)] == [3, 2, 5, 2, 4]
    assert ranking.rank(1) == 1
    assert Ranking.from_scores(SCORES, np.array([3])).rank_ties_last(1) == 1  # what is hidden ties with nobody


def test_rank_ties_last_refuses_an_item_that_is_not_listed():
    with pytest.raises(ScoreError, match="minus infinity"):
        Ranking.from_scores(SCORES, np.array([2])).rank_ties_last(2)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("hidden", [None, np.array([0])])
def test_scores_that_are_no_numbers_are_refused_even_where_they_would_be_hidden(bad, hidden):
    with pytest.raises(ScoreError, match="train it again with other settings"):
        Ranking.from_scores(np.array([bad, 1.0, 2.0]), hidden)


def test_probabilities_are_shared_out_among_the_items_that_are_listed():
    hidden = np.array([1, 4])
    ranking = Ranking.from_scores(SCORES, hidden, of_softmax)
    expected = softmax(np.delete(SCORES, hidden))
    assert ranking.probabilities(np.array([0, 2, 3])) == pytest.approx(expected)
    assert ranking.probabilities(np.array([1])) == 0


def test_a_model_without_probabilities_has_none():
    item = np.array([0])
    assert Ranking.from_scores(SCORES).probabilities(item) is None
    assert Ranking.from_scores(SCORES, log_probabilities=lambda scores, items: None).probabilities(item) is None


def test_of_an_empty_list_there_are_no_probabilities_and_no_warnings():
    assert len(Ranking.from_scores(SCORES, np.arange(5), of_softmax).probabilities(np.zeros(0, int))) == 0


@given(arrays.arrays(np.float32, st.integers(1, 40), elements=st.floats(-80, 80, width=32)))
def test_log_sum_exp_agrees_with_scipy_in_pieces_of_any_size(scores):
    whole = log_sum_exp(scores)
    assert scores - whole == pytest.approx(log_softmax(scores.astype(np.float64)), abs=1e-4)
    before, module.CHUNK_SIZE = module.CHUNK_SIZE, 3
    try:
        assert log_sum_exp(scores) == pytest.approx(whole, rel=1e-6, abs=1e-6)
    finally:
        module.CHUNK_SIZE = before


def test_log_sum_exp_does_not_overflow_and_is_minus_infinity_without_finite_scores():
    assert log_sum_exp(np.array([5000.0, 5000.0])) == pytest.approx(5000 + np.log(2))
    assert log_sum_exp(np.full(4, -np.inf)) == -np.inf
