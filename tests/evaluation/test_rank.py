import numpy as np
import pytest
from scipy.special import softmax

from recsys.data.dataset import HeldOut, Queries
from recsys.data.split import ORDERS_PER_USER
from recsys.evaluation.protocols import FAVOURITES, FULL, LATEST_FILMS
from recsys.evaluation.rank import rank_held_out
from recsys.ranking.metrics import MAX_RELEVANT
from recsys.ranking.ranking import log_sum_exp
from tests import fakes, toys

WORLD = toys.cycle(n_items=14)
HISTORIES = [np.array([0, 1]), np.array([12, 13, 3]), np.arange(11)]
HELD_OUT = HeldOut(Queries(HISTORIES, np.arange(3)), np.array([2, 4, 11]))
SCORES = np.random.default_rng(0).normal(size=(3, 14)).astype(np.float32)


class Fixed(fakes.Counts):
    """Returns the scores it was given, row by row."""

    def __init__(self, scores=SCORES):
        super().__init__()
        self.scores = scores

    def score(self, queries):
        return self.scores[[next(i for i, own in enumerate(HISTORIES) if own is one) for one in queries.histories]]


class Sharing(Fixed):
    """The same, without a copy: whoever writes into its scores changes the model."""

    def score(self, queries):
        return self.scores


class Softmax(Fixed):
    def log_probabilities(self, scores, items):
        return scores[items] - log_sum_exp(scores)


def rank(model, batch=256):
    return rank_held_out(model, HELD_OUT, FULL, WORLD, batch_size=batch)


def test_lists_are_the_best_items_that_were_not_seen():
    found = rank(Fixed()).lists
    for row, (history, items) in enumerate(zip(HISTORIES, found, strict=True)):
        order = [item for item in np.argsort(-SCORES[row], kind="stable") if item not in history]
        assert items.tolist() == (order + [-1] * 10)[:10]
    assert (found[2] == -1).sum() == 7  # three of 14 items are left


def test_equal_scores_are_listed_by_item_number():
    assert rank(Fixed(np.zeros((3, 14), np.float32))).lists[0].tolist() == list(range(2, 12))


def test_the_same_pass_gives_the_same_ranks_and_any_batch_the_same_lists():
    result = rank(Fixed())
    assert np.array_equal(result.ranks, rank_held_out(Fixed(), HELD_OUT, FULL, WORLD).ranks)
    assert np.array_equal(result.lists, rank(Fixed(), batch=1).lists)


def test_a_models_own_scores_are_left_as_they_were():
    before = SCORES.copy()
    rank(Sharing())
    assert np.array_equal(SCORES, before)


def test_probabilities_are_of_the_listed_items_among_all_that_were_not_seen():
    found = rank(Softmax())
    for row, history in enumerate(HISTORIES):
        unseen = np.setdiff1d(np.arange(14), history)
        expected = dict(zip(unseen, softmax(SCORES[row, unseen]), strict=True))
        own = found.lists[row][found.lists[row] >= 0]
        assert found.probabilities[row, : len(own)] == pytest.approx([expected[item] for item in own], rel=1e-5)
        assert (found.probabilities[row, len(own) :] == 0).all()
    assert found.probabilities[2].sum() == pytest.approx(1)  # all three unseen items are listed


def test_a_target_that_was_seen_before_competes_with_all_items_but_is_not_recommended():
    again = HeldOut(Queries([np.array([3, 5, 3])], np.zeros(1, int)), np.array([3]))
    model = fakes.Counts()
    model.counts = np.arange(14, dtype=np.float32)
    result = rank_held_out(model, again, FULL, WORLD)
    assert result.ranks.tolist() == [14 - 3]  # ten items score higher, one of which was seen
    assert not {3, 5} & set(result.lists[0])


def test_metrics_of_repeated_targets_are_not_inflated_by_excluding_the_other_seen_items():
    rng = np.random.default_rng(0)
    world = toys.dataset([rng.choice(rng.choice(500, 10, replace=False), 60) for _ in range(400)], 500)
    held_out = FULL.split(world).test

    class Frequency(fakes.Counts):
        def score(self, queries):
            return np.stack([np.bincount(history, minlength=500) for history in queries.histories]).astype(np.float32)

    ranks = rank_held_out(Frequency(), held_out, FULL, world).ranks
    assert np.mean(ranks == 1) < 0.2  # each user has ten items, all equally likely


def test_scores_that_stand_for_no_probabilities_give_none():
    assert rank(Fixed()).probabilities is None


@pytest.mark.parametrize("protocol", LATEST_FILMS, ids=lambda protocol: protocol.name)
def test_short_protocols_give_only_the_newest_films_but_exclude_all_of_them(protocol):
    histories = [np.arange(11), np.array([12])]
    given = []

    class Recorder(fakes.Counts):
        def score(self, queries):
            given.append(queries)
            return np.tile(-np.arange(14, dtype=np.float32), (len(queries), 1))  # item 0 is best

    whole = Queries(histories, np.arange(2), [np.arange(11), np.ones(1)], are_whole=True)
    held_out = HeldOut(whole, np.array([13, 1]))
    result = rank_held_out(Recorder(), held_out, protocol, WORLD)
    (queries,) = given
    n = protocol.n_newest
    assert [history.tolist() for history in queries.histories] == [list(range(11 - n, 11)), [12]]
    assert [ratings.tolist() for ratings in queries.ratings] == [list(range(11 - n, 11)), [1]]
    assert queries.users is None
    assert not queries.are_whole
    assert result.ranks.tolist() == [3, 2]  # 11 and 12 are before 13, and 0 is before 1
    assert result.lists[0, :4].tolist() == [11, 12, 13, -1]


@pytest.mark.parametrize("protocol", FAVOURITES, ids=lambda protocol: protocol.name)
def test_favourites_give_the_first_liked_films_and_rank_all_the_others(protocol):
    given = []

    class Recorder(fakes.Counts):
        def score(self, queries):
            given.extend(history.tolist() for history in queries.histories)
            assert queries.users is None
            assert not queries.are_whole
            return np.tile(np.append(-np.arange(13, dtype=np.float32), 1), (len(queries), 1))  # 13, 0, 1, 2, …

    orders = [np.array([13, *range(12)]), np.arange(13), np.arange(13)[::-1]]  # three drawings of one user
    held_out = HeldOut(Queries([order[:-1] for order in orders]), np.array([order[-1] for order in orders]))
    result = rank_held_out(Recorder(), held_out, protocol, WORLD)
    n = protocol.n_given
    assert given == [order[:n].tolist() for order in orders]
    assert result.ranks.shape == (1, ORDERS_PER_USER, MAX_RELEVANT)
    first, second, third = (ranks[ranks > 0].tolist() for ranks in result.ranks[0])
    assert first == [*range(1, 14 - n)]  # the best item, 13, is given
    assert second == third == [*range(2, 15 - n)]  # item 13 is not liked, and comes before all targets
    assert set(result.lists[1]) & set(range(n)) == set()
    assert result.probabilities is None
