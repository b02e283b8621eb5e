"""Pools of models whose scores are given."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from recsys.config import ConfigError
from recsys.data.dataset import Queries
from recsys.models.pool import Pool, PoolConfig
from recsys.ranking.ranking import Ranking
from tests.models.score_tables import ITEMS, TRAIN, pool_of, score_table


def test_probabilities_are_a_softmax_over_the_candidates():
    model = pool_of({"one": score_table(1, softmax=True)}).fit(TRAIN)
    seen = np.array([3, 7])
    row = model.score(Queries([seen]))[0]
    found = Ranking.from_scores(row, seen, model.log_probabilities).probabilities(np.arange(ITEMS))
    unseen = np.setdiff1d(np.arange(ITEMS), seen)
    np.testing.assert_allclose(found[unseen], softmax(row[unseen].astype(float)), rtol=1e-5)


def test_attributes_of_the_members():
    model = pool_of({"one": score_table(1), "other": score_table(2)})
    assert not model.uses_query_ratings
    rated, other = score_table(1), score_table(2, device="cuda:0")
    rated.uses_query_ratings, rated.added_dataset, rated.note = True, "ml-1m", "It has no encoder."
    model.set_members({"one": rated, "other": other})
    assert (model.uses_query_ratings, model.added_dataset, model.note) == (True, "ml-1m", "It has no encoder.")
    assert model.device == "cuda:0"


def test_a_state_of_other_members_raises():
    state = pool_of({"one": score_table(1), "other": score_table(2)}).fit(TRAIN).state()
    with pytest.raises(ValueError, match="the saved weights are"):
        pool_of({"one": score_table(1)}).load_state(state, ITEMS)


def test_fixed_weights_have_no_probabilities():
    members = {"one": score_table(1, softmax=True), "other": score_table(2, softmax=True)}
    model = Pool.with_fixed_weights({"one": 1.0, "other": 0.0}, members, ITEMS)
    assert not model.has_probabilities
    query = Queries([np.array([5])])
    np.testing.assert_allclose(model.score(query), log_softmax(members["one"].score(query), 1), rtol=1e-4)


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"members": ()}, "members is empty"),
        ({"members": ("a", "b", "a")}, "each member can be named only once"),
        ({"edges": (0, 5)}, "edges is 0"),
        ({"edges": (10, 10)}, "must increase"),
    ],
)
def test_invalid_settings_raise(settings, what):
    with pytest.raises(ConfigError, match=what):
        PoolConfig(**settings)
