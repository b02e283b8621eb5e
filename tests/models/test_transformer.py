import numpy as np
import pytest
import torch
import torch.nn.functional as F

from recsys.models.bert4rec import Bert4Rec, Bert4RecConfig
from recsys.models.transformer import Block, PostNormBlock

DIM, HEADS, T = 8, 2, 6
ATTENTION_MASK = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])[:, None, None, :]  # the second sequence is padded


def block(made_of=Block, **settings):
    torch.manual_seed(0)
    made = made_of(DIM, HEADS, dropout=0.0, **{"relative_bias": False} | settings).eval()
    for weights in made.parameters():
        torch.nn.init.normal_(weights, std=0.5)
    return made


def mixed_by_weights(made, x, attention_mask):
    """What `attend` gives, from the weights and the values: softmax(QKᵀ/√d) V."""
    inner = made.attention_input(x)
    values = made.split_heads(made.qkv(inner).chunk(3, -1)[2])  # (B, H, T, D/H)
    return made.out((made.attention_weights(x, attention_mask) @ values).transpose(1, 2).flatten(2))


@pytest.mark.parametrize(
    ("settings", "attention_mask"),
    [
        ({}, ATTENTION_MASK),
        ({"made_of": PostNormBlock}, ATTENTION_MASK),
        ({"causal": True}, None),
        ({"causal": True, "relative_bias": True}, None),
    ],
)
@torch.inference_mode()
def test_the_weights_times_the_values_are_what_attention_gives(settings, attention_mask):
    made, x = block(**settings), torch.randn(2, T, DIM)
    inner = made.norm_attention(x) if type(made) is Block else x
    torch.testing.assert_close(mixed_by_weights(made, x, attention_mask), made.attend(inner, attention_mask, None))


@torch.inference_mode()
def test_attention_weights_are_shares_and_fall_on_unmasked_positions_only():
    x = torch.randn(2, T, DIM)
    weights = block().attention_weights(x, ATTENTION_MASK)
    assert weights.shape == (2, HEADS, T, T)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, HEADS, T))
    assert (weights[1, :, :, 4:] == 0).all()
    assert (weights[0] > 0).all()
    assert (block(causal=True).attention_weights(x, None).triu(1) == 0).all()


@torch.inference_mode()
def test_each_layer_attends_to_the_output_of_the_layer_below():
    model, tokens = Bert4Rec(Bert4RecConfig(dim=DIM, heads=HEADS, layers=2)), np.arange(T)
    model.module = model.build(T).eval()
    below, above = model.module.blocks
    x, _ = model.module.embed(torch.from_numpy(tokens)[None])
    weights = torch.from_numpy(model.attention(tokens))  # (2, H, T, T)
    torch.testing.assert_close(weights[:1], below.attention_weights(x, None))
    torch.testing.assert_close(weights[1:], above.attention_weights(below(x, None), None))


@torch.inference_mode()
@pytest.mark.parametrize(
    ("settings", "width", "activation"), [({}, 4, F.gelu), ({"widening": 1, "activation": F.relu}, 1, F.relu)]
)
def test_the_feed_forward_network_is_two_maps_with_an_activation_between(settings, width, activation):
    made, x = block(**settings), torch.randn(2, T, DIM)
    assert made.forward_in.weight.shape == (width * DIM, DIM)
    inner = activation(x @ made.forward_in.weight.T + made.forward_in.bias)
    torch.testing.assert_close(made.feed_forward(x), inner @ made.forward_out.weight.T + made.forward_out.bias)
