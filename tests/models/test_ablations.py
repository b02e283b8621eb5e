"""Parts that BERT4Rec and SASRec can be built without, and other cuts of their histories."""

import numpy as np
import pytest
import torch

from recsys.data.dataset import Queries
from recsys.models import registry
from recsys.models.ablations import NoFeedForwardBlock, NoResidualBlock, remove_norms
from recsys.models.transformer import Block
from recsys.training.batches import CounterRNG
from recsys.training.options import RunOptions
from tests import toys
from tests.models.configs import changed, untrained

N_ITEMS = 30
BOTH = pytest.mark.parametrize("variant", ["bert4rec-ablated", "sasrec-ablated"])


def ablated(variant, **settings):
    found = registry.get(variant)
    config = changed(found.preset(""), **{"dim": 16, "length": 10, "init": 0.5} | settings)
    return untrained(found.model(config), N_ITEMS)


def scores(model, *history):
    return model.score(Queries([np.array(history)]))[0]


@torch.inference_mode()
def test_each_part_of_a_block_can_be_left_out():
    x = torch.randn(2, 6, 8)
    block = NoFeedForwardBlock(8, 2, dropout=0.0)
    torch.testing.assert_close(block(x, None), x + block.attend(block.norm_attention(x), None, None))
    block = Block(8, 2, dropout=0.0)
    remove_norms(block)
    attended = x + block.attend(x, None, None)
    torch.testing.assert_close(block(x, None), attended + block.feed_forward(attended))
    block = NoResidualBlock(8, 2, dropout=0.0)
    attended = block.attend(block.norm_attention(x), None, None)
    torch.testing.assert_close(block(x, None), block.feed_forward(block.norm_forward(attended)))


@BOTH
def test_what_is_left_out_is_left_out_of_every_block(variant):
    def parts(without):
        module = ablated(variant, without=without).module
        return list(module.modules()), [type(block) for block in module.blocks]

    assert any(isinstance(part, torch.nn.LayerNorm) for part in parts("nothing")[0])
    assert not any(isinstance(part, torch.nn.LayerNorm) for part in parts("norms")[0])
    assert parts("residual")[1] == [NoResidualBlock] * 2
    assert parts("feed-forward")[1] == [NoFeedForwardBlock] * 2


@BOTH
@pytest.mark.parametrize(("without", "order_counts"), [("nothing", True), ("relative bias", True), ("order", False)])
def test_without_order_older_items_can_change_places(variant, without, order_counts):
    model = ablated(variant, without=without, layers=1)
    same = np.allclose(scores(model, 4, 8, 15), scores(model, 8, 4, 15), atol=1e-4)
    assert same is not order_counts
    assert (model.module.positions is None) is (without != "relative bias")


@BOTH
def test_padding_changes_no_position(variant):
    model = ablated(variant, without="relative bias")
    both = model.score(Queries([np.array([4, 8]), np.arange(9)]))
    np.testing.assert_allclose(both[0], scores(model, 4, 8), rtol=1e-4, atol=1e-4)


def test_without_blocks_sasrec_knows_the_last_item_and_bert4rec_nothing():
    sasrec, bert4rec = ablated("sasrec-softmax", layers=0), ablated("bert4rec", layers=0)
    np.testing.assert_allclose(scores(sasrec, 4, 8), scores(sasrec, 15, 8), atol=1e-5)
    assert not np.allclose(scores(sasrec, 4, 8), scores(sasrec, 8, 4), atol=1e-2)
    np.testing.assert_allclose(scores(bert4rec, 4, 8), scores(bert4rec, 8, 4), atol=1e-5)
    assert not sasrec.has_attention
    assert not bert4rec.has_attention


@BOTH
def test_an_output_of_its_own_starts_like_the_embeddings_and_learns_apart(variant):
    found, data = registry.get(variant), toys.cycle(n_items=20, n_users=60, length=10)
    settings = {"dim": 16, "length": 10, "epochs": 2, "batch_size": 16, "lr": 5e-3, "warmup_steps": 2}
    model = found.model(changed(found.preset(""), without="tied output", **settings))
    model.module = model.build(20)
    model.initialise(model.module, data, seed=0)
    torch.testing.assert_close(model.module.output, model.module.items.weight[:20])
    model.fit(data, run=RunOptions(device="cpu"))
    assert not torch.allclose(model.module.output, model.module.items.weight[:20], atol=0.001)
    hidden = model.module(torch.tensor([[4, 8]]))[0]
    torch.testing.assert_close(
        model.module.logits(hidden), hidden @ model.module.own_output.weight.T + model.module.bias
    )


@BOTH
@pytest.mark.parametrize(("cut", "shortest"), [("windows", 10), ("prefixes", 2)])
def test_half_of_the_samples_end_before_the_newest_item(variant, cut, shortest):
    model = ablated(variant, crop=cut)
    longest = 10 + (variant == "sasrec-ablated")  # whose first item is no target
    shortest = longest if cut == "windows" else shortest
    samples = model.sequences([np.arange(50)] * 2000, np.arange(2000), CounterRNG(0, 0))
    assert np.mean([sample[-1] == 49 for sample in samples]) == pytest.approx(0.5, abs=0.05)
    assert {len(sample) for sample in samples} == set(range(shortest, longest + 1))
    assert {sample[-1] for sample in samples} == set(range(shortest - 1, 50))
    assert all((np.diff(sample) == 1).all() for sample in samples)


@BOTH
def test_a_short_history_is_no_shorter_with_windows(variant):
    model = ablated(variant, crop="windows")
    for epoch in range(20):
        assert len(model.sequences([np.arange(7)], np.array([0]), CounterRNG(0, epoch))[0]) == 7
