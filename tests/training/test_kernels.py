import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F

from recsys.training import batches, kernels


def example(positions=50, items=37, dim=8):
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(positions, dim, generator=generator, requires_grad=True)
    weight = torch.randn(items, dim, generator=generator, requires_grad=True)
    bias = torch.randn(items, generator=generator, requires_grad=True)
    return hidden, weight, bias, torch.randint(items, (positions,), generator=generator)


def seven_at_a_time(monkeypatch, items=37):
    monkeypatch.setattr(kernels, "CHUNK_LOGITS", {"cpu": items * 7})
    monkeypatch.setattr(kernels, "ROW_MULTIPLE", 1)


def test_the_chunked_softmax_equals_torch_in_value_and_gradient(monkeypatch):
    seven_at_a_time(monkeypatch)  # the last chunk is short
    *leaves, targets = example()
    ours = kernels.softmax_cross_entropy(*leaves, targets)
    expected = F.cross_entropy(leaves[0] @ leaves[1].T + leaves[2], targets, reduction="sum")
    torch.testing.assert_close(ours, expected)
    gradients, correct = torch.autograd.grad(ours / 3, leaves), torch.autograd.grad(expected / 3, leaves)
    torch.testing.assert_close(gradients, correct, rtol=1e-5, atol=1e-5)  # fp32: nothing is rounded


def test_inside_autocast_only_the_products_are_rounded(monkeypatch):
    seven_at_a_time(monkeypatch)
    *leaves, targets = example()
    exact = kernels.softmax_cross_entropy(*leaves, targets)
    with torch.autocast("cpu", torch.bfloat16):
        ours = kernels.softmax_cross_entropy(*leaves, targets)
    assert ours.dtype == torch.float32
    torch.testing.assert_close(ours, exact, rtol=5e-3, atol=0)
    for gradient, correct in zip(torch.autograd.grad(ours, leaves), torch.autograd.grad(exact, leaves), strict=True):
        assert gradient.dtype == torch.float32
        assert 0 < (gradient - correct).norm() < 0.01 * correct.norm()


def test_the_chunk_size_does_not_change_the_loss(monkeypatch):
    *leaves, targets = example()
    whole = kernels.softmax_cross_entropy(*leaves, targets)
    seven_at_a_time(monkeypatch)
    torch.testing.assert_close(kernels.softmax_cross_entropy(*leaves, targets), whole)


def test_huge_logits_do_not_overflow():
    *leaves, targets = example()
    loss = kernels.softmax_cross_entropy(leaves[0] * 1e4, *leaves[1:], targets)
    assert torch.isfinite(loss)
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(loss, leaves))


def test_no_position_is_no_loss_and_no_gradient():
    *leaves, targets = example(positions=0)
    loss = kernels.softmax_cross_entropy(*leaves, targets)
    assert loss == 0
    assert all(not gradient.any() for gradient in torch.autograd.grad(loss, leaves))


PEAK = """
import resource, torch
from recsys.training.kernels import softmax_cross_entropy

def peak(positions, items):
    hidden, weight = torch.randn(positions, 4, requires_grad=True), torch.randn(items, 4, requires_grad=True)
    targets = torch.randint(items, (positions,))
    softmax_cross_entropy(hidden, weight, torch.zeros(items), targets).backward()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10

print(peak(1_500, 2_000), peak(15_000, 2_000), peak(1_500, 20_000))
"""


@pytest.mark.slow
def test_ten_times_the_logits_need_no_more_memory():
    answer = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=True, timeout=120)
    small, more_positions, more_items = map(int, answer.stdout.split())  # MB
    assert more_positions - small < 30  # the logits of all positions would be 120 MB
    assert more_items - small < 30


def test_what_was_seen_has_no_part_in_the_softmax_but_a_target_always_has(monkeypatch):
    seven_at_a_time(monkeypatch)
    *leaves, targets = example()
    excluded_from = torch.full((5, 37), batches.NEVER_EXCLUDED, dtype=torch.int16)
    excluded_from[:, :9] = torch.arange(9)  # of each of five sequences nine items, excluded one after the other
    batch = batches.Batch(torch.zeros(5, 10), None, torch.arange(50), targets, excluded_from=excluded_from)
    left_out = torch.arange(37)[None] <= (torch.arange(50) % 10)[:, None]
    left_out[:, 9:] = False
    assert left_out[torch.arange(50), targets].any()  # some targets have been excluded
    left_out[torch.arange(50), targets] = False
    ours = kernels.softmax_cross_entropy(*leaves, targets, batch.excluded_items)
    z = (leaves[0] @ leaves[1].T + leaves[2]).masked_fill(left_out, -torch.inf)
    expected = F.cross_entropy(z, targets, reduction="sum")
    torch.testing.assert_close(ours, expected)
    gradients, correct = torch.autograd.grad(ours, leaves), torch.autograd.grad(expected, leaves)
    torch.testing.assert_close(gradients, correct, rtol=1e-5, atol=1e-5)


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
    monkeypatch.setattr(kernels, "ATTENTION_CHUNK_LOGITS", at_once)
    found, expected = drawn(queries, shared), drawn(queries, shared)
    mask = padding() if padded else None
    mixed = kernels.attention_with_bias(*found, mask)
    own = F.scaled_dot_product_attention(*expected[:3], expected[3] if mask is None else expected[3] + mask)
    torch.testing.assert_close(mixed, own)
    weights = torch.randn_like(own)
    (mixed * weights).sum().backward()
    (own * weights).sum().backward()
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one.grad, other.grad)


def test_a_key_without_attention_has_no_gradient():
    q, k, v, bias = drawn(T, shared=True)
    kernels.attention_with_bias(q, k, v, bias, padding()).sum().backward()
    assert not k.grad[3, :, 1:].any()
    assert not v.grad[3, :, 1:].any()
    assert k.grad[1, :, :4].any()
