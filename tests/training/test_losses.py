import torch
import torch.nn.functional as F

from recsys.training import losses


def example(positions=50, items=37, dim=8):
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(positions, dim, generator=generator, requires_grad=True)
    weight = torch.randn(items, dim, generator=generator, requires_grad=True)
    bias = torch.randn(items, generator=generator, requires_grad=True)
    return hidden, weight, bias, torch.randint(items, (positions,), generator=generator)


def test_the_chunked_softmax_equals_torch_in_value_and_gradient(monkeypatch):
    monkeypatch.setattr(losses, "CHUNK_LOGITS", 37 * 7)  # 7 positions at a time: the last chunk is short
    *leaves, targets = example()
    ours = losses.softmax_cross_entropy(*leaves, targets)
    gradients = torch.autograd.grad(ours, leaves)
    expected = F.cross_entropy(leaves[0] @ leaves[1].T + leaves[2], targets, reduction="sum")
    torch.testing.assert_close(ours, expected, rtol=5e-3, atol=5e-3)  # products may be of bf16
    for gradient, correct in zip(gradients, torch.autograd.grad(expected, leaves), strict=True):
        torch.testing.assert_close(gradient, correct, rtol=3e-2, atol=1e-3)


def test_the_chunk_size_does_not_change_the_loss(monkeypatch):
    *leaves, targets = example()
    whole = losses.softmax_cross_entropy(*leaves, targets)
    monkeypatch.setattr(losses, "CHUNK_LOGITS", 1)
    torch.testing.assert_close(losses.softmax_cross_entropy(*leaves, targets), whole, rtol=1e-3, atol=1e-3)


def test_huge_logits_do_not_overflow():
    *leaves, targets = example()
    loss = losses.softmax_cross_entropy(leaves[0] * 1e4, *leaves[1:], targets)
    assert torch.isfinite(loss)


def test_the_precision_of_other_products_is_left_as_it_was():
    before = torch.get_float32_matmul_precision()
    *leaves, targets = example()
    losses.softmax_cross_entropy(*leaves, targets)
    assert torch.get_float32_matmul_precision() == before


def test_no_position_is_no_loss_and_no_gradient():
    *leaves, targets = example(positions=0)
    loss = losses.softmax_cross_entropy(*leaves, targets)
    assert loss == 0
    assert all(not gradient.any() for gradient in torch.autograd.grad(loss, leaves))
