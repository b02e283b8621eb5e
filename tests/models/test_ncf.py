from functools import cache

import numpy as np
import pytest
import torch

from recsys.config import ConfigError
from recsys.data.dataset import Queries
from recsys.models.ncf import Ncf, NcfConfig
from tests import toys
from tests.models.configs import changed, fitted

SETTINGS = changed(NcfConfig(dim=16, length=30), epochs=25, batch_size=8, lr=2e-2, warmup_steps=10)
HISTORIES = [np.array([2, 8, 4]), np.array([1, 5, 7])]


@cache
def fitted_ncf(**changes):
    return fitted(Ncf(changed(SETTINGS, **changes)), toys.checkerboard())


def test_it_learns_who_likes_even_items():
    scores = fitted_ncf().score(Queries(HISTORIES))
    assert scores[0, 10::2].min() > scores[0, 11::2].max()
    assert scores[1, 11::2].min() > scores[1, 10::2].max()


def test_the_order_of_items_does_not_count():
    scores, swapped = fitted_ncf(epochs=1).score(Queries([np.array([2, 8, 5]), np.array([8, 5, 2])]))
    np.testing.assert_allclose(scores, swapped, atol=1e-5)


def test_a_score_is_that_of_the_paper():
    """Equations 10 to 12, for one user and one item, with the first layer's products in the tables."""
    model = fitted_ncf(epochs=1)
    state, dim, item = model.state(), SETTINGS.dim, 9
    user = state["items.weight"][[31, 2, 8, 4]].mean(0)
    q = state["targets.weight"][item]
    x = np.maximum(user[dim:] + q[dim:], 0)
    for layer in ("layers.0", "layers.1"):
        x = np.maximum(state[f"{layer}.weight"] @ x + state[f"{layer}.bias"], 0)
    expected = state["h.weight"][0] @ np.concatenate([user[:dim] * q[:dim], x]) + state["bias"][item]
    np.testing.assert_allclose(model.score(Queries(HISTORIES, are_whole=True))[0, item], expected, atol=1e-5)


def test_blocks_of_users_do_not_change_logits(monkeypatch):
    module = fitted_ncf(epochs=1).module
    users = torch.randn(7, 32)
    together = module.logits(users)
    monkeypatch.setattr("recsys.models.ncf.BLOCK_VALUES", 2 * module.output.numel())
    torch.testing.assert_close(module.logits(users), together)


def test_the_loss_is_the_binary_cross_entropy_of_target_and_negatives():
    model = fitted_ncf(epochs=1)
    users = torch.randn(5, 32)
    torch.manual_seed(1)
    drawn = torch.randint(30, (5, 4))
    targets = drawn[:, 0]  # each target is among the negatives
    torch.manual_seed(1)
    loss = model.binary_cross_entropy(users, model.module.output, model.module.bias, targets)
    probability = torch.sigmoid(model.module.logits(users))
    expected = -torch.log(probability[torch.arange(5), targets]).sum()
    for row, items in enumerate(drawn):
        expected -= torch.log(1 - probability[row, items[items != targets[row]]]).sum()
    torch.testing.assert_close(loss, expected)


def test_one_query_is_scored_by_the_network_too():
    """The shortcut for a single query, a product with the output weights, is not used."""
    model = fitted_ncf(epochs=1)
    np.testing.assert_allclose(model.score(Queries(HISTORIES[:1])), model.score(Queries(HISTORIES))[:1], atol=1e-5)


def test_more_layers_than_the_width_can_be_halved_are_refused():
    with pytest.raises(ConfigError, match="dim is 4, but must be at least 8"):
        NcfConfig(dim=4, layers=4)
