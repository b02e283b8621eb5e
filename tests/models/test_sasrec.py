import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from recsys.data.dataset import DataError, Queries
from recsys.data.split import leave_one_out
from recsys.models import registry
from recsys.models.sasrec import SasRec, SasRecConfig
from recsys.models.sasrec_paper import SasRecPaper
from recsys.models.transformer import RelativeBias
from recsys.training import device
from recsys.training.batches import CounterRNG
from recsys.training.options import RunOptions
from tests import toys
from tests.models.configs import changed, untrained

START, PADDING = 31, 30  # of a catalogue of 30 items


BOTH = pytest.mark.parametrize("architecture", [SasRec, SasRecPaper])  # a relative bias, position embeddings


def small_sasrec(architecture=SasRec, **settings):
    return untrained(architecture(SasRecConfig(**{"dim": 16, "length": 10, "heads": 2, "init": 0.5} | settings)))


@BOTH
def test_the_order_of_older_items_counts(architecture):
    states = small_sasrec(architecture).module(torch.tensor([[START, 4, 8, 15], [START, 8, 4, 15]]))
    assert not torch.allclose(states[0, 3], states[1, 3], atol=1e-3)


@pytest.mark.parametrize("causal", [True, False])
def test_the_relative_bias_falls_by_the_slope_of_its_head(causal):
    relative_bias = RelativeBias(2, causal)
    with torch.no_grad():
        relative_bias.slopes.copy_(torch.tensor([1.0, 0.0]))
        if not causal:
            relative_bias.slopes_after.copy_(torch.tensor([0.5, 1.0]))
    everywhere = relative_bias(torch.arange(3)[None], 3)  # (1, H, 3, 3)
    one, two = -math.log(2), -math.log(3)
    near, far = (-math.inf, -math.inf) if causal else (one / 2, two / 2)
    torch.testing.assert_close(everywhere[0, 0], torch.tensor([[0, near, far], [one, 0, near], [two, one, 0]]))
    near, far = (-math.inf, -math.inf) if causal else (one, two)
    torch.testing.assert_close(everywhere[0, 1], torch.tensor([[0, near, far], [0, 0, near], [0, 0, 0]]))
    torch.testing.assert_close(relative_bias(torch.tensor([[2, 0]]), 3), everywhere[:, :, [2, 0]])
    some = relative_bias(torch.tensor([[2, 0], [1, 1]]), 3)  # (2, H, 2, 3), positions of two sequences
    torch.testing.assert_close(some[1], everywhere[0][:, [1, 1]])


def test_a_steep_head_attends_to_the_newest_item_only():
    module = small_sasrec(layers=1, heads=1).module
    with torch.no_grad():
        module.blocks[0].relative_bias.slopes.fill_(200)
    states = module(torch.tensor([[START, 4, 8, 15], [START, 23, 29, 15]]))
    torch.testing.assert_close(states[0, 3], states[1, 3])


def targets_of(batch):
    """The item to be predicted at each position, -1 where there is none."""
    found = torch.full((batch.tokens.numel(),), -1)
    found[batch.loss_index] = batch.targets
    return found.view_as(batch.tokens).tolist()


def test_each_item_is_predicted_from_those_before_it():
    batch = small_sasrec().collate([np.array([5, 6, 7]), np.array([9])], np.array([0, 1]), 30, CounterRNG(0, 0))
    assert batch.tokens[:, :3].tolist() == [[START, 5, 6], [START, PADDING, PADDING]]
    assert [row[:3] for row in targets_of(batch)] == [[5, 6, 7], [9, -1, -1]]
    assert (batch.tokens[:, 3:] == PADDING).all()


@pytest.mark.parametrize(
    ("n_items", "tokens", "targets"),
    [(20, [15, 16, 17, 18], [16, 17, 18, 19]), (4, [START, 0, 1, 2], [0, 1, 2, 3])],
)
def test_long_histories_keep_the_newest_items(n_items, tokens, targets):
    batch = small_sasrec(length=4).collate([np.arange(n_items)], np.array([0]), 30, CounterRNG(0, 0))
    assert batch.tokens[0, :4].tolist() == tokens
    assert targets_of(batch)[0][:4] == targets


def test_a_whole_or_empty_history_begins_with_the_start_token():
    model = small_sasrec(length=4)
    assert model.input_tokens(np.array([3, 4]), is_whole=True).tolist() == [START, 3, 4]
    assert model.input_tokens(np.array([3, 4])).tolist() == [3, 4]
    assert model.input_tokens(np.array([], int)).tolist() == [START]
    assert model.input_tokens(np.arange(20), is_whole=True).tolist() == [16, 17, 18, 19]
    whole, cut = (model.score(Queries([np.array([3, 4])], are_whole=is_whole)) for is_whole in (True, False))
    assert (whole != cut).any()


def test_with_segments_only_an_empty_history_gets_the_start_token():
    model = small_sasrec(crop="segments")
    assert model.input_tokens(np.array([3, 4]), is_whole=True).tolist() == [3, 4]
    assert model.input_tokens(np.array([], int)).tolist() == [START]
    histories = [np.array([5, 6, 7]), np.array([9])]
    batch = model.collate(histories, np.array([0, 1]), 30, CounterRNG(0, 0))
    lines = [tokens[tokens < PADDING].tolist() for tokens in batch.tokens.numpy()]
    assert lines[1] == []  # the start token predicts the only item
    assert targets_of(batch)[1][0] == 9
    for tokens, targets in zip(lines[:1], targets_of(batch)[:1], strict=True):
        assert [token + 1 for token in tokens] == [target for target in targets if target >= 0]


