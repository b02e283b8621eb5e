from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from recsys.data.dataset import Queries
from recsys.models.mf_explicit import MfExplicit, MfExplicitConfig
from recsys.training.options import RunOptions
from tests import toys

SMALL = MfExplicitConfig(factors=3, regularization=0.5, iterations=4)


def tastes(seed=0):
    """Return a world in which users rate 12 of 30 films: 5 if user and film are both even or both odd, else 1."""
    rng = np.random.default_rng(seed)
    world = toys.dataset([rng.permutation(30)[:12] for _ in range(60)], 30)
    events = world.interactions
    agree = (events.user + events.item) % 2 == 0
    return replace(world, interactions=replace(events, rating=np.where(agree, 5, 1).astype(np.float32)))


def test_films_of_the_own_colour_come_first():
    even, odd = MfExplicit(SMALL).fit(tastes()).score(Queries([[4, 8], [7, 1]]))
    assert even[0::2].min() > even[1::2].max()
    assert odd[1::2].min() > odd[0::2].max()


def test_a_film_with_better_ratings_comes_first_for_somebody_without_taste():
    rng = np.random.default_rng(1)
    world = toys.dataset([rng.permutation(6) for _ in range(20)], 6)
    world = replace(world, interactions=replace(world.interactions, rating=world.interactions.item.astype(np.float32)))
    [scores] = MfExplicit(replace(SMALL, regularization=5)).fit(world).score(Queries([[3]]))
    assert list(scores.argsort()) == list(range(6))


def test_a_history_is_a_ridge_regression_on_its_films():
    """Against scikit-learn: the user's bias is a feature that is 1 for every film."""
    model = MfExplicit(replace(SMALL, liked=4.5)).fit(tastes())
    bias, factors, watched = model.items[:, 0], model.items[:, 1:], [3, 20, 8]
    features = np.column_stack([np.ones(30), factors])
    person = Ridge(alpha=0.5, fit_intercept=False).fit(features[watched], 4.5 - model.mean - bias[watched]).coef_
    expected = model.mean + bias + features @ person
    np.testing.assert_allclose(model.score(Queries([[3, 20, 8, 3]]))[0], expected, rtol=1e-4)


def test_each_side_is_solved_with_the_other_side_fixed():
    """The last step computes the films: each is a ridge regression on its ratings, with the users of that iteration."""
    world, model = tastes(), MfExplicit(SMALL).fit(tastes())
    before = MfExplicit(replace(SMALL, iterations=3)).fit(world)
    people = {}
    for user in range(60):  # users of the fourth iteration, from films of the third
        films, given = world.history(user), world.interactions.rating[world.interactions.user == user]
        features = np.column_stack([np.ones(12), before.items[films, 1:]])
        ridge = Ridge(alpha=0.5, fit_intercept=False).fit(features, given - model.mean - before.items[films, 0])
        people[user] = ridge.coef_
    rows = np.flatnonzero(world.interactions.item == 17)
    points = np.array([people[user] for user in world.interactions.user[rows]])
    left = world.interactions.rating[rows] - model.mean - points[:, 0]
    features = np.column_stack([np.ones(len(rows)), points[:, 1:]])
    expected = Ridge(alpha=0.5, fit_intercept=False).fit(features, left).coef_
    np.testing.assert_allclose(model.items[17], expected, rtol=1e-2, atol=1e-3)


def test_the_seed_decides_the_first_factors():
    items, again, other = (MfExplicit(SMALL).fit(tastes(), run=RunOptions(seed=seed)).items for seed in (0, 0, 1))
    np.testing.assert_array_equal(items, again)
    assert not np.allclose(items, other)


def test_progress_is_reported():
    events = []
    MfExplicit(SMALL).fit(tastes(), run=RunOptions(report=events.append))
    assert events == [{"stage": "fit", "done": done, "total": 4} for done in range(1, 5)]


@pytest.mark.parametrize("missing", ["items", "counts", "mean"])
def test_a_state_without_one_of_its_parts_is_refused(missing):
    state = MfExplicit(SMALL).fit(tastes()).state()
    del state[missing]
    with pytest.raises(KeyError):
        MfExplicit(SMALL).load_state(state, 30)


def test_scores_are_predicted_ratings_and_an_empty_history_gets_the_item_biases():
    model = MfExplicit(SMALL).fit(tastes())
    queries = Queries([np.array([3, 20]), np.array([], np.int64)], ratings=[np.array([1.0, 5.0]), np.array([])])
    predicted = model.predicted_ratings(queries)
    np.testing.assert_array_equal(predicted[0], model.score(queries)[0])
    np.testing.assert_allclose(predicted[1], model.mean + model.items[:, 0], rtol=1e-6)
    assert predicted[0, 0::2].max() > 4 > 2 > predicted[0, 1::2].min()  # true ratings: 5 and 1
