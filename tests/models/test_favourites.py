"""Lists in no order: random lists, single films, the prior of items, and the share of each favourite."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from recsys.models import favourites
from tests import toys
from tests.models.score_tables import held_out


def test_expected_hit_rates():
    scores = np.log(np.array([[0.4, 0.3, 0.2, 0.06, 0.04], [0.5, 0.1, 0.3, 0.05, 0.05]], np.float32))
    scores[1, 1] = -np.inf
    rates = favourites.expected_hit_rates(scores)
    assert rates.shape == (2, len(favourites.INVERSE_TEMPERATURES))
    index_of_1 = int(np.argmin(abs(favourites.INVERSE_TEMPERATURES - 1)))
    np.testing.assert_allclose(rates[:, index_of_1], [0.9, 0.85 / 0.9], rtol=1e-3)
    assert (np.diff(rates, axis=1) > 0).all()  # a higher factor is a lower temperature


def test_lists_in_no_order_have_items_of_the_newest_part_and_all_lengths():
    valid = held_out([4, 80], n_items=90)
    examples = favourites.random_lists(valid, (1, 2, 3, 5, 10), np.random.default_rng(0))
    assert sorted(len(history) for history in examples.queries.histories) == [1, 1, 2, 2, 3, 3, 5, 10]
    for history, target, excluded in zip(examples.queries.histories, examples.targets, examples.excluded, strict=True):
        whole = valid.queries.histories[target]
        assert set(history) <= set(whole[-favourites.MAX_RECENT_ITEMS :])
        assert len(set(history)) == len(history)
        np.testing.assert_array_equal(excluded, whole)


def test_a_favourite_with_low_scores_is_not_ignored():
    """Scores fall equally fast: films 0 to 39 after the first favourite, and lower, films 40 to 79 after the second."""
    high, low = np.full(90, -99.0), np.full(90, -99.0)
    high[:40] = -0.5 * np.arange(40)
    low[40:80] = -20.1 - 0.5 * np.arange(40)
    high[80] = low[81] = 9.0  # the favourites themselves
    single_scores = np.stack([high, low])
    balanced = favourites.balance_favourites(single_scores, np.array([80, 81]))
    sums = logsumexp(single_scores, axis=0)
    first = [np.argsort(-scores[:80])[: favourites.N_BALANCED] for scores in (balanced, sums)]
    assert [np.count_nonzero(items < 40) for items in first] == [5, 10]
    both = favourites.balance_favourites(np.stack([high, high]), np.array([80]))
    np.testing.assert_allclose(np.diff(both[:40]), np.diff(high[:40]), atol=1e-5)  # equal favourites: equal order


def test_all_items_can_be_favourites():
    assert np.isfinite(favourites.balance_favourites(np.zeros((2, 2), np.float32), np.array([0, 1]))).all()


def test_each_different_film_is_a_query_of_its_own():
    lists = [np.array([7, 2, 7]), np.array([2]), np.array([], int)]
    queries, rows = favourites.single_films(lists)
    assert [history.tolist() for history in queries.histories] == [[2], [7], []]
    assert [row.tolist() for row in rows] == [[0, 1], [0], [2]]


def test_fifty_films_of_a_longer_list_are_scored():
    def scored_films(films):
        queries, rows = favourites.single_films([films])
        assert len(rows[0]) == favourites.MAX_SCORED_FAVOURITES
        return {int(history[0]) for history in queries.histories}

    films = scored_films(np.arange(400, dtype=np.int32))
    assert films == scored_films(np.arange(400)[::-1])
    assert len(films) == favourites.MAX_SCORED_FAVOURITES
    assert min(films) < 100 < 300 < max(films)
    assert len(films - scored_films(np.arange(401))) <= 1  # one added film replaces at most one


def test_the_scores_of_a_list_of_one_film_keep_their_differences():
    scores = np.array([[0.3, -1, 2]], np.float32)
    combined = favourites.combine_favourites(scores, np.array([1]))
    np.testing.assert_allclose(np.diff(combined), np.diff(scores[0]), rtol=1e-5)


def test_popular_items_with_good_ratings_have_a_higher_prior():
    """Item 0 has 5 stars from two users, item 1 has 1 star from two, and item 2 has 5 stars from one."""
    world = toys.dataset([[0, 1, 2], [0, 1]], n_items=4)
    rated = replace(world.interactions, rating=np.array([5, 1, 5, 5, 1], np.float32))
    log_shares = np.log((world.counts + 1) / world.n_users)
    prior = favourites.item_prior(replace(world, interactions=rated), log_shares)
    assert prior[0] > prior[2] > prior[1]
    mean, extra = 3.4, favourites.RATING_PSEUDO_COUNT
    expected = (
        favourites.RATING_WEIGHT * (10 + extra * mean) / (2 + extra) + favourites.POPULARITY_WEIGHT * log_shares[0]
    )
    assert prior[0] == pytest.approx(expected, rel=1e-5)
    unrated = replace(rated, rating=np.full(5, np.nan, np.float32))
    without_ratings = favourites.item_prior(replace(world, interactions=unrated), log_shares)
    np.testing.assert_allclose(without_ratings, favourites.POPULARITY_WEIGHT * log_shares, rtol=1e-5)


def test_the_scores_of_a_list_are_balanced_scores_and_the_mean():
    single_scores = np.array([[2.0, 0, -1, 1], [-3, 5, 4, 0]])
    sums = np.exp(np.array([[-1.0, -1, -1, 1], [-3, -3, 4, 0]])).sum(1)  # favourites 0 and 1 count like the lowest item
    balanced = np.log((np.exp(single_scores) / sums[:, None]).sum(0))
    weight = favourites.BALANCED_WEIGHT
    combined = favourites.combine_favourites(single_scores, np.array([0, 1]))
    expected = weight * balanced + (1 - weight) * single_scores.mean(0)
    np.testing.assert_allclose(combined, expected, rtol=1e-5)
