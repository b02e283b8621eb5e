"""The pool for visitors: content, traits in common, and lists in no order."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax

from recsys.data.dataset import Queries
from recsys.models import common_trait, favourites, visitor_pool
from recsys.models.common_trait import TraitTable
from recsys.models.length_weights import comparable_scores
from recsys.models.markov import Markov
from recsys.models.pool import Pool, PoolConfig
from recsys.models.visitor_pool import VisitorPool
from tests import toys
from tests.models.score_tables import ITEMS, TRAIN, ScoreTable, sample_held_out, score_table

VISITOR_EDGES = (2, 3, 5)


def visitor_pool_of(members, edges=()):
    model = VisitorPool(PoolConfig(members=tuple(members), edges=edges))
    model.set_members(members)
    return model


def content_factors(model, queries):
    traits = [model.traits.find_common(history) for history in queries.histories]
    return model.member_factors(queries, traits)


def test_members_take_part_without_their_count_memories():
    class Remembers(ScoreTable):
        remembers: bool = True

        def remove_count_memory(self):
            self.remembers = False

    members = {"network": Remembers(score_table(1).table)}
    VisitorPool(PoolConfig(members=tuple(members), edges=VISITOR_EDGES)).set_members(members)
    assert not members["network"].remembers


def test_content_has_a_higher_weight_for_lists_of_rarely_watched_films():
    """Films 0 to 9 were watched by 1 of 100 users, all others by 50."""
    histories = [np.arange(10), *([np.arange(10, ITEMS)] * 50), *([np.arange(ITEMS - 1, ITEMS)] * 49)]
    world = toys.dataset(histories, ITEMS)
    members = {"order": score_table(1, softmax=True), "content-fields": score_table(2, softmax=True)}
    model = visitor_pool_of(members)
    model.fit(world)
    queries = Queries([np.array([12, 13]), np.array([1, 2]), np.array([1, 12]), np.array([], int)])
    order, content = (comparable_scores(member, member.score(queries)) for member in members.values())
    factors = content_factors(model, queries)
    assert (factors[:, 0] == 1).all()
    assert factors[0, 1] == factors[3, 1] == 1
    assert factors[1, 1] == pytest.approx(
        min(visitor_pool.FREQUENT_SHARE / 0.02, visitor_pool.MAX_RARITY_FACTOR), rel=1e-5
    )
    assert factors[2, 1] == 1  # the geometric mean of 2 % and 51 % is 10 %
    assert model.favours_content(np.array([1, 2]))
    assert not model.favours_content(np.array([12, 13]))
    assert not model.favours_content(np.array([], int))
    by_taste = model.for_taste()
    assert (content_factors(by_taste, queries)[:, 1] == visitor_pool.TASTE_MIN_FACTOR).all()
    assert not by_taste.favours_content(np.array([1, 2]))  # for every list, not because of this one
    assert (content_factors(model, queries) == factors).all()
    shares = factors / factors.sum(1, keepdims=True)  # the sum of the two weights stays 1
    expected = shares[:, :1] * order + shares[:, 1:] * content
    np.testing.assert_allclose(model.score(queries), expected, rtol=1e-4, atol=1e-4)


def test_content_has_a_higher_weight_for_lists_with_a_rare_trait_in_common():
    """Films 0 to 4 are documentaries, and 2 % of all events are of documentaries."""
    histories = [np.arange(5), *([np.arange(5, ITEMS)] * (250 // (ITEMS - 5)))]
    world = toys.dataset(histories, ITEMS)
    genres = ["Documentary|Drama" if item < 5 else "Drama" for item in range(ITEMS)]
    world = replace(world, catalog=replace(world.catalog, movies=world.catalog.movies.assign(genres=genres)))
    members = {"order": score_table(1, softmax=True), "content-fields": score_table(2, softmax=True)}
    model = visitor_pool_of(members)
    model.fit(world)
    model.log_shares[:] = 0  # everybody watched every film
    queries = Queries([np.array([1, 2]), np.array([1]), np.array([1, 12]), np.array([12, 13]), np.array([], int)])
    share = 6 / (world.counts.sum() + 1)
    factor = min(common_trait.FREQUENT_TRAIT_SHARE / share, visitor_pool.MAX_TRAIT_FACTOR)
    assert factor > 2
    assert content_factors(model, queries)[:, 1] == pytest.approx([factor, 1, 1, 1, 1], rel=1e-5)
    assert model.favours_content(np.array([1, 2]))
    assert model.notable_common_trait(np.array([1, 2])).name == "genre/Documentary"
    assert model.notable_common_trait(np.array([12, 13])) is None  # all dramas, but most films are
    assert model.notable_common_trait(np.array([1, 2, 3, 12])) is None  # one of four is no documentary
    unordered = model.for_unordered_lists()
    assert unordered.favours_content(np.array([1, 2]))
    assert not unordered.favours_content(np.array([12, 13]))


@pytest.mark.parametrize("length", [1, 3])
def test_the_expected_hit_rate_of_favourites_is_the_share_of_hits(length):
    """The next film is a popular film or depends on the newest film, about which random films say nothing."""
    popularity = 1 / np.arange(1, ITEMS + 1) ** 2
    follows = np.log(0.5 * np.eye(ITEMS, k=1) + 0.5 * popularity / popularity.sum())
    members = {"order": ScoreTable(follows, softmax=True), "content-fields": score_table(2, softmax=True)}
    model = visitor_pool_of(members)
    valid = sample_held_out(2000, {"order": members["order"]}, [1.0], lengths=(12, 15))
    model.fit(TRAIN, valid)
    lists = favourites.random_lists(
        valid, [length] * favourites.N_DRAWS, np.random.default_rng(1)
    )  # others than in the fit
    scores = model.for_unordered_lists().score(lists.queries)
    for row, excluded in zip(scores, lists.excluded, strict=True):
        row[excluded] = -np.inf
    targets = scores[np.arange(len(scores)), lists.targets]
    hits = (scores >= targets[:, None]).sum(1) <= favourites.N_CALIBRATED
    expected_rate = np.sort(softmax(scores, 1), axis=1)[:, -favourites.N_CALIBRATED :].sum(1)
    assert expected_rate.mean() == pytest.approx(hits.mean(), rel=0.1)


def test_favourites_have_lower_probabilities_because_they_predict_the_next_film_worse():
    """The next film depends only on the newest film. A random film says less about it."""
    follows = np.log(0.7 * np.eye(ITEMS, k=1) + 0.3 / ITEMS)
    members = {"order": ScoreTable(follows, softmax=True), "content-fields": score_table(2, softmax=True)}
    valid = sample_held_out(600, {"order": members["order"]}, [1.0], lengths=(12, 15))
    model = visitor_pool_of(members)
    model.fit(TRAIN, valid)
    unordered, queries = model.for_unordered_lists(), Queries([np.array([4]), np.array([7, 3])])
    assert model.unordered_inverse_temperatures[0] < 0.95
    assert (softmax(unordered.score(queries), 1).max(1) < softmax(model.score(queries), 1).max(1)).all()
    assert unordered.ignores_order
    assert not model.ignores_order
    restored = visitor_pool_of(members)
    restored.load_state(model.state(), ITEMS)
    np.testing.assert_array_equal(restored.for_unordered_lists().score(queries), unordered.score(queries))


def graded_members():
    """The members with weights of graded lists."""
    return {name: score_table(seed) for seed, name in enumerate(favourites.GRADED_WEIGHTS)}


def film_pool(members, name="ml-1m"):
    """A fitted pool of a data set with this name, whose films 0 to 4 are the only documentaries."""
    world = toys.dataset([np.arange(5), *([np.arange(5, ITEMS)] * 8)], ITEMS, name)
    genres = ["Documentary" if item < 5 else "Drama" for item in range(ITEMS)]
    world = replace(world, catalog=replace(world.catalog, movies=world.catalog.movies.assign(genres=genres)))
    model = visitor_pool_of(members)
    return model.fit(world)


def weighted_sum(model, members, queries, factors=None):
    """The scores of single favourites with the weights of graded lists."""
    total = model.favourite_prior
    for name, member in members.items():
        factor = (factors or {}).get(name, 1)
        total = total + factor * favourites.GRADED_WEIGHTS[name] * comparable_scores(member, member.score(queries))
    return total


def assert_equal_up_to_a_constant(scores, expected):
    np.testing.assert_allclose(np.diff(scores, axis=1), np.diff(expected, axis=1), rtol=1e-4, atol=1e-4)


def test_favourites_are_scored_one_by_one_with_the_weights_of_graded_lists():
    members = graded_members()
    order = score_table(9, softmax=True)
    model = film_pool({"order": order, **members})
    model.unordered_inverse_temperatures[:2] = 0.5, 0.8
    model.favourite_prior[:10] = 1.5
    films = np.array([[30], [7]])
    singles = weighted_sum(model, members, Queries([*films]))
    unordered = model.for_unordered_lists()
    assert_equal_up_to_a_constant(unordered.score(Queries([*films])), 0.5 * singles)
    expected = 0.8 * favourites.combine_favourites(singles, films[:, 0])
    assert_equal_up_to_a_constant(unordered.score(Queries([np.array([30, 7])])), [expected])
    assert not order.blocks  # it has no graded weight, so it is not asked


@pytest.mark.parametrize(("name", "missing"), [("own", None), ("ml-1m", "content-sentence")])
def test_other_data_sets_and_pools_have_the_fitted_weights_for_favourites(name, missing):
    members = {member: table for member, table in graded_members().items() if member != missing}
    model = film_pool(members, name)
    queries = Queries([np.array([30])])
    assert_equal_up_to_a_constant(model.for_unordered_lists().score(queries), Pool.score(model, queries))


def test_to_your_taste_means_more_content_for_favourites():
    members = graded_members()
    model = film_pool(members).for_unordered_lists()
    by_taste = model.for_taste()
    queries = Queries([np.array([30])])
    expected = weighted_sum(model, members, queries, dict.fromkeys(favourites.TASTE_MEMBERS, 3))
    assert favourites.UNORDERED_TASTE_FACTOR == 3
    rescaled = expected * model.favourite_weights.sum() / by_taste.favourite_weights.sum()  # no higher probabilities
    assert_equal_up_to_a_constant(by_taste.score(queries), rescaled)


def test_favourites_are_scored_without_ratings():
    """So disliked films are removed before, see `recsys.serving.recommend`."""
    members = graded_members()
    members["markov-both"].uses_query_ratings = True
    model = film_pool(members)
    assert model.uses_query_ratings
    assert not model.for_unordered_lists().uses_query_ratings


def test_favourites_with_a_rare_common_trait_get_a_bonus(monkeypatch):
    model = film_pool(graded_members()).for_unordered_lists()
    queries = Queries([np.array([1, 2]), np.array([1, 12]), np.array([3])])
    scores = model.score(queries)
    monkeypatch.setattr(visitor_pool, "UNORDERED_TRAIT_BONUS", 0)
    bonus = scores - model.score(queries)
    strength = model.traits.find_common(np.array([1, 2])).strength
    expected = favourites.UNORDERED_TRAIT_BONUS * sum(favourites.GRADED_WEIGHTS.values()) * strength
    np.testing.assert_allclose(bonus[0], [expected] * 5 + [0] * (ITEMS - 5), atol=1e-4)
    assert not bonus[1:].any()


def test_the_order_of_favourites_does_not_matter():
    members = {"order": score_table(1, softmax=True), "content-fields": score_table(2, softmax=True)}
    model = visitor_pool_of(members)
    model.fit(TRAIN)
    given, reversed_list = [np.array([9, 2, 30, 4, 17, 8])], [np.array([8, 17, 4, 30, 2, 9])]
    assert not np.allclose(model.score(Queries(given)), model.score(Queries(reversed_list)))
    unordered = model.for_unordered_lists()
    np.testing.assert_array_equal(unordered.score(Queries(given)), unordered.score(Queries(reversed_list)))
    assert unordered.score(Queries([np.array([], int)])).shape == (1, ITEMS)


def test_films_with_a_rare_common_trait_get_a_bonus():
    """Three documentaries in a list, but not two, raise the others."""
    model = film_pool({"order": score_table(1, softmax=True)})  # no content member, so the weights do not change
    queries = Queries([np.array([0, 1, 2]), np.array([0, 1]), np.array([0, 10, 11])])
    bonus = model.score(queries) - Pool.score(model, queries)
    share = 6 / (5 + 8 * (ITEMS - 5) + 1)  # of the events, plus 1
    expected = visitor_pool.TRAIT_BONUS * np.log(common_trait.FREQUENT_TRAIT_SHARE / share)  # the weight is 1
    assert expected > 0.1
    np.testing.assert_allclose(bonus[0], [expected] * 5 + [0] * (ITEMS - 5), atol=1e-5)
    assert not bonus[1:].any()


def test_the_state_of_a_visitor_pool_has_the_shares_of_users():
    members = {"order": score_table(1, softmax=True), "content-fields": score_table(2, softmax=True)}
    model, copy = (VisitorPool(PoolConfig(members=tuple(members), edges=(5,))) for _ in range(2))
    for each in (model, copy):
        each.set_members(members)
    model.fit(toys.cycle(ITEMS, 50))
    copy.load_state(model.state(), ITEMS)
    queries = Queries([np.array([3, 4])])
    np.testing.assert_array_equal(model.score(queries), copy.score(queries))
    np.testing.assert_array_equal(model.traits.item_traits.toarray(), copy.traits.item_traits.toarray())
    np.testing.assert_array_equal(model.traits.event_shares, copy.traits.event_shares)
    older = {name: array for name, array in model.state().items() if "trait" not in name}
    copy.load_state(older, ITEMS)
    assert content_factors(copy, queries).tolist() == [[1, 1]]
    with pytest.raises(ValueError, match="1 weights of favourites, not 2"):
        copy.load_state(model.state() | {"favourite_weights": np.ones(1)}, ITEMS)
    with pytest.raises(KeyError):
        copy.load_state({"weights": model.length_weights.weights, "n_items": np.array(ITEMS)}, ITEMS)


def test_markov_chains_of_a_fitted_visitor_pool_keep_the_strongest_transitions(monkeypatch):
    monkeypatch.setattr(visitor_pool, "MAX_TRANSITIONS", 2)
    members = {"markov": Markov().fit(toys.cycle(n_items=ITEMS)), "content-fields": score_table(1)}
    model = visitor_pool_of(members)
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
    members = {"order": score_table(1, softmax=True)}
    valid = sample_held_out(600, members, [1.0], lengths=(4, 6))
    model = visitor_pool_of(members)
    model.fit(TRAIN, valid)
    scores = model.score(valid.queries)
    hits = (scores.argmax(1) == valid.targets).mean()
    assert softmax(scores, 1).max(1).mean() == pytest.approx(hits, abs=0.04)


def test_content_has_a_higher_weight_if_no_film_is_similar_to_an_item():
    members = {"order": score_table(1, softmax=True), "content-fields": score_table(2)}
    model = visitor_pool_of(members)
    model.fit(TRAIN)
    model.all_films = GivenFilms(model.traits)
    history = np.array([ITEMS, ITEMS])
    factor = model.member_factors(Queries([history]), [None])[0, 1]
    model.all_films.has_similar_item = lambda number: False
    dissimilar_factor = model.member_factors(Queries([history]), [None])[0, 1]
    assert dissimilar_factor == pytest.approx(factor * visitor_pool.DISSIMILAR_MULTIPLIER)


class GivenFilms:
    """All films of a toy catalogue whose film ITEMS is infrequent. Item 3 is similar to it."""

    def __init__(self, traits):
        self.content = score_table(7)
        self.content.table = np.concatenate([self.content.table, 5 * np.eye(1, ITEMS, 20)])
        self.traits = traits

    def has_similar_item(self, number):
        return True

    def to_items(self, queries):
        return replace(queries, histories=[np.where(history == ITEMS, 3, history) for history in queries.histories])


def test_infrequent_films_are_read_by_content_and_traits_and_replaced_for_the_other_members():
    members = {"order": score_table(1, softmax=True), "content-fields": score_table(2)}
    model = visitor_pool_of(members)
    model.fit(TRAIN)
    is_jazz = np.zeros((ITEMS + 1, 1), bool)
    is_jazz[[5, 9, ITEMS]] = True
    model.all_films = GivenFilms(TraitTable(["theme/jazz"], sparse.csr_array(is_jazz), np.array([0.01], np.float32)))
    assert model.notable_common_trait(np.array([5, ITEMS])).name == "theme/jazz"
    assert model.favours_content(np.array([5, ITEMS]))
    histories = [np.array([8, 5]), np.array([5, ITEMS])]
    scores = model.score(Queries(histories))
    np.testing.assert_array_equal(scores[0], model.score(Queries(histories[:1]))[0])  # not changed by the other list
    trait = model.all_films.traits.find_common(histories[1])
    factor = model.member_factors(Queries(histories[1:]), [trait])[0, 1]
    z_items = comparable_scores(members["order"], members["order"].score(Queries([np.array([5, 3])])))[0]
    z_content = comparable_scores(model.all_films.content, model.all_films.content.score(Queries(histories[1:])))[0]
    np.testing.assert_allclose(scores[1], (z_items + factor * z_content) / (1 + factor), rtol=1e-4, atol=1e-5)


def test_favourites_may_be_infrequent_films():
    """Content reads film ITEMS, and the other members read item 3 in its place, if that is similar."""
    members = graded_members()
    model = film_pool(members)
    model.all_films = GivenFilms(model.traits)
    weights = favourites.GRADED_WEIGHTS
    content = model.all_films.content
    z_content = comparable_scores(content, content.score(Queries([np.array([ITEMS])])))
    content_scores = weights["content-fields"] * z_content + model.favourite_prior
    substitute = Queries([np.array([3])])
    other_scores = sum(
        weight * comparable_scores(members[name], members[name].score(substitute))
        for name, weight in weights.items()
        if name != "content-fields"
    )
    unordered, queries = model.for_unordered_lists(), Queries([np.array([ITEMS])])
    assert_equal_up_to_a_constant(unordered.score(queries), content_scores + other_scores)
    model.all_films.has_similar_item = lambda number: False
    assert_equal_up_to_a_constant(unordered.score(queries), content_scores)
