"""Attention with a learnt bias against PyTorch's own, values and gradients."""

import pytest
import torch
import torch.nn.functional as F

from recsys.models.nn import attention

B, H, T, D = 5, 2, 7, 4


def drawn(queries, shared):
    torch.manual_seed(queries)
    shapes = [(B, H, queries, D), (B, H, T, D), (B, H, T, D), (1 if shared else B, H, queries, T)]
    return [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]


def padding():
    some = torch.zeros(B, 1, 1, T, dtype=torch.float64)
    some[1, ..., 4:] = some[3, ..., 1:] = -torch.inf
    return some


@pytest.mark.parametrize("at_once", [1, 2 * H * T * T, 2**19])  # a sequence at a time, two, all
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize(("queries", "shared"), [(T, True), (T, False), (3, False)])
def test_values_and_gradients_are_those_of_pytorch(queries, shared, padded, at_once, monkeypatch):
    monkeypatch.setattr(attention, "AT_ONCE", at_once)
    found, expected = drawn(queries, shared), drawn(queries, shared)
    mask = padding() if padded else None
    mixed = attention.attend(*found, mask)
    own = F.scaled_dot_product_attention(*expected[:3], expected[3] if mask is None else expected[3] + mask)
    torch.testing.assert_close(mixed, own)
    weights = torch.randn_like(own)
    (mixed * weights).sum().backward()
    (own * weights).sum().backward()
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one.grad, other.grad)


def test_a_key_without_attention_has_no_gradient():
    q, k, v, bias = drawn(T, shared=True)
    attention.attend(q, k, v, bias, padding()).sum().backward()
    assert not k.grad[3, :, 1:].any()
    assert not v.grad[3, :, 1:].any()
    assert k.grad[1, :, :4].any()
