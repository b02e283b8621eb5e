"""Pools of recommenders whose scores are known; targets are drawn from such pools, so that the right weights are."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import check_grad
from scipy.special import log_softmax, softmax

from recsys.config import ConfigError
from recsys.data.dataset import HeldOut, Queries
from recsys.models import pool
from recsys.models.base import Model
from recsys.models.markov import Markov
from recsys.models.pool import Pool, PoolConfig, VisitorPool, comparable_scores
from recsys.ranking.ranking import Ranking, log_sum_exp
from tests import toys

ITEMS = 40
TRAIN = toys.cycle(ITEMS, 50)


@dataclass
class Table(Model):
    """The scores of the film after i are row i; an empty history has the row 0."""

    table: np.ndarray
    softmax: bool = False
    blocks: tuple[int, ...] = ()
    device: str = "cpu"

    def fit(self, train, valid=None, run=None):
        return self

    def score(self, queries):
        self.blocks += (len(queries),)
        last = [history[-1] if len(history) else 0 for history in queries.histories]
        return self.table[np.array(last, int)].astype(np.float32)

    def log_probabilities(self, scores, items):
        return scores[items] - log_sum_exp(scores) if self.softmax else None

    def state(self):
        return {}

    def load_state(self, state, n_items):
        pass


def table(seed, scale=2.0, **settings):
    return Table(np.random.default_rng(seed).normal(size=(ITEMS, ITEMS)) * scale, **settings)


def standing(members, edges=(), **config):
    model = Pool(PoolConfig(members=tuple(members), edges=edges, **config))
    model.set_members(members)
    return model


def drawn(n, members, weights, lengths=(3, 9), seed=0):
    """Held-out queries whose targets are drawn, among the unseen, from the pool with these weights."""
    rng = np.random.default_rng(seed)
    histories = [rng.permutation(ITEMS)[: rng.integers(*lengths)] for _ in range(n)]
    values = [comparable_scores(member, member.score(Queries(histories))) for member in members.values()]
    mixed = np.einsum("m,mbi->bi", weights, np.array(values, np.float64))
    for row, history in enumerate(histories):
        mixed[row, history] = -np.inf
    targets = np.array([rng.choice(ITEMS, p=own) for own in softmax(mixed, 1)])
    return HeldOut(Queries(histories), targets)


def test_the_weights_by_which_targets_were_drawn_are_found_again():
    members = {"one": table(1, softmax=True), "other": table(2, softmax=True), "idle": table(3, softmax=True)}
    model = standing(members).fit(TRAIN, drawn(4000, members, (0.9, 0.4, 0.0)))
    np.testing.assert_allclose(model.length_weights.weights, [[0.9, 0.4, 0.0]], atol=0.05)


def test_who_is_mostly_wrong_is_not_listened_to():
    members = {"right": table(1, softmax=True), "wrong": table(2, softmax=True)}
    (weights,) = standing(members).fit(TRAIN, drawn(1000, members, (1.0, -0.3))).length_weights.weights
    assert weights[1] == 0
    assert weights[0] > 0.7


def test_each_range_of_lengths_has_the_weights_of_its_own_people():
    members = {"one": table(1, softmax=True), "other": table(2, softmax=True)}
    short = drawn(1500, members, (1.0, 0.2), (0, 6))
    long = drawn(1500, members, (0.2, 1.0), (6, 20), seed=1)
    histories = [*short.queries.histories, *long.queries.histories]
    valid = HeldOut(Queries(histories), np.concatenate([short.targets, long.targets]))
    model = standing(members, (6,)).fit(TRAIN, valid)
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
class ReadsLong(Table):
    """A table whose scores are the same for all histories of fewer than five films."""

    def score(self, queries):
        short = np.array([len(history) < 5 for history in queries.histories])
        return np.where(short[:, None], table(9).table[0].astype(np.float32), super().score(queries))


@pytest.mark.parametrize(("model_class", "edges"), [(Pool, (5,)), (VisitorPool, (2, 3, 5))])
def test_where_nobody_has_few_films_long_histories_are_cut(model_class, edges):
    """One member knows what comes after the last film; the other has learnt to read whole histories, and only those."""
    members = {"order": table(2, softmax=True), "whole": ReadsLong(table(1).table, softmax=True)}
    model = model_class(PoolConfig(members=tuple(members), edges=edges))
    model.set_members(members)
    weights = model.fit(TRAIN, drawn(800, members, (0.5, 1.0), (8, 20))).length_weights.weights
    assert weights[-1, 1] > 0.8
    assert (weights[:-1, 1] < 0.2).all()
    assert (weights[:-1, 0] > 0.3).all()


def test_a_range_that_nobody_speaks_of_has_the_weights_of_everybody():
    members = {"one": table(1, softmax=True), "other": table(2, softmax=True)}
    short, long = standing(members, (30,)).fit(TRAIN, drawn(800, members, (1.0, 0.3))).length_weights.weights
    np.testing.assert_allclose(long, short, atol=0.02)


def test_without_validation_all_count_alike():
    model = standing({"one": table(1), "other": table(2)}, (10,)).fit(TRAIN)
    np.testing.assert_array_equal(model.length_weights.weights, np.full((2, 2), 0.5, np.float32))


def test_what_is_minimised_has_the_slope_that_it_says(monkeypatch):
    found = []
    monkeypatch.setattr(
        "scipy.optimize.minimize", lambda loss, start, **_: found.append(loss) or type("R", (), {"x": start})
    )
    members = {"one": table(1), "other": table(2)}
    standing(members).fit(TRAIN, drawn(50, members, (0.5, 0.5)))
    loss, at = found[-1], np.array([0.7, 0.3])
    assert check_grad(lambda weights: loss(weights)[0], lambda weights: loss(weights)[1], at) < 1e-2


def test_drawn_candidates_stand_for_all_the_others(monkeypatch):
    members = {"one": table(1, softmax=True), "other": table(2, softmax=True)}
    valid = drawn(3000, members, (0.6, 0.9))
    exact = standing(members).fit(TRAIN, valid).length_weights.weights
    monkeypatch.setattr(pool, "N_TOP", 4)
    monkeypatch.setattr(pool, "N_SAMPLED", 8)
    np.testing.assert_allclose(standing(members).fit(TRAIN, valid).length_weights.weights, exact, rtol=0.15)


def test_candidates_are_the_best_and_some_others_and_none_that_is_ruled_out(monkeypatch):
    monkeypatch.setattr(pool, "N_TOP", 3)
    monkeypatch.setattr(pool, "N_SAMPLED", 2)
    items, counts = pool._candidates(np.arange(12.0), np.array([11, 4]), np.random.default_rng(0))
    assert set(items[:3]) == {10, 9, 8}
    assert len(set(items) | {11, 4}) == 7
    np.testing.assert_array_equal(counts, [1, 1, 1, 3.5, 3.5])  # seven others
    few, ones = pool._candidates(np.arange(4.0), np.array([3]), np.random.default_rng(0))
    assert set(few) == {0, 1, 2}
    np.testing.assert_array_equal(ones, 1)


@pytest.mark.parametrize(("limit", "n", "blocks"), [("SCORE_BATCH", 32, (32, 32, 32, 4)), ("MAX_EXAMPLES", 20, (20,))])
def test_of_many_people_few_are_asked_and_no_more_than_a_block_at_once(monkeypatch, limit, n, blocks):
    monkeypatch.setattr(pool, limit, n)
    members = {"one": table(1)}
    valid = drawn(100, members, (1.0,))
    members["one"].blocks = ()
    standing(members).fit(TRAIN, valid)
    assert members["one"].blocks == blocks


def test_probabilities_are_a_softmax_over_the_listed():
    model = standing({"one": table(1, softmax=True)}).fit(TRAIN)
    seen = np.array([3, 7])
    row = model.score(Queries([seen]))[0]
    found = Ranking.from_scores(row, seen, model.log_probabilities).probabilities(np.arange(ITEMS))
    unseen = np.setdiff1d(np.arange(ITEMS), seen)
    np.testing.assert_allclose(found[unseen], softmax(row[unseen].astype(float)), rtol=1e-5)


def test_a_sharper_member_does_not_make_the_pool_too_sure():
    """A member whose scores are three times what they should be gets a third of the weight."""
    honest = table(1, 1.5, softmax=True)
    valid = drawn(3000, {"honest": honest}, (1.0,))
    (weights,) = standing({"sure": Table(honest.table * 3, softmax=True)}).fit(TRAIN, valid).length_weights.weights
    assert weights[0] == pytest.approx(1 / 3, rel=0.1)


# What members say, on one scale


def test_log_probabilities_are_taken_where_there_are_any():
    scores = table(1).table[:2].astype(np.float32)
    np.testing.assert_allclose(comparable_scores(table(1, softmax=True), scores), log_softmax(scores, 1), rtol=1e-4)


def test_other_scores_need_no_unit_and_keep_their_order():
    scores = np.array([[0.0, 1.0, 3.0, 0.0]], np.float32)
    expected = [[0, np.log(2), np.log(4), 0]]  # the mean is 1
    for row in (scores, 1000 * scores, scores - 7):
        np.testing.assert_allclose(comparable_scores(table(1), row), expected, rtol=1e-5, atol=1e-6)


def test_a_member_that_scores_all_alike_says_nothing():
    np.testing.assert_array_equal(comparable_scores(table(1), np.full((1, 4), 3, np.float32)), np.zeros((1, 4)))


# What it takes over from its members


def test_it_reads_ratings_where_a_member_does_and_says_what_members_say():
    model = standing({"one": table(1), "other": table(2)})
    assert not model.uses_query_ratings
    rated, other = table(1), table(2, device="cuda:0")
    rated.uses_query_ratings, rated.added_dataset, rated.note = True, "ml-1m", "It has no encoder."
    model.set_members({"one": rated, "other": other})
    assert (model.uses_query_ratings, model.added_dataset, model.note) == (True, "ml-1m", "It has no encoder.")
    assert model.device == "cuda:0"


def test_a_state_of_other_members_is_refused():
    state = standing({"one": table(1), "other": table(2)}).fit(TRAIN).state()
    with pytest.raises(ValueError, match="the saved weights are"):
        standing({"one": table(1)}).load_state(state, ITEMS)


def test_mixed_by_hand_it_gives_no_probabilities_to_people():
    members = {"one": table(1, softmax=True), "other": table(2, softmax=True)}
    model = Pool.with_fixed_weights({"one": 1.0, "other": 0.0}, members, ITEMS)
    assert not model.has_probabilities
    query = Queries([np.array([5])])
    np.testing.assert_allclose(model.score(query), log_softmax(members["one"].score(query), 1), rtol=1e-4)


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"members": ()}, "members is empty"),
        ({"members": ("a", "b", "a")}, "each member can be named only once"),
        ({"edges": (0, 5)}, "edges is 0"),
        ({"edges": (10, 10)}, "must increase"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings, what):
    with pytest.raises(ConfigError, match=what):
        PoolConfig(**settings)


# The pool for visitors: weights for short lists, and networks without their count memories

VISITOR_EDGES = (2, 3, 5)  # the ranges are 1, 2, 3–4, ≥ 5


def held_out(lengths, n_items=40):
    rng = np.random.default_rng(0)
    histories = [rng.permutation(n_items)[:length] for length in lengths]
    return HeldOut(Queries(histories), np.arange(len(lengths)))


def test_every_history_is_histories_cut_to_each_range_that_it_is_long_enough_for():
    valid = held_out([1, 4, 20, 30])
    examples = pool.histories_cut_to_each_range(valid, VISITOR_EDGES, np.random.default_rng(0))
    lengths = [len(history) for history in examples.queries.histories]
    assert sorted(lengths[:4]) == [1, 1, 1, 1]
    assert sorted(lengths[4:7]) == [2, 2, 2]
    assert all(length in (3, 4) for length in lengths[7:10])
    assert sorted(lengths[10:]) == [20, 30]  # whole


def test_a_cut_query_has_the_newest_items_and_excludes_the_whole_history():
    valid = held_out([9, 12])
    examples = pool.histories_cut_to_each_range(valid, VISITOR_EDGES, np.random.default_rng(0))
    for history, target, excluded in zip(examples.queries.histories, examples.targets, examples.excluded, strict=True):
        whole = valid.queries.histories[target]
        np.testing.assert_array_equal(history, whole[-len(history) :])
        np.testing.assert_array_equal(excluded, whole)


def test_members_take_part_without_their_count_memories():
    class Remembers(Table):
        remembers: bool = True

        def remove_count_memory(self):
            self.remembers = False

    members = {"network": Remembers(table(1).table)}
    VisitorPool(PoolConfig(members=tuple(members), edges=VISITOR_EDGES)).set_members(members)
    assert not members["network"].remembers


def test_content_has_a_higher_weight_for_lists_of_rarely_watched_films():
    """Films 0 to 9 were watched by 1 of 100 users, all others by 50."""
    histories = [np.arange(10), *([np.arange(10, ITEMS)] * 50), *([np.arange(ITEMS - 1, ITEMS)] * 49)]
    world = toys.dataset(histories, ITEMS)
    members = {"order": table(1, softmax=True), "content-fields": table(2, softmax=True)}
    model = VisitorPool(PoolConfig(members=tuple(members), edges=()))
    model.set_members(members)
    model.fit(world)
    queries = Queries([np.array([12, 13]), np.array([1, 2]), np.array([1, 12]), np.array([], int)])
    order, content = (comparable_scores(member, member.score(queries)) for member in members.values())
    factors = model.emphasis(queries)
    assert (factors[:, 0] == 1).all()
    assert factors[0, 1] == factors[3, 1] == 1
    assert factors[1, 1] == pytest.approx(min(pool.FREQUENT_SHARE / 0.02, pool.MAX_EMPHASIS), rel=1e-5)
    assert factors[2, 1] == 1  # the geometric mean of 2 % and 51 % is 10 %
    assert model.favours_content(np.array([1, 2]))
    assert not model.favours_content(np.array([12, 13]))
    assert not model.favours_content(np.array([], int))
    by_taste = model.for_taste()
    assert (by_taste.emphasis(queries)[:, 1] == pool.TASTE_EMPHASIS).all()
    assert not by_taste.favours_content(np.array([1, 2]))  # for every list, not because of this one
    assert (model.emphasis(queries) == factors).all()
    shares = factors / factors.sum(1, keepdims=True)  # the sum of the two weights stays 1
    expected = shares[:, :1] * order + shares[:, 1:] * content
    np.testing.assert_allclose(model.score(queries), expected, rtol=1e-4, atol=1e-4)


def test_content_has_a_higher_weight_for_lists_with_a_rare_trait_in_common():
    """Films 0 to 4 are documentaries, and 2 % of all events are of documentaries."""
    histories = [np.arange(5), *([np.arange(5, ITEMS)] * (250 // (ITEMS - 5)))]
    world = toys.dataset(histories, ITEMS)
    genres = ["Documentary|Drama" if item < 5 else "Drama" for item in range(ITEMS)]
    world = replace(world, catalog=replace(world.catalog, movies=world.catalog.movies.assign(genres=genres)))
    members = {"order": table(1, softmax=True), "content-fields": table(2, softmax=True)}
    model = VisitorPool(PoolConfig(members=tuple(members), edges=()))
    model.set_members(members)
    model.fit(world)
    model.log_shares[:] = 0  # everybody watched every film
    queries = Queries([np.array([1, 2]), np.array([1]), np.array([1, 12]), np.array([12, 13]), np.array([], int)])
    share = 6 / (world.counts.sum() + 1)
    factor = min(pool.FREQUENT_TRAIT_SHARE / share, pool.MAX_TRAIT_EMPHASIS)
    assert factor > 2
    assert model.emphasis(queries)[:, 1] == pytest.approx([factor, 1, 1, 1, 1], rel=1e-5)
    assert model.favours_content(np.array([1, 2]))
    assert model.common_trait_name(np.array([1, 2])) == "genre/Documentary"
    assert model.common_trait_name(np.array([12, 13])) == ""  # all dramas, but most films are
    favourites = model.for_unordered_lists()
    assert (favourites.emphasis(queries)[1:, 1] == pool.UNORDERED_EMPHASIS).all()
    assert favourites.favours_content(np.array([1, 2]))
    assert not favourites.favours_content(np.array([12, 13]))


def test_a_common_trait_is_one_that_random_films_would_hardly_share():
    model = VisitorPool(PoolConfig(members=("order",), edges=()))
    traits = {
        "theme/boxing": [0, 1, 2],
        "language/ko": [2, 3, 4],
        "genre/Drama": range(8),
        "tag/slow": [0, 1, 5, 6, 7],
        "director/Ryan Coogler": [1, 2],
    }
    matrix = np.zeros((10, len(traits)), bool)
    for column, items in enumerate(traits.values()):
        matrix[list(items), column] = True
    model.set_traits(traits, sparse.csr_array(matrix))
    model.trait_shares = np.array([0.004, 0.001, 0.05, 0.002, 0.0001], np.float32)

    def common_trait(*items):
        return model.common_trait_name(np.array(items))

    assert common_trait(2, 3) == "language/ko"
    assert common_trait(0, 1) == "theme/boxing"  # before the tag, although fewer films have the tag
    assert common_trait(5, 6) == "tag/slow"
    assert common_trait(0, 3) == ""  # dramas are not rare enough
    assert model._find_common_trait(np.array([0, 3])).column == 2
    assert common_trait(0, 0) == common_trait(8, 9) == ""
    assert common_trait(2, 3, 8) == ""  # two of three, so the app does not name it
    assert model._find_common_trait(np.array([2, 3, 8])).column == 1  # but it is rare enough to be no accident
    assert model._find_common_trait(np.array([0, 2, 9])) is None  # two of three, but not as rare
    assert common_trait(1, 2) == "director/Ryan Coogler"
    assert common_trait(0, 1, 2) == "theme/boxing"  # all three, but two have the same director
    assert model._find_common_trait(np.array([2, 3])).strength == pytest.approx(np.log(80))
    assert model._find_common_trait(np.array([2, 3, 8])).strength == pytest.approx(np.log(80) * 2 / 3)


def test_the_surprise_of_long_lists_is_finite():
    surprise = pool._surprise(np.array([1000, 2]), 1500, np.array([0.1, 0.1]))
    assert surprise[0] > 1000
    assert pool._surprise(np.array([2]), 3, np.array([0.1])) == pytest.approx(-np.log(3 * 0.01 * 0.9))


def test_the_promise_is_the_total_probability_of_the_first_items_that_are_not_excluded():
    scores = np.log(np.array([[0.4, 0.3, 0.2, 0.06, 0.04], [0.5, 0.1, 0.3, 0.05, 0.05]], np.float32))
    scores[1, 1] = -np.inf
    rates = pool.expected_hit_rates(scores)
    assert rates.shape == (2, len(pool.UNORDERED_FACTORS))
    one = int(np.argmin(abs(pool.UNORDERED_FACTORS - 1)))
    np.testing.assert_allclose(rates[:, one], [0.9, 0.85 / 0.9], rtol=1e-3)
    assert (np.diff(rates, axis=1) > 0).all()  # a higher factor is a lower temperature


def test_lists_in_no_order_have_items_of_the_newest_part_and_all_lengths():
    valid = held_out([4, 80], n_items=90)
    examples = pool.random_lists(valid, (1, 2, 3, 5, 10), np.random.default_rng(0))
    assert sorted(len(history) for history in examples.queries.histories) == [1, 1, 2, 2, 3, 3, 5, 10]
    for history, target, excluded in zip(examples.queries.histories, examples.targets, examples.excluded, strict=True):
        whole = valid.queries.histories[target]
        assert set(history) <= set(whole[-pool.MAX_RECENT :])
        assert len(set(history)) == len(history)
        np.testing.assert_array_equal(excluded, whole)


@pytest.mark.parametrize("lengths", pool.UNORDERED_LENGTHS)
def test_the_promise_for_favourites_is_the_share_of_hits(lengths):
    """The next film is a popular film or depends on the newest film, about which random films say nothing."""
    popularity = 1 / np.arange(1, ITEMS + 1) ** 2
    follows = np.log(0.5 * np.eye(ITEMS, k=1) + 0.5 * popularity / popularity.sum())
    members = {"order": Table(follows, softmax=True), "content-fields": table(2, softmax=True)}
    model = VisitorPool(PoolConfig(members=tuple(members), edges=()))
    model.set_members(members)
    valid = drawn(2000, {"order": members["order"]}, [1.0], lengths=(12, 15))
    model.fit(TRAIN, valid)
    lists = pool.random_lists(valid, lengths, np.random.default_rng(1))  # others than in the fit
    scores = model.for_unordered_lists().score(lists.queries)
    for row, excluded in zip(scores, lists.excluded, strict=True):
        row[excluded] = -np.inf
    targets = scores[np.arange(len(scores)), lists.targets]
    hits = (scores >= targets[:, None]).sum(1) <= pool.N_CALIBRATED
    promised = np.sort(softmax(scores, 1), axis=1)[:, -pool.N_CALIBRATED :].sum(1)
    assert promised.mean() == pytest.approx(hits.mean(), rel=0.1)


def test_favourites_have_lower_probabilities_because_they_predict_the_next_film_worse():
    """The next film depends only on the newest film. A random film says less about it."""
    follows = np.log(0.7 * np.eye(ITEMS, k=1) + 0.3 / ITEMS)
    members = {"order": Table(follows, softmax=True), "content-fields": table(2, softmax=True)}
    valid = drawn(600, {"order": members["order"]}, [1.0], lengths=(12, 15))
    model = VisitorPool(PoolConfig(members=tuple(members), edges=()))
    model.set_members(members)
    model.fit(TRAIN, valid)
    unordered, queries = model.for_unordered_lists(), Queries([np.array([4]), np.array([7, 3])])
    assert (model.unordered_factors < 0.95).all()
    both_orders = [model.score(Queries([np.array(order)]))[0] for order in ([3, 7], [7, 3])]
    expected = [model.score(queries)[0], np.mean(both_orders, axis=0)]
    np.testing.assert_allclose(
        unordered.score(queries), model.unordered_factors[:, None] * np.stack(expected), rtol=1e-4
    )
    assert unordered.ignores_order
    assert not model.ignores_order
    restored = VisitorPool(PoolConfig(members=tuple(members), edges=()))
    restored.set_members(members)
    restored.load_state(model.state(), ITEMS)
    np.testing.assert_array_equal(restored.for_unordered_lists().score(queries), unordered.score(queries))


def test_the_order_of_favourites_does_not_matter():
    members = {"order": table(1, softmax=True), "content-fields": table(2, softmax=True)}
    model = VisitorPool(PoolConfig(members=tuple(members), edges=()))
    model.set_members(members)
    model.fit(TRAIN)
    given, reversed_list = [np.array([9, 2, 30, 4, 17, 8])], [np.array([8, 17, 4, 30, 2, 9])]
    assert not np.allclose(model.score(Queries(given)), model.score(Queries(reversed_list)))
    favourites = model.for_unordered_lists()
    np.testing.assert_array_equal(favourites.score(Queries(given)), favourites.score(Queries(reversed_list)))
    assert favourites.score(Queries([np.array([], int)])).shape == (1, ITEMS)


def test_several_orders_keep_the_ratings_beside_their_items():
    ratings = [np.array([5.0, 1.0, 3.0], np.float32), np.array([2.0], np.float32)]
    queries, rows = pool.in_several_orders(Queries([np.array([7, 2, 9]), np.array([4])], ratings=ratings))
    assert [history.tolist() for history in queries.histories] == [[2, 7, 9], [7, 9, 2], [9, 2, 7], [4]]
    assert [stars.tolist() for stars in queries.ratings] == [[1, 5, 3], [5, 3, 1], [3, 1, 5], [2]]
    assert rows.tolist() == [0, 0, 0, 1]


def test_films_with_a_rare_common_trait_get_a_bonus():
    """Films 0 to 4 are documentaries. Three of them in a list, but not two, raise the others."""
    world = toys.dataset([np.arange(5), *([np.arange(5, ITEMS)] * 8)], ITEMS)
    genres = ["Documentary" if item < 5 else "Drama" for item in range(ITEMS)]
    world = replace(world, catalog=replace(world.catalog, movies=world.catalog.movies.assign(genres=genres)))
    members = {"order": table(1, softmax=True)}  # no content member, so the weights do not change
    model = VisitorPool(PoolConfig(members=tuple(members), edges=()))
    model.set_members(members)
    model.fit(world)
    queries = Queries([np.array([0, 1, 2]), np.array([0, 1]), np.array([0, 10, 11])])
    bonus = model.score(queries) - Pool.score(model, queries)
    share = 6 / (world.counts.sum() + 1)
    expected = pool.TRAIT_BONUS * np.log(pool.FREQUENT_TRAIT_SHARE / share)  # the weight is 1
    assert expected > 0.1
    np.testing.assert_allclose(bonus[0], [expected] * 5 + [0] * (ITEMS - 5), atol=1e-5)
    assert not bonus[1:].any()


def test_the_state_of_a_visitor_pool_has_the_shares_of_users():
    members = {"order": table(1, softmax=True), "content-fields": table(2, softmax=True)}
    model, copy = (VisitorPool(PoolConfig(members=tuple(members), edges=(5,))) for _ in range(2))
    for each in (model, copy):
        each.set_members(members)
    model.fit(toys.cycle(ITEMS, 50))
    copy.load_state(model.state(), ITEMS)
    queries = Queries([np.array([3, 4])])
    np.testing.assert_array_equal(model.score(queries), copy.score(queries))
    np.testing.assert_array_equal(model.traits.toarray(), copy.traits.toarray())
    np.testing.assert_array_equal(model.trait_shares, copy.trait_shares)
    older = {name: array for name, array in model.state().items() if "trait" not in name and "factors" not in name}
    copy.load_state(older, ITEMS)
    assert copy.emphasis(queries).tolist() == [[1, 1]]
    with pytest.raises(KeyError):
        copy.load_state({"weights": model.length_weights.weights, "n_items": np.array(ITEMS)}, ITEMS)


def test_markov_chains_of_a_fitted_visitor_pool_keep_the_strongest_transitions(monkeypatch):
    monkeypatch.setattr(pool, "MAX_TRANSITIONS", 2)
    members = {"markov": Markov().fit(toys.cycle(n_items=ITEMS)), "content-fields": table(1)}
    model = VisitorPool(PoolConfig(members=tuple(members), edges=()))
    model.set_members(members)
    assert np.diff(members["markov"].transitions.indptr).max() > 2  # the weights are fitted with whole chains
    model.fit(TRAIN)
    assert np.diff(members["markov"].transitions.indptr).max() == 2
    restored = VisitorPool(PoolConfig(members=tuple(members), edges=()))
    restored.load_state(model.state(), ITEMS)
    members["markov"] = Markov().fit(toys.cycle(n_items=ITEMS))
    restored.set_members(members)
    assert np.diff(members["markov"].transitions.indptr).max() == 2


def test_probabilities_of_a_visitor_pool_are_right_for_its_final_scores(monkeypatch):
    """Shrunk Markov chains have other scores than the whole ones with which the weights were fitted."""

    def shrink(model):
        model.models[0].table *= 3

    monkeypatch.setattr(VisitorPool, "_shrink_markov_chains", shrink)
    members = {"order": table(1, softmax=True)}
    valid = drawn(600, members, [1.0], lengths=(4, 6))
    model = VisitorPool(PoolConfig(members=tuple(members), edges=()))
    model.set_members(members)
    model.fit(TRAIN, valid)
    scores = model.score(valid.queries)
    hits = (scores.argmax(1) == valid.targets).mean()
    assert softmax(scores, 1).max(1).mean() == pytest.approx(hits, abs=0.04)
