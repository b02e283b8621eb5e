from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import label_ranking_average_precision_score, ndcg_score, top_k_accuracy_score

from recsys import boards, paths
from recsys.ranking.metrics import (
    CUTOFFS,
    MAX_RELEVANT,
    best_ranks,
    mrr,
    ndcg,
    rank_values,
    summary,
    target_ranks,
    user_values,
)
from recsys.ranking.ranking import ScoreError

NO_ITEMS = [np.empty(0, int)]


def test_ranks_count_the_items_that_score_higher():
    scores = np.array([[0.1, 0.9, 0.5, 0.3], [4, 3, 2, 1]])
    assert target_ranks(scores, np.array([2, 0]), NO_ITEMS * 2).tolist() == [2, 1]


def test_seen_items_are_excluded_unless_the_target_is_a_seen_item_too():
    scores = np.array([[0.9, 0.8, 0.7, 0.6]])
    assert target_ranks(scores, np.array([3]), [np.array([0, 1])]).tolist() == [2]
    assert target_ranks(scores, np.array([3]), [np.array([0, 3, 3])]).tolist() == [4]


def test_a_tie_counts_against_the_target():
    assert target_ranks(np.zeros((1, 5)), np.array([2]), NO_ITEMS).tolist() == [5]
    assert target_ranks(np.zeros((1, 5)), np.array([2]), [np.array([0, 1])]).tolist() == [3]


def test_metrics_of_a_case_worked_by_hand():
    ranks = np.array([1, 2, 3, 11])
    assert rank_values(ranks, "hr@1").tolist() == [1, 0, 0, 0]
    assert summary(ranks)["hr@10"] == 0.75
    assert ndcg(ranks, 10) == pytest.approx((1 + 0.63093 + 0.5) / 4, abs=1e-5)  # 1 / log2(3) = 0.63093
    assert ndcg(ranks, 20) == pytest.approx((1 + 0.63093 + 0.5 + 0.27894) / 4, abs=1e-5)  # 1 / log2(12) = 0.27894
    assert mrr(ranks) == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 11) / 4)


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(21, 60))
def test_all_metrics_agree_with_scikit_learn(seed, n_queries, n_items):
    rng = np.random.default_rng(seed)
    scores = rng.permuted(np.tile(np.arange(n_items, dtype=float), (n_queries, 1)), axis=1)  # no ties: those differ
    targets = rng.integers(n_items, size=n_queries)
    right = np.eye(n_items)[targets]
    metrics = summary(target_ranks(scores, targets, NO_ITEMS * n_queries))
    assert metrics["mrr"] == pytest.approx(label_ranking_average_precision_score(right, scores))
    for k in CUTOFFS:
        assert metrics[f"hr@{k}"] == pytest.approx(top_k_accuracy_score(targets, scores, k=k, labels=range(n_items)))
        assert metrics[f"ndcg@{k}"] == pytest.approx(ndcg_score(right, scores, k=k))


@given(st.lists(st.integers(1, 5000), min_size=1))
def test_metrics_stay_between_0_and_1_and_grow_with_the_cutoff(ranks):
    metrics = summary(np.array(ranks))
    assert all(0 <= value <= 1 for value in metrics.values())
    for name in ("hr", "ndcg"):
        assert all(metrics[f"{name}@{a}"] <= metrics[f"{name}@{b}"] for a, b in pairwise(CUTOFFS))


def test_the_ranks_of_a_batch_equal_the_ranks_of_each_row():
    rng = np.random.default_rng(0)
    scores, targets = rng.integers(0, 9, size=(50, 30)).astype(np.float32), rng.integers(30, size=50)
    excluded = [rng.integers(30, size=12) for _ in targets]  # items repeat, and the target may be among them
    for row, rank in enumerate(target_ranks(scores, targets, excluded)):
        is_repeated = targets[row] in excluded[row]
        others = set(range(30)) - (set() if is_repeated else set(excluded[row])) - {targets[row]}
        assert rank == 1 + sum(scores[row, other] >= scores[row, targets[row]] for other in others)


def test_scores_are_left_as_they_were():
    scores = np.array([[0.9, 0.8, 0.7]])
    target_ranks(scores, np.array([2]), [np.array([0, 2])])
    assert scores.tolist() == [[0.9, 0.8, 0.7]]


def test_a_target_without_a_finite_score_is_refused():
    with pytest.raises(ScoreError, match="minus infinity"):
        target_ranks(np.array([[0.0, -np.inf]]), np.array([1]), NO_ITEMS)


@pytest.mark.parametrize("scores", [np.full((1, 3), np.nan), np.full((1, 3), np.inf), np.zeros((2, 3)), np.zeros(3)])
def test_scores_without_a_rank_are_refused(scores):
    with pytest.raises(ScoreError):
        target_ranks(scores, np.array([1]), NO_ITEMS)


def test_metrics_of_several_relevant_items_worked_by_hand():
    ranks = np.array([[best_ranks(np.array([11, 1, 300])), best_ranks(np.array([30]))]])  # one user, two drawings
    assert ranks[0, 0, :4].tolist() == [1, 11, MAX_RELEVANT + 1, 0]
    assert user_values(ranks, "hr@1").tolist() == [0.5]
    assert user_values(ranks, "hr@10") == pytest.approx([(1 / 3 + 0) / 2])  # one of three found, then none of one
    assert user_values(ranks, "mrr") == pytest.approx([(1 + 1 / 30) / 2])
    highest = 1 + 1 / np.log2(3) + 1 / np.log2(4)
    assert user_values(ranks, "ndcg@20") == pytest.approx([((1 + 1 / np.log2(12)) / highest + 0) / 2])
    assert user_values(np.stack([ranks, ranks]), "mrr").shape == (2, 1)  # seeds


def test_mrr_uses_the_best_rank_even_if_it_is_below_all_cutoffs():
    ranks = best_ranks(np.array([400, 50, 60]))
    assert user_values(ranks[None, None], "mrr") == pytest.approx([1 / 50])


def test_the_metrics_of_shipped_results_with_several_relevant_items_follow_from_their_ranks():
    shipped = list(paths.ASSETS.glob("results/*/favourites-*.json"))
    assert shipped
    for board in shipped:
        ranks = boards.read_ranks(board)
        for variant, document in boards.read(board).items():
            for row, seed_ranks in zip(document["seeds"], ranks[variant], strict=True):
                assert summary(seed_ranks.astype(int)) == pytest.approx(row["metrics"], abs=1e-6)


@pytest.mark.parametrize("k", CUTOFFS)
def test_ndcg_of_several_relevant_items_equals_that_of_scikit_learn(k):
    rng = np.random.default_rng(0)
    for n in (1, 3, 40):
        relevant = np.isin(np.arange(60), rng.permutation(60)[:n])
        scores = rng.permutation(60).astype(float)
        ranks = (scores[None] > scores[relevant][:, None]).sum(1) + 1
        ours = user_values(best_ranks(ranks)[None, None], f"ndcg@{k}")
        assert ours == pytest.approx([ndcg_score([relevant], [scores], k=k)])
