from dataclasses import replace

import numpy as np
import pytest

from recsys.serving.predictor import mixture_of_two
from recsys.serving.recommend import Request, recommend
from tests import toys
from tests.serving.given import Given, predictor

WORLD = toys.cycle(6)
SURE = Given([0.0, 5.0, 4.0, 3.0, 2.0, 1.0], softmax=True)
OTHER = Given([5.0, 0.0, 1.0, 2.0, 3.0, 4.0], softmax=True)


def named(model, name):
    made = predictor(WORLD, model, name)
    return replace(made, recommender=replace(made.recommender, name=name))


ONE, TWO = named(SURE, "one"), named(OTHER, "two")


def order(found):
    return [one.item for one in recommend(found, Request((), 6))]


def test_at_its_ends_the_lists_are_those_of_each():
    assert order(mixture_of_two(ONE, TWO, 0.0)) == [1, 2, 3, 4, 5, 0]
    assert order(mixture_of_two(ONE, TWO, 1.0)) == [0, 5, 4, 3, 2, 1]


def test_between_them_both_count_by_their_shares():
    scores = recommend(mixture_of_two(ONE, TWO, 0.25), Request((), 6))
    weights = {one.item: one.score - scores[0].score for one in scores}
    assert weights[0] - weights[1] == pytest.approx(0.75 * -5 + 0.25 * 5, rel=1e-5)


def test_it_is_another_answer_for_every_share_and_promises_no_probability():
    half, more = mixture_of_two(ONE, TWO, 0.5), mixture_of_two(ONE, TWO, 0.6)
    assert half.key != more.key
    assert half.title == "one + two"
    assert half.log_probabilities is None
    assert half.recommender.name == "one+two"


def test_films_that_one_of_them_does_not_know_are_left_out():
    larger = replace(WORLD, catalog=toys.catalog(8))
    knows_more = replace(named(Given(np.arange(8.0)), "three"), dataset=larger)
    assert sorted(order(mixture_of_two(ONE, knows_more, 1.0))) == list(range(6))
    assert order(mixture_of_two(knows_more, ONE, 0.0))[0] == 5
