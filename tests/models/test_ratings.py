"""Ratings of a query change the scores of models that use them."""

import numpy as np
import pytest

from recsys.data.dataset import Interactions, Queries
from recsys.models import registry
from recsys.models.histories import history_matrix
from tests import toys

NONE = np.nan


def two_tastes():
    """Even users rate films 0 to 4 with 5 stars and 5 to 9 with 1, odd users the reverse. Each rates eight films."""
    rng = np.random.default_rng(0)
    histories = [rng.permutation(10)[:8] for _ in range(60)]
    world = toys.dataset(histories, 10)
    events = world.interactions
    loved = (events.item < 5) == (events.user % 2 == 0)
    rating = np.where(loved, 5, 1).astype(np.float32)
    return toys.replace(world, interactions=Interactions(events.user, events.item, rating, events.timestamp))


@pytest.mark.parametrize("name", ["user-knn", "user-knn-centred", "mf-explicit"])
def test_low_ratings_of_a_query_lead_to_other_films(name):
    variant = registry.get(name)
    config = toys.replace(
        variant.preset("toy"), **({"regularization": 1.0} if name == "mf-explicit" else {"shrink": 0.0})
    )
    assert variant.model_class.uses_query_ratings
    model = variant.model_class(config).fit(two_tastes())
    history = [np.array([0, 1, 5, 6])]
    asked = [Queries(history, ratings=[np.array(stars, np.float32)]) for stars in ([5, 5, 1, 1], [1, 1, 5, 5])]
    for queries, better, worse in zip(asked, ([2, 3, 4], [7, 8, 9]), ([7, 8, 9], [2, 3, 4]), strict=True):
        scores = model.score(queries)[0]
        assert scores[better].min() > scores[worse].max()
    unrated = model.score(Queries(history))
    np.testing.assert_array_equal(
        model.score(Queries(history, ratings=[np.full(4, NONE)])).argsort(), unrated.argsort()
    )


def test_the_last_rating_of_an_item_counts_and_an_item_without_a_rating_has_the_default():
    histories = [np.array([3, 1, 3]), np.array([], np.int64), np.array([0])]
    unrated = history_matrix(histories, 4, unrated_value=4.0)
    assert unrated.toarray().tolist() == [[0, 4, 0, 4], [0, 0, 0, 0], [4, 0, 0, 0]]
    ratings = [np.array([1, NONE, 5], np.float32), np.empty(0, np.float32), np.array([2], np.float32)]
    rated = history_matrix(histories, 4, ratings, unrated_value=4.0)
    assert rated.toarray().tolist() == [[0, 4, 0, 5], [0, 0, 0, 0], [2, 0, 0, 0]]


def test_a_part_of_the_queries_keeps_its_own_ratings():
    queries = Queries([np.array([0]), np.array([1])], ratings=[np.array([1.0]), np.array([5.0])])
    assert queries[1:].ratings[0].tolist() == [5.0]
