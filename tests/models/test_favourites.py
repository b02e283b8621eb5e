"""Lists in no order: random lists, several orders, and the share of each favourite."""

import numpy as np

from recsys.data.dataset import Queries
from recsys.models import favourites
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


def test_several_orders_keep_the_ratings_beside_their_items():
    ratings = [np.array([5.0, 1.0, 3.0], np.float32), np.array([2.0], np.float32)]
    queries, rows = favourites.in_several_orders(Queries([np.array([7, 2, 9]), np.array([4])], ratings=ratings))
    assert [history.tolist() for history in queries.histories] == [[2, 7, 9], [7, 9, 2], [9, 2, 7], [4]]
    assert [stars.tolist() for stars in queries.ratings] == [[1, 5, 3], [5, 3, 1], [3, 1, 5], [2]]
    assert rows.tolist() == [0, 0, 0, 1]


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


def test_single_films_are_added_with_their_ratings():
    ratings = [np.array([5.0, 1.0]), np.array([2.0]), np.array([3.0, 4.0])]
    queries = Queries([np.array([7, 2]), np.array([4]), np.array([1, 9])], ratings=ratings)
    extended, list_rows = favourites.add_single_films(queries, np.array([0, 2]))
    assert [history.tolist() for history in extended.histories] == [[7, 2], [4], [1, 9], [2], [7], [1], [9]]
    assert [stars.tolist() for stars in extended.ratings] == [[5, 1], [2], [3, 4], [1], [5], [3], [4]]
    assert list_rows.tolist() == [0, 0, 2, 2]
    unchanged, list_rows = favourites.add_single_films(queries, np.array([], int))
    assert len(unchanged) == 3
    assert not len(list_rows)
