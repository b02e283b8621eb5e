import subprocess
import sys

import torch
import torch.nn.functional as F

from recsys.training import losses


def example(positions=50, items=37, dim=8):
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(positions, dim, generator=generator, requires_grad=True)
    weight = torch.randn(items, dim, generator=generator, requires_grad=True)
    bias = torch.randn(items, generator=generator, requires_grad=True)
    return hidden, weight, bias, torch.randint(items, (positions,), generator=generator)


def seven_at_a_time(monkeypatch, items=37):
    monkeypatch.setattr(losses, "CHUNK_LOGITS", {"cpu": items * 7})
    monkeypatch.setattr(losses, "FEWEST_ROWS", 1)


def test_the_chunked_softmax_equals_torch_in_value_and_gradient(monkeypatch):
    seven_at_a_time(monkeypatch)  # the last chunk is short
    *leaves, targets = example()
    ours = losses.softmax_cross_entropy(*leaves, targets)
    expected = F.cross_entropy(leaves[0] @ leaves[1].T + leaves[2], targets, reduction="sum")
    torch.testing.assert_close(ours, expected)
    gradients, correct = torch.autograd.grad(ours / 3, leaves), torch.autograd.grad(expected / 3, leaves)
    torch.testing.assert_close(gradients, correct, rtol=1e-5, atol=1e-5)  # fp32: nothing is rounded


def test_inside_autocast_only_the_products_are_rounded(monkeypatch):
    seven_at_a_time(monkeypatch)
    *leaves, targets = example()
    exact = losses.softmax_cross_entropy(*leaves, targets)
    with torch.autocast("cpu", torch.bfloat16):
        ours = losses.softmax_cross_entropy(*leaves, targets)
    assert ours.dtype == torch.float32
    torch.testing.assert_close(ours, exact, rtol=5e-3, atol=0)
    for gradient, correct in zip(torch.autograd.grad(ours, leaves), torch.autograd.grad(exact, leaves), strict=True):
        assert gradient.dtype == torch.float32
        assert 0 < (gradient - correct).norm() < 0.01 * correct.norm()


def test_the_chunk_size_does_not_change_the_loss(monkeypatch):
    *leaves, targets = example()
    whole = losses.softmax_cross_entropy(*leaves, targets)
    seven_at_a_time(monkeypatch)
    torch.testing.assert_close(losses.softmax_cross_entropy(*leaves, targets), whole)


def test_huge_logits_do_not_overflow():
    *leaves, targets = example()
    loss = losses.softmax_cross_entropy(leaves[0] * 1e4, *leaves[1:], targets)
    assert torch.isfinite(loss)
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(loss, leaves))


def test_no_position_is_no_loss_and_no_gradient():
    *leaves, targets = example(positions=0)
    loss = losses.softmax_cross_entropy(*leaves, targets)
    assert loss == 0
    assert all(not gradient.any() for gradient in torch.autograd.grad(loss, leaves))


PEAK = """
import resource, torch
from recsys.training.losses import softmax_cross_entropy

def peak(positions, items):
    hidden, weight = torch.randn(positions, 4, requires_grad=True), torch.randn(items, 4, requires_grad=True)
    targets = torch.randint(items, (positions,))
    softmax_cross_entropy(hidden, weight, torch.zeros(items), targets).backward()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10

print(peak(4_000, 2_000), peak(40_000, 2_000), peak(2_000, 40_000))
"""


def test_ten_times_the_logits_need_no_more_memory():
    answer = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=True, timeout=120)
    small, more_positions, more_items = map(int, answer.stdout.split())  # MB
    assert more_positions - small < 30  # the logits of all positions would be 320 MB
    assert more_items - small < 30
