import numpy as np
import pytest
from scipy.special import expit, softmax

from recsys.data.schema import HeldOut, Queries
from recsys.evaluation.protocols import FULL
from recsys.evaluation.ranking import ranks, ranks_and_lists
from tests import fakes, toys

WORLD = toys.cycle(n_items=14)
HISTORIES = [np.array([0, 1]), np.array([12, 13, 3]), np.arange(11)]
HELD_OUT = HeldOut(Queries(HISTORIES, np.arange(3)), np.array([2, 4, 11]))
SCORES = np.random.default_rng(0).normal(size=(3, 14)).astype(np.float32)


class Fixed(fakes.Counts):
    """Returns the scores it was given, row by row, and never lets go of them."""

    def __init__(self, scores=SCORES, softmax=False, loss=None):
        super().__init__()
        self.scores, self.softmax = scores, softmax
        if loss:
            self.config = type("Config", (), {"loss": loss})()

    def score(self, queries):
        return self.scores[[next(i for i, own in enumerate(HISTORIES) if own is one) for one in queries.histories]]


class Unchanged(Fixed):
    """The same, without a copy."""

    def score(self, queries):
        return self.scores


def lists(model, batch=256):
    return ranks_and_lists(model, HELD_OUT, FULL, WORLD, batch=batch)[1]


def test_lists_are_the_best_films_that_were_not_seen():
    found = lists(Fixed()).films
    for row, (history, films) in enumerate(zip(HISTORIES, found, strict=True)):
        order = [film for film in np.argsort(-SCORES[row], kind="stable") if film not in history]
        assert films.tolist() == (order + [-1] * 10)[:10]
    assert (found[2] == -1).sum() == 7  # three of 14 films are left


def test_equal_scores_are_listed_by_item_number():
    assert lists(Fixed(np.zeros((3, 14), np.float32))).films[0].tolist() == list(range(2, 12))


def test_the_same_pass_gives_the_same_ranks_and_any_batch_the_same_lists():
    both = ranks_and_lists(Fixed(), HELD_OUT, FULL, WORLD)
    assert np.array_equal(both[0], ranks(Fixed(), HELD_OUT, FULL, WORLD))
    assert np.array_equal(both[1].films, lists(Fixed(), batch=1).films)


def test_a_models_own_scores_are_left_as_they_were():
    before = SCORES.copy()
    lists(Unchanged())
    assert np.array_equal(SCORES, before)


@pytest.mark.parametrize(
    ("model", "expected"),
    [(Fixed(softmax=True), softmax(SCORES, 1)), (Fixed(loss="gbce"), expit(SCORES - np.log(SCORES.shape[1])))],
    ids=["softmax", "gbce"],
)
def test_probabilities_are_those_of_the_listed_films(model, expected):
    found = lists(model)
    for row in range(3):
        there = found.films[row] >= 0
        assert found.chances[row, there] == pytest.approx(expected[row, found.films[row, there]], rel=1e-5)


def test_scores_that_are_no_probabilities_give_none():
    assert lists(Fixed()).chances is None
    assert lists(Fixed(loss="bpr")).chances is None
