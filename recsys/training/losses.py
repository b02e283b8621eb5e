"""Losses over a whole catalogue. Shapes: M positions with a loss, I items, D dimensions."""

from typing import Any

import torch
from torch import Tensor


class _ChunkedSoftmax(torch.autograd.Function):
    """Exact softmax cross-entropy whose logits exist for a chunk of positions at a time.

    The gradient, softmax(z) minus one at the target, is computed in the forward pass, while a chunk's logits are in the
    cache. Peak memory is CHUNK_LOGITS floats, whatever M × I is. Products are of bf16, accumulated in fp32, where the
    hardware does that; inside a region of autocast the logits themselves are rounded to bf16 too.
    """

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        """Sum of the losses, ()."""
        precision = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("medium")
        rows = max(1, CHUNK_LOGITS // len(weight))
        loss = hidden.new_zeros((), dtype=torch.float32)
        d_hidden, d_weight, d_bias = torch.empty_like(hidden), torch.zeros_like(weight), torch.zeros_like(bias)
        for start in range(0, len(hidden), rows):
            part = slice(start, start + rows)
            h, y = hidden[part], targets[part, None]
            z = torch.addmm(bias, h, weight.T).float()  # (chunk, I)
            loss -= z.gather(1, y).sum()
            highest = z.amax(1, keepdim=True)
            p = z.sub_(highest).exp_()
            total = p.sum(1, keepdim=True)
            loss += (total.log() + highest).sum()
            p.div_(total).scatter_add_(1, y, p.new_full((1, 1), -1.0).expand_as(y))
            p = p.to(hidden.dtype)
            torch.mm(p, weight, out=d_hidden[part])
            d_weight.addmm_(p.T, h)
            d_bias += p.sum(0)
        torch.set_float32_matmul_precision(precision)
        ctx.save_for_backward(d_hidden, d_weight, d_bias)
        return loss

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        """Scale what the forward pass found."""
        d_hidden, d_weight, d_bias = ctx.saved_tensors
        return d_hidden * grad, d_weight * grad, d_bias * grad, None


CHUNK_LOGITS = 1 << 20  # 4 MB of fp32: fits a CPU core's share of the cache


def softmax_cross_entropy(hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    """Sum of the cross-entropies of `targets` (M,) under softmax(hidden (M, D) @ weight (I, D)ᵀ + bias (I,)), ()."""
    return _ChunkedSoftmax.apply(hidden, weight, bias, targets)
