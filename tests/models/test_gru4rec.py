from dataclasses import replace

import numpy as np
import pytest
import torch

from recsys.config import ConfigError
from recsys.models import registry
from recsys.models.gru4rec import Gru4Rec, Gru4RecConfig
from tests.models.configs import changed, untrained


def small_gru4rec(**settings):
    model = untrained(Gru4Rec(Gru4RecConfig(dim=16, hidden=24, length=10, **settings)))
    torch.nn.init.normal_(model.module.bias)
    return model


@pytest.mark.parametrize("dataset", ["ml-1m", "ml-100k", "ml-latest-sample"])
def test_gru4rec_memory_differs_from_gru4rec_ce_in_three_settings(dataset):
    plain, with_memory = (registry.get(name).preset(dataset) for name in ("gru4rec-ce", "gru4rec-memory"))
    assert with_memory == replace(plain, only_unseen=True, redraw=True, memory=True)
    assert [plain.only_unseen, plain.redraw, plain.memory] == [False] * 3


def test_the_state_is_that_of_the_papers_equations():
    """Equations 1 to 4 of the paper, in NumPy. torch applies the reset gate to the product with the state."""
    module = small_gru4rec(init=0.5).module
    tokens = torch.tensor([[31, 4, 8, 15]])
    x = module.items(tokens)[0].detach().numpy()
    weights = {name: value.detach().numpy() for name, value in module.gru.named_parameters()}
    h = np.zeros(24, np.float32)
    for item in x:
        inputs = np.split(weights["weight_ih_l0"] @ item + weights["bias_ih_l0"], 3)
        states = np.split(weights["weight_hh_l0"] @ h + weights["bias_hh_l0"], 3)
        r, z = (1 / (1 + np.exp(-inputs[i] - states[i])) for i in (0, 1))
        h = z * h + (1 - z) * np.tanh(inputs[2] + r * states[2])  # torch's z is the share of the old state
    out = module.norm(module.project(torch.from_numpy(h)))
    torch.testing.assert_close(module(tokens)[0, -1], out, rtol=1e-4, atol=1e-5)


def test_the_plain_cell_and_the_lstm_are_those_of_their_equations():
    """h = tanh(Wx + Uh + b); and Hochreiter and Schmidhuber's, with the forget gate of Gers et al. (2000)."""

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    for cell in ("rnn", "lstm"):
        module = small_gru4rec(init=0.5, cell=cell).module
        weights = {name: value.detach().numpy() for name, value in module.gru.named_parameters()}
        h = c = np.zeros(24, np.float32)
        for item in module.items(torch.tensor([31, 4, 8, 15])).detach().numpy():
            total = weights["weight_ih_l0"] @ item + weights["bias_ih_l0"]
            total = total + weights["weight_hh_l0"] @ h + weights["bias_hh_l0"]
            if cell == "rnn":
                h = np.tanh(total)
                continue
            take_in, forget, candidate, give_out = np.split(total, 4)
            c = sigmoid(forget) * c + sigmoid(take_in) * np.tanh(candidate)
            h = sigmoid(give_out) * np.tanh(c)
        out = module.norm(module.project(torch.from_numpy(h)))
        torch.testing.assert_close(module(torch.tensor([[31, 4, 8, 15]]))[0, -1], out, rtol=1e-4, atol=1e-5)


def test_an_unknown_cell_raises_an_error_with_all_cells():
    with pytest.raises(ConfigError, match="cell is ltsm, but must be 'gru', 'lstm' or 'rnn'"):
        Gru4RecConfig(cell="ltsm")


def test_names_of_weights_are_those_of_stored_checkpoints():
    expected = {f"gru.{kind}_{part}_l0" for kind in ("weight", "bias") for part in ("ih", "hh")}
    assert expected < set(small_gru4rec().state())


@pytest.mark.parametrize("variant", ["gru4rec-ce", "lstm", "rnn"])
def test_the_recurrent_layer_is_never_rounded(variant):
    """On a GPU, autocast runs it in fp16, where most gradients underflow."""
    recommender = registry.get(variant)
    module = recommender.model_class.Encoder(changed(recommender.preset(""), dim=8, hidden=8), 20)
    types = []
    module.gru.register_forward_hook(lambda layer, inputs, outputs: types.append(outputs[0].dtype))
    with torch.autocast("cpu", torch.bfloat16):
        module(torch.arange(6)[None])
    assert types == [torch.float32]
