"""Lift over a member whose probabilities are known, with targets drawn from them."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from recsys.data.dataset import Queries
from recsys.evaluation.protocols import sample_by_popularity
from recsys.models.lift import Lift, LiftConfig
from recsys.ranking import metrics
from tests import toys
from tests.models.score_tables import ScoreTable

TRAIN = toys.dataset([[item for item, count in enumerate((40, 9, 3, 0)) if user < count] for user in range(40)], 4)
SAID = np.array([[2.0, 1.0, 0.5, -1.0]])


def over(member, counts=None, power=1.0):
    model = Lift(LiftConfig(member="member", power=power))
    model.set_members({"member": member})
    model.fit(TRAIN)
    if counts is not None:
        model.log_counts = np.log1p(counts).astype(np.float32)
    return model


@pytest.mark.parametrize("power", [0.0, 1.0])
def test_popularity_is_taken_off_the_log_probability(power):
    scores = over(ScoreTable(SAID, softmax=True), power=power).score(Queries([np.array([], int)]))
    np.testing.assert_allclose(scores[0], log_softmax(SAID[0]) - power * np.log([41, 10, 4, 1]), rtol=1e-5)


def test_what_holds_for_the_member_holds_for_it():
    member = ScoreTable(SAID, softmax=True)
    member.is_fitted_on_validation = member.uses_credits = member.uses_query_ratings = True
    member.added_dataset, member.device = "ml-1m", "cuda:0"
    names = ("is_fitted_on_validation", "uses_credits", "uses_query_ratings", "added_dataset", "device")
    assert [getattr(over(member), name) for name in names] == [True, True, True, "ml-1m", "cuda:0"]


@pytest.mark.parametrize(("drawn", "better"), [(15, True), (0, False)])
def test_it_finds_more_among_items_drawn_by_popularity_and_less_among_all(drawn, better):
    rng = np.random.default_rng(0)
    n_items, people = 200, 3000
    counts = np.ceil(2000 / np.arange(1, n_items + 1)).astype(int)
    logits = np.log(counts) + rng.normal(scale=1.0, size=(n_items, n_items))
    histories = [np.array([last]) for last in rng.integers(n_items, size=people)]
    targets = np.array([rng.choice(n_items, p=softmax(logits[last[0]])) for last in histories])
    member = ScoreTable(logits, softmax=True)
    found = []
    for model in (member, over(member, counts)):
        scores = model.score(Queries(histories))
        if drawn:
            negatives = [sample_by_popularity(counts, targets[[row]], drawn, rng) for row in range(people)]
            scores = np.take_along_axis(scores, np.column_stack([targets, negatives]), 1)
        ranks = metrics.target_ranks(scores, targets * (not drawn), [np.array([], int)] * people)
        found.append(metrics.ndcg(ranks, 10))
    assert abs(found[1] - found[0]) > 0.02
    assert (found[1] > found[0]) == better