@BOTH
def test_training_and_queries_see_the_same(architecture):
    """The hidden state that predicts the last item in training is the one that scores after the items before it."""
    model = small_sasrec(architecture)
    history = np.array([3, 9, 4, 1, 7])
    batch = model.collate([history], np.array([0]), 30, CounterRNG(0, 0))
    trained = model.module(batch.tokens)[0, 4]
    scores = torch.from_numpy(model.score(Queries([history[:-1]], are_whole=True))[0])
    torch.testing.assert_close(model.module.logits(trained), scores, rtol=1e-4, atol=1e-5)


def test_bce_draws_one_item_for_each_position(monkeypatch):
    drawn = []
    randint = torch.randint
    monkeypatch.setattr(torch, "randint", lambda *size, **where: drawn.append(size) or randint(*size, **where))
    config = changed(registry.get("sasrec-bce").preset(""), dim=16, length=10, epochs=1)
    histories = [np.arange(user % 3, 9) for user in range(20)]
    SasRec(config).fit(toys.dataset(histories, 30), None, RunOptions(device="cpu"))
    assert drawn == [(30, (sum(map(len, histories)), 1))]  # of 30 items, one a position


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sasrec-softmax", np.exp([2.0, 1.0, -np.inf]) / np.exp([2.0, 1.0, 0.5]).sum()),
        ("sasrec-bce", [1 / (1 + 4 * np.exp(-2)), 1 / (1 + 4 * np.exp(-1)), 0]),  # σ(score - log I)
        ("sasrec-paper", [1 / (1 + np.exp(-2)), 1 / (1 + np.exp(-1)), 0]),  # σ(score)
    ],
)
def test_scores_give_the_probabilities_that_the_loss_teaches(name, expected):
    scores = np.array([2.0, 1.0, -np.inf, 0.5], np.float32)
    found = registry.get(name).model().log_probabilities(scores, np.array([0, 1, 2]))
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-6)
    pairwise = SasRec(SasRecConfig(loss="bpr"))
    assert pairwise.log_probabilities(scores, np.array([0])) is None


def as_published():
    """An untrained sasrec-paper of toy sizes, every weight that it learns drawn anew."""
    variant = registry.get("sasrec-paper")
    model = untrained(variant.model(changed(variant.preset("ml-1m"), dim=16, length=10)))
    for weight in model.module.parameters():
        if weight.requires_grad:
            torch.nn.init.normal_(weight, std=0.5)
    return model


@torch.inference_mode()
def test_as_published_the_network_is_that_of_the_papers_equations():
    """Section 3: positions from the newest item, x + g(LN(x)), one head, ReLU, products with the item embeddings."""
    module = as_published().module
    weights, tokens = module.state_dict(), torch.tensor([START, 4, 8, 15])

    def linear(x, name):
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(x, name):
        return F.layer_norm(x, (16,), weights[f"{name}.weight"], weights[f"{name}.bias"])

    assert weights["positions.weight"].shape == (10, 16)
    x = weights["items.weight"][tokens] + weights["positions.weight"][[3, 2, 1, 0]]
    for layer in ("blocks.0", "blocks.1"):
        q, k, v = linear(norm(x, f"{layer}.norm_attention"), f"{layer}.qkv").chunk(3, -1)
        later = torch.ones(4, 4, dtype=torch.bool).triu(1)
        mixed = torch.softmax((q @ k.T / 4).masked_fill(later, -torch.inf), -1) @ v
        x = x + linear(mixed, f"{layer}.out")
        inner = linear(norm(x, f"{layer}.norm_forward"), f"{layer}.forward_in")
        assert inner.shape == (4, 16)
        x = x + linear(F.relu(inner), f"{layer}.forward_out")
    expected = norm(x, "last_norm") @ weights["items.weight"][:30].T
    padded = torch.tensor([[START, 4, 8, 15, PADDING, PADDING]])
    torch.testing.assert_close(module.logits(module(padded))[0, :4], expected, rtol=1e-4, atol=1e-4)


def test_as_published_items_have_no_bias_and_everything_else_learns():
    model = as_published()
    model.item_loss = model.make_loss(toys.cycle(30))
    split = leave_one_out(toys.cycle(30, 8, 8))
    model.loss(
        model.module.train(), model.collate(split.train.histories, np.arange(8), 30, CounterRNG(0, 0))
    ).backward()
    for name, weight in model.module.named_parameters():
        assert (weight.grad is None) == (name == "bias"), name
    assert not model.module.bias.any()


def test_a_network_on_a_gpu_must_fit_into_the_memory_of_the_gpu(monkeypatch):
    monkeypatch.setattr(device, "free_gpu_bytes", lambda where: 1_000)
    with pytest.raises(DataError, match="that is free on the GPU"):
        SasRec().fit(toys.cycle(n_items=8, n_users=10, length=5), run=RunOptions(device="cpu"))
