"""Lists in no order: random lists, single films, the prior of items, and the share of each favourite."""

from dataclasses import replace

import numpy as np
import pytest

from recsys.models import favourites
from tests import toys
from tests.models.score_tables import held_out


def test_expected_hit_rates():
    scores = np.log(np.array([[0.4, 0.3, 0.2, 0.06, 0.04], [0.5, 0.1, 0.3, 0.05, 0.05]], np.float32))
    scores[1, 1] = -np.inf
    rates = favourites.expected_hit_rates(scores)
    assert rates.shape == (2, len(favourites.INVERSE_TEMPERATURES))
    one = int(np.argmin(abs(favourites.INVERSE_TEMPERATURES - 1)))
    np.testing.assert_allclose(rates[:, one], [0.9, 0.85 / 0.9], rtol=1e-3)
    assert (np.diff(rates, axis=1) > 0).all()  # a higher factor is a lower temperature


def test_lists_in_no_order_have_items_of_the_newest_part_and_all_lengths():
    valid = held_out([4, 80], n_items=90)
    examples = favourites.random_lists(valid, (1, 2, 3, 5, 10), np.random.default_rng(0))
    assert sorted(len(history) for history in examples.queries.histories) == [1, 1, 2, 2, 3, 3, 5, 10]
    for history, target, excluded in zip(examples.queries.histories, examples.targets, examples.excluded, strict=True):
        whole = valid.queries.histories[target]
        assert set(history) <= set(whole[-favourites.MAX_RECENT :])
        assert len(set(history)) == len(history)
        np.testing.assert_array_equal(excluded, whole)


def test_each_favourite_has_a_similar_number_of_the_first_recommendations():
    """The films 0 to 39 are certain after the first favourite, and the films 40 to 79 are not after the second."""
    certain, uncertain = np.full(90, -9.0), np.full(90, -9.0)
    certain[:40] = -np.arange(40)
    uncertain[40:80] = -5 - 0.1 * np.arange(40)  # the best five have a similar score
    certain[80] = uncertain[81] = 9.0  # the favourites themselves
    scores = favourites.share_out(np.stack([certain, uncertain]), np.array([80, 81]))
    top = np.argsort(-scores[:80])[: favourites.N_SHARED]
    assert 2 <= np.count_nonzero(top < 40) <= 8
    assert np.argsort(-np.maximum(certain, uncertain)[:80])[4] == 4  # without the shares, the first favourite has all
    both = favourites.share_out(np.stack([certain, certain]), np.array([80]))
    np.testing.assert_allclose(np.diff(both[:40]), np.diff(certain[:40]), atol=1e-5)  # equal favourites: equal order


def test_all_items_can_be_favourites():
    assert np.isfinite(favourites.share_out(np.zeros((2, 2), np.float32), np.array([0, 1]))).all()


def test_each_different_film_is_a_query_of_its_own():
    lists = [np.array([7, 2, 7]), np.array([2]), np.array([], int)]
    queries, rows = favourites.single_films(lists)
    assert [history.tolist() for history in queries.histories] == [[2], [7], []]
    assert [row.tolist() for row in rows] == [[0, 1], [0], [2]]


def test_fifty_films_of_a_longer_list_are_scored():
    queries, rows = favourites.single_films([np.arange(400)[::-1]])
    films = [int(history[0]) for history in queries.histories]
    assert len(set(films)) == len(rows[0]) == favourites.MAX_SCORED
    assert (films[0], films[-1]) == (0, 399)
    assert max(np.diff(films)) <= 9  # evenly spaced


def test_a_list_of_one_film_has_its_scores():
    scores = np.array([[0.3, -1, 2]], np.float32)
    np.testing.assert_array_equal(favourites.combine_favourites(scores, np.array([1])), scores[0])


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
