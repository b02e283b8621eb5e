import pytest
import torch

from recsys.models._transformer import Block, weights_by_layer

DIM, HEADS, T = 8, 2, 6
VISIBLE = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])[:, None, None, :]  # the second sequence is padded


def block(**settings):
    torch.manual_seed(0)
    made = Block(DIM, HEADS, dropout=0.0, **{"pre_norm": True} | settings).eval()
    for weights in made.parameters():
        torch.nn.init.normal_(weights, std=0.5)
    return made


def mixed_by_weights(made, x, visible):
    """What `attend` gives, from the weights and the values: softmax(QKᵀ/√d) V."""
    inner = made.norm_attention(x) if made.pre_norm else x
    values = made.split(made.qkv(inner).chunk(3, -1)[2])  # (B, H, T, D/H)
    return made.out((made.weights(x, visible) @ values).transpose(1, 2).flatten(2))


@pytest.mark.parametrize(
    ("settings", "visible"),
    [
        ({}, VISIBLE),
        ({"pre_norm": False}, VISIBLE),
        ({"causal": True}, None),
        ({"causal": True, "fading": True}, None),
    ],
)
@torch.inference_mode()
def test_the_weights_times_the_values_are_what_attention_gives(settings, visible):
    made, x = block(**settings), torch.randn(2, T, DIM)
    inner = made.norm_attention(x) if made.pre_norm else x
    torch.testing.assert_close(mixed_by_weights(made, x, visible), made.attend(inner, visible, None))


@torch.inference_mode()
def test_weights_are_shares_and_fall_on_what_may_be_looked_at_only():
    x = torch.randn(2, T, DIM)
    weights = block().weights(x, VISIBLE)
    assert weights.shape == (2, HEADS, T, T)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, HEADS, T))
    assert (weights[1, :, :, 4:] == 0).all()
    assert (weights[0] > 0).all()
    assert (block(causal=True).weights(x, None).triu(1) == 0).all()


@torch.inference_mode()
def test_each_layer_looks_at_what_the_layer_below_made():
    blocks, x = torch.nn.ModuleList([block(), block(pre_norm=False)]), torch.randn(2, T, DIM)
    first, second = weights_by_layer(blocks, x, VISIBLE)
    torch.testing.assert_close(first, blocks[0].weights(x, VISIBLE))
    torch.testing.assert_close(second, blocks[1].weights(blocks[0](x, VISIBLE), VISIBLE))
