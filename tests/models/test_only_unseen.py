"""The setting `only_unseen`: a softmax over the items that are not yet in the history."""

import numpy as np
import pytest

from recsys.config import ConfigError
from recsys.data.dataset import Queries
from recsys.data.split import leave_one_out
from recsys.models import registry
from recsys.training.batches import NEVER_EXCLUDED, CounterRNG
from tests import toys
from tests.models.configs import changed, untrained

RECOMMENDERS = ["sasrec-softmax", "bert4rec", "gru4rec-ce"]


def untrained_model(name, **settings):
    variant = registry.get(name)
    return untrained(variant.model(changed(variant.preset("ml-100k"), only_unseen=True, **settings)))


def excluded_by_target(model, histories):
    """Return target → the items that are excluded when it is predicted, ascending."""
    (batch,) = model.batches(Queries(histories), 30, CounterRNG(0, 0))
    masks = batch.excluded_items(slice(None))
    return {target: np.flatnonzero(mask).tolist() for target, mask in zip(batch.targets.tolist(), masks, strict=True)}


@pytest.mark.parametrize("name", ["sasrec-softmax", "gru4rec-ce"])
def test_a_position_excludes_only_the_items_before_it(name):
    histories = [np.array([5, 6, 7]), np.array([9, 1])]
    assert excluded_by_target(untrained_model(name), histories) == {5: [], 6: [5], 7: [5, 6], 9: [], 1: [9]}


def test_items_older_than_the_length_are_excluded_too():
    excluded = excluded_by_target(untrained_model("sasrec-softmax", length=4), [np.arange(20)])
    assert excluded == {target: list(range(target)) for target in (16, 17, 18, 19)}


def test_masked_items_are_not_excluded_but_other_items_of_the_history_are():
    history = np.arange(10, 25)
    excluded = excluded_by_target(
        untrained_model("bert4rec", mask_prob=0.3, last_item_mask_prob=0.0, length=12), [history]
    )
    assert len(excluded) > 1
    for items in excluded.values():  # they include the three items that are older than the length
        assert items == sorted(set(history.tolist()) - excluded.keys())


def test_a_repeated_item_is_excluded_after_its_first_position():
    model, histories = untrained_model("sasrec-softmax"), [np.array([4, 8, 4, 2])]
    batch = model.collate(histories, np.array([0]), 30, CounterRNG(0, 0))
    excluded_from = model.first_excluded_column(batch, histories, np.array([0]), 30)
    assert excluded_from[0, [4, 8, 2]].tolist() == [1, 2, 4]
    assert (np.delete(excluded_from[0], [4, 8, 2]) == NEVER_EXCLUDED).all()


@pytest.mark.parametrize(
    "name", [RECOMMENDERS[0], *(pytest.param(name, marks=pytest.mark.slow) for name in RECOMMENDERS[1:])]
)
def test_a_trained_model_gives_the_next_item_most_of_the_probability(name):
    """All histories follow a cycle of items. The next item gets nearly all probability of the unseen items."""
    variant, split = registry.get(name), leave_one_out(toys.cycle(20, 40, 12))
    settings = changed(
        variant.preset("ml-100k"), only_unseen=True, dim=16, length=12, epochs=60, batch_size=8, lr=1e-2, dropout=0.0
    )
    model = variant.model(settings).fit(split.train)
    scores = model.score(split.test.queries)
    for history, target, user_scores in zip(split.test.queries.histories, split.test.targets, scores, strict=True):
        user_scores[history] = -np.inf
        assert user_scores.argmax() == target
        assert np.exp(model.log_probabilities(user_scores, np.array([target])))[0] > 0.5


def test_it_needs_the_softmax():
    with pytest.raises(ConfigError, match="only_unseen needs the loss softmax, but loss is gbce"):
        changed(registry.get("gsasrec").preset(""), only_unseen=True)
