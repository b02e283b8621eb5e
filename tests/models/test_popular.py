from dataclasses import replace

import numpy as np
import pytest

from recsys.data.dataset import Queries
from recsys.models.popular import (
    Popular,
    PopularRecent,
    PopularRecentConfig,
    SessionPopular,
    SessionPopularConfig,
)
from recsys.models.registry import RECOMMENDERS
from tests import toys

HOUR = 3600


def order(scores):
    return list((-scores).argsort(kind="stable"))


def timed(histories, times, n_items):
    """Return a data set with these times of ratings, in hours."""
    world = toys.dataset(histories, n_items)
    seconds = (HOUR * np.concatenate(times)).astype(np.int64)
    return replace(world, interactions=replace(world.interactions, timestamp=seconds))


def test_films_are_ranked_by_how_often_they_were_watched():
    model = Popular().fit(toys.dataset([[0, 2], [2, 1], [2, 1], [2]], n_items=4))
    [scores] = model.score(Queries([[0]]))
    assert order(scores) == [2, 1, 0, 3]


@pytest.mark.parametrize("variant", ["popular", "popular-recent"])
def test_all_histories_get_equal_scores(variant):
    model = RECOMMENDERS[variant].model().fit(toys.cycle())
    scores, others = model.score(Queries([[], [3, 4]]))
    assert (scores == others).all()


def test_what_was_watched_lately_beats_what_was_watched_more_often():
    world = timed([[0], [0], [0], [1], [1]], [[0], [0], [0], [24 * 50], [24 * 50]], n_items=3)
    assert order(PopularRecent(PopularRecentConfig(half_life=10)).fit(world).counts) == [1, 0, 2]
    assert order(PopularRecent(PopularRecentConfig(half_life=1000)).fit(world).counts) == [0, 1, 2]


def test_a_rating_one_half_life_old_counts_half():
    world = timed([[0, 1], [2]], [[0, 24 * 7], [24 * 14]], n_items=4)
    [scores] = PopularRecent(PopularRecentConfig(half_life=7)).fit(world).score(Queries([[0]]))
    np.testing.assert_allclose(scores, [1 / 4, 1 / 2, 1, 0])


def test_films_of_the_last_films_sessions_come_first():
    """Films 0 and 1 share sessions. Films 2 and 3 are the most popular and have other sessions."""
    evening, days = [0, 0.2], [0, 48]
    world = timed(
        [[0, 1], [1, 0], [0, 2], [2, 3], [2, 3], [3, 2]], [evening, evening, days, evening, evening, evening], n_items=4
    )
    [scores] = SessionPopular().fit(world).score(Queries([[3, 0]]))
    assert order(SessionPopular(SessionPopularConfig(recent=1)).fit(world).score(Queries([[3, 0]]))[0])[0] == 1
    np.testing.assert_array_equal(np.floor(scores), [0, 2, 3, 0])  # neighbours of both films; 0 and 2 share no session


def test_a_break_longer_than_the_gap_ends_the_session():
    world = timed([[0, 1, 2]], [[0, 1.5, 4]], n_items=4)
    apart = SessionPopular(SessionPopularConfig(gap=2)).fit(world).neighbour_counts.toarray()
    np.testing.assert_array_equal(apart, [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    whole = SessionPopular(SessionPopularConfig(gap=3)).fit(world).neighbour_counts.toarray()
    np.testing.assert_array_equal(whole, [[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]])


def test_users_do_not_share_a_session():
    world = timed([[0, 1], [2, 3]], [[0, 0.1], [0.2, 0.3]], n_items=4)
    assert SessionPopular().fit(world).neighbour_counts.toarray()[1, 2] == 0


def test_films_outside_the_session_come_in_the_order_of_popularity():
    world = timed([[0, 1], [3], [3], [3], [2], [2]], [[0, 0.1], [0], [0], [0], [0], [0]], n_items=5)
    [scores] = SessionPopular().fit(world).score(Queries([[0]]))
    assert order(scores) == [1, 3, 2, 0, 4]


def test_only_the_last_films_are_the_session():
    model = SessionPopular(SessionPopularConfig(recent=1, window=1)).fit(toys.cycle())
    [scores] = model.score(Queries([[3, 9, 15]]))
    assert set(order(scores)[:2]) == {14, 16}
