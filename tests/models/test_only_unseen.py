"""`only_unseen`: a softmax over what the history does not hold yet."""

import numpy as np
import pytest

from recsys.config import ConfigError
from recsys.data.dataset import Queries
from recsys.data.split import leave_one_out
from recsys.models import registry
from recsys.training.batches import NEVER_EXCLUDED, CounterRNG
from tests import toys
from tests.models.configs import changed, untrained

READERS = ["sasrec-softmax", "bert4rec", "gru4rec-ce"]


def reader(name, **settings):
    variant = registry.get(name)
    return untrained(variant.model(changed(variant.preset("ml-100k"), only_unseen=True, **settings)))


def left_out(model, histories):
    """Target → the items that are left out where it is to be predicted, ascending."""
    (batch,) = model.batches(Queries(histories), 30, CounterRNG(0, 0))
    masks = batch.excluded_items(slice(None))
    return {target: np.flatnonzero(mask).tolist() for target, mask in zip(batch.targets.tolist(), masks, strict=True)}


@pytest.mark.parametrize("name", ["sasrec-softmax", "gru4rec-ce"])
def test_a_position_leaves_out_what_stands_before_it_and_nothing_that_comes(name):
    histories = [np.array([5, 6, 7]), np.array([9, 1])]
    assert left_out(reader(name), histories) == {5: [], 6: [5], 7: [5, 6], 9: [], 1: [9]}


def test_what_is_too_old_to_be_read_is_left_out_as_well():
    found = left_out(reader("sasrec-softmax", length=4), [np.arange(20)])
    assert found == {target: list(range(target)) for target in (16, 17, 18, 19)}


def test_hidden_items_are_compared_with_one_another_and_not_with_what_is_shown():
    history = np.arange(10, 25)
    found = left_out(reader("bert4rec", mask_prob=0.3, last_item_mask_prob=0.0, length=12), [history])
    assert len(found) > 1
    for items in found.values():
        assert items == sorted(set(history.tolist()) - found.keys())  # the three that were cut off among them


def test_of_an_item_that_comes_twice_the_first_time_counts():
    model, histories = reader("sasrec-softmax"), [np.array([4, 8, 4, 2])]
    batch = model.collate(histories, np.array([0]), 30, CounterRNG(0, 0))
    excluded_from = model.first_excluded_column(batch, histories, np.array([0]), 30)
    assert excluded_from[0, [4, 8, 2]].tolist() == [1, 2, 4]
    assert (np.delete(excluded_from[0], [4, 8, 2]) == NEVER_EXCLUDED).all()


@pytest.mark.parametrize("name", [READERS[0], *(pytest.param(name, marks=pytest.mark.slow) for name in READERS[1:])])
def test_a_model_trained_so_need_not_learn_what_was_seen(name):
    """Everybody walks along a circle of films: with it, the next film has all of the probability that is left."""
    variant, split = registry.get(name), leave_one_out(toys.cycle(20, 40, 12))
    settings = changed(
        variant.preset("ml-100k"), only_unseen=True, dim=16, length=12, epochs=60, batch_size=8, lr=1e-2, dropout=0.0
    )
    model = variant.model(settings).fit(split.train)
    scores = model.score(split.test.queries)
    for history, target, own in zip(split.test.queries.histories, split.test.targets, scores, strict=True):
        own[history] = -np.inf
        assert own.argmax() == target
        assert np.exp(model.log_probabilities(own, np.array([target])))[0] > 0.5


def test_it_asks_for_the_softmax():
    with pytest.raises(ConfigError, match="only_unseen needs the loss softmax, but loss is gbce"):
        changed(registry.get("gsasrec").preset(""), only_unseen=True)
