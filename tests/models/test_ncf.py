from dataclasses import replace

import numpy as np
import torch

from recsys.data.schema import Queries
from recsys.data.split import leave_one_out
from recsys.models.ncf import Ncf, NcfConfig
from recsys.training.run import Run
from tests import toys

SETTINGS = NcfConfig(dim=16, length=30, epochs=25, batch_size=8, lr=2e-2, warmup=10)
HISTORIES = [np.array([2, 8, 4]), np.array([1, 5, 7])]


def fitted(**changes):
    split = leave_one_out(toys.checkerboard())
    return Ncf(replace(SETTINGS, **changes)).fit(split.train, None, Run(device="cpu"))


def test_it_tells_who_likes_even_films():
    scores = fitted().score(Queries(HISTORIES))
    assert scores[0, 10::2].min() > scores[0, 11::2].max()
    assert scores[1, 11::2].min() > scores[1, 10::2].max()


def test_the_order_of_films_does_not_count():
    one, turned = fitted(epochs=1).score(Queries([np.array([2, 8, 5]), np.array([8, 5, 2])]))
    np.testing.assert_allclose(one, turned, atol=1e-5)


def test_a_score_is_that_of_the_paper():
    """Equations 10 to 12, for one person and one film, with the first layer's products in the tables."""
    model = fitted(epochs=1)
    state, dim, film = model.state(), SETTINGS.dim, 9
    person = state["items.weight"][[31, 2, 8, 4]].mean(0)
    q = state["films.weight"][film]
    x = np.maximum(person[dim:] + q[dim:], 0)
    for layer in ("layers.0", "layers.1"):
        x = np.maximum(state[f"{layer}.weight"] @ x + state[f"{layer}.bias"], 0)
    expected = state["h.weight"][0] @ np.concatenate([person[:dim] * q[:dim], x]) + state["bias"][film]
    np.testing.assert_allclose(model.score(Queries(HISTORIES))[0, film], expected, atol=1e-5)


def test_blocks_of_people_give_what_all_at_once_give(monkeypatch):
    module = fitted(epochs=1).module
    people = torch.randn(7, 32)
    together = module.logits(people)
    monkeypatch.setattr("recsys.models.ncf.BLOCK", 2 * module.output.numel())
    torch.testing.assert_close(module.logits(people), together)


def test_the_loss_is_the_binary_cross_entropy_of_the_target_and_of_what_was_drawn():
    model = fitted(epochs=1)
    people = torch.randn(5, 32)
    torch.manual_seed(1)
    drawn = torch.randint(30, (5, 4))
    targets = drawn[:, 0]  # so that each is drawn
    torch.manual_seed(1)
    loss = model.binary_cross_entropy(people, model.module.output, model.module.bias, targets)
    probability = torch.sigmoid(model.module.logits(people))
    expected = -torch.log(probability[torch.arange(5), targets]).sum()
    for row, films in enumerate(drawn):
        expected -= torch.log(1 - probability[row, films[films != targets[row]]]).sum()
    torch.testing.assert_close(loss, expected)
