from dataclasses import replace

import numpy as np
import pytest

from recsys.data.schema import Queries
from recsys.data.split import leave_one_out
from recsys.evaluation import metrics
from recsys.models.transrec import TransRec, TransRecConfig
from recsys.training.run import Run
from tests import toys

SETTINGS = TransRecConfig(dim=16, length=30, epochs=30, batch_size=8, lr=2e-2, warmup=10, dropout=0.0, negatives=16)


def fitted(world, **changes):
    split = leave_one_out(world)
    return TransRec(replace(SETTINGS, **changes)).fit(split.train, None, Run(device="cpu")), split


def test_it_learns_that_the_next_film_is_the_last_plus_one():
    model, split = fitted(toys.cycle(n_users=60))
    ranks = metrics.target_ranks(model.score(split.test.queries), split.test.targets, split.test.queries.histories)
    assert metrics.hit_rate(ranks, 1) > 0.95


@pytest.mark.parametrize("ball", [False, True])
def test_a_score_is_minus_the_squared_distance_from_where_the_step_leads(ball):
    """The film's bias aside, and less what all films have in common: the length of that point."""
    model, _ = fitted(toys.cycle(n_users=20), epochs=3, init=0.5, ball=ball)
    state = model.state()
    places, steps = state["items.weight"], state["people.weight"]
    if ball:
        places = places / np.maximum(1, np.linalg.norm(places, axis=1, keepdims=True))
    start = len(state["bias"]) + 1
    point = places[5] + state["step"] + steps[[start, 3, 9, 5]].mean(0)
    distances = np.square(point - places[: len(state["bias"])]).sum(1)
    scores = model.score(Queries([np.array([3, 9, 5])]))[0]
    np.testing.assert_allclose(scores - point @ point, state["bias"] - distances, atol=1e-4)


def test_people_who_watched_other_films_take_other_steps():
    model, _ = fitted(toys.cycle(n_users=20), epochs=3)
    one, turned, other = model.score(Queries([np.array([3, 9, 5]), np.array([9, 3, 5]), np.array([2, 9, 5])]))
    np.testing.assert_allclose(one, turned, atol=1e-5)
    assert np.abs(one - other).max() > 1e-3
