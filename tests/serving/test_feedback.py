"""Relevance feedback: films like the liked ones rise, films like the disliked ones fall."""

import numpy as np
import pytest

from recsys.serving import feedback
from recsys.serving.recommend import Request, recommend
from tests import toys
from tests.serving.given import Given, predictor


@pytest.fixture(scope="module")
def world():
    return toys.cycle(6)


def items(recommendations):
    return [film.item for film in recommendations]


def changes(world, stars):
    scores = np.arange(6.0)
    return feedback.adjust(world, scores, stars) - scores


def test_three_stars_are_neutral_and_one_star_is_the_opposite_of_five(world):
    assert not changes(world, {1: 3.0}).any()
    assert changes(world, {1: 5.0}) == pytest.approx(-changes(world, {1: 1.0}))
    assert changes(world, {1: 1.0}) == pytest.approx(changes(world, {1: 0.5}))
    assert changes(world, {1: 5.0, 2: 3.0}) == pytest.approx(changes(world, {1: 5.0}))


def test_films_like_a_liked_one_rise_and_films_like_a_disliked_one_fall(world):
    ready = predictor(world, Given([1, 1.001, 1, 1, 1, 1.003]))
    plain, liked, disliked = (
        items(recommend(ready, Request((0,), 5, ratings=ratings))) for ratings in ((), ((0, 5.0),), ((0, 1.0),))
    )
    assert plain == [5, 1, 2, 3, 4]
    assert liked != plain
    assert liked.index(2) < liked.index(3)
    assert disliked.index(3) < disliked.index(2)


def test_an_opinion_of_a_film_outside_the_history_counts_too(world):
    ready = predictor(world, Given([1, 1, 1, 1, 1, 1.01]))
    assert set(items(recommend(ready, Request((0,), 5, unwanted=(5,), ratings=((5, 1.0),))))[:2]) == {2, 4}


def test_without_feedback_scores_stay_the_same(world):
    scores = np.arange(6.0)
    assert feedback.adjust(world, scores, {}) is scores


def test_a_model_that_reads_ratings_gets_no_feedback_on_the_history(world):
    ready = predictor(world, Given([3, 3.1, 3.2, 3.3, 3.4, 3.5]))
    ready.model.uses_query_ratings = True
    assert items(recommend(ready, Request((0,), 5, ratings=((0, 5.0),)))) == [5, 4, 3, 2, 1]
