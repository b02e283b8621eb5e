"""Losses over a whole catalogue: each is the sum over its positions, for the caller to divide.

Shapes: M positions with a loss, I items, D dimensions. The scores are hidden (M, D) @ weight (I, D)ᵀ + bias (I,).
"""

from typing import Any

import torch
from torch import Tensor

CHUNK_LOGITS = {"cpu": 1 << 20, "cuda": 1 << 28}  # at a time: what a core's cache holds; what keeps a GPU busy
FEWEST_ROWS = 32  # of a chunk: a product of fewer would spend its time on fetching the weights


class _ChunkedSoftmax(torch.autograd.Function):
    """Exact softmax cross-entropy whose logits exist for a chunk of positions at a time.

    The gradient, softmax(z) minus one at the target, is computed in the forward pass, while a chunk's logits are in the
    cache. Inside autocast logits, probabilities and products are rounded to its type, bf16, and summed in fp32; outside
    nothing is rounded. No additions race, so that a GPU repeats them exactly.
    """

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        """Sum of the losses, ()."""
        kind = hidden.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else hidden.dtype
        rows = max(FEWEST_ROWS, CHUNK_LOGITS[kind] // len(weight))
        loss = bias.new_zeros(())
        d_hidden, d_weight, d_bias = torch.empty_like(hidden), torch.zeros_like(weight), torch.zeros_like(bias)
        with torch.autocast(kind, enabled=False):
            w, b = weight.to(dtype), bias.to(dtype)
            chunks = zip(hidden.to(dtype).split(rows), targets.split(rows), d_hidden.split(rows), strict=True)
            for h, y, d_h in chunks:
                p, log_likelihood = _softmax(h, w, b, y)
                loss -= log_likelihood
                d_h.copy_(p @ w)
                d_weight += p.T @ h
                d_bias += p.sum(0, dtype=d_bias.dtype)
        ctx.save_for_backward(d_hidden, d_weight, d_bias)
        return loss

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        """Scale what the forward pass found."""
        d_hidden, d_weight, d_bias = ctx.saved_tensors
        return d_hidden * grad, d_weight * grad, d_bias * grad, None


def _softmax(hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """softmax(z) minus one at the targets, (chunk, I), and the sum of the targets' log-probabilities, ()."""
    z = torch.addmm(bias, hidden, weight.T)  # (chunk, I)
    p = torch.softmax(z, 1)
    log_total = z.amax(1).float() - p.amax(1).float().log()  # where z is highest, p is exp(z - log Σ exp z)
    at = torch.arange(len(targets), device=targets.device), targets
    log_likelihood = z[at].float() - log_total  # (chunk,)
    p[at] = log_likelihood.expm1().to(p.dtype)
    return p, log_likelihood.sum()


def softmax_cross_entropy(hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    """Sum of the cross-entropies of `targets` (M,) under the softmax of all scores, exactly; ()."""
    return _ChunkedSoftmax.apply(hidden, weight, bias, targets)
