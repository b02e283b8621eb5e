"""Scaled dot-product attention with a bias that is learnt, on a CPU.

PyTorch's fused kernel for CPUs has no gradient for what is added to the logits, so `F.scaled_dot_product_attention`
falls back on the whole matrix of logits, several times over. Here a few sequences at a time go through all steps while
their logits are in the cache: twice as fast for 128 sequences of 200 positions.

Shapes: B sequences, H heads, Q queries, T keys, D dimensions of a head.
"""

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

AT_ONCE = 2**19  # logits that are worked on at once: 2 MB, which the caches of a core still hold


def attend(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, padding: Tensor | None) -> Tensor:
    """softmax(q kᵀ / √D + bias + padding) v, for q (B, H, Q, D), k and v (B, H, T, D) → (B, H, Q, D).

    bias (B or 1, H, Q, T) has a gradient; padding (B, 1, 1, T), 0 or -∞, has none. Each query needs one key without -∞.
    """
    mixed: Tensor = _Attention.apply(q, k, v, bias, padding)
    return mixed


class _Attention(torch.autograd.Function):
    """Forward keeps the attention weights P; backward: dS = P ⊙ (dP - rowsum(dO ⊙ O)), as in FlashAttention.

    Tri Dao et al. (NeurIPS 2022, arXiv:2205.14135, appendix B.2); the gradient of the bias is dS itself.
    """

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, bias: Tensor, padding: Tensor | None) -> Tensor:
        ctx.scale = 1 / math.sqrt(q.shape[-1])
        q, k, v = (q * ctx.scale).contiguous(), k.contiguous(), v.contiguous()  # else each product copies its part
        weights, mixed = q.new_empty(*q.shape[:-1], k.shape[-2]), torch.empty_like(q)
        for part in _parts(weights):
            own = weights[part]  # logits at first
            torch.matmul(q[part], k[part].transpose(-1, -2), out=own)
            own += bias if len(bias) == 1 else bias[part]
            if padding is not None:
                own += padding[part]
            torch.softmax(own, -1, out=own)
            torch.matmul(own, v[part], out=mixed[part])
        ctx.save_for_backward(q, k, v, weights, mixed)
        ctx.shared = len(bias) == 1
        return mixed

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_mixed: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, weights, mixed = ctx.saved_tensors
        d_mixed = d_mixed.contiguous()
        dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
        d_bias = torch.zeros_like(weights[:1]) if ctx.shared else torch.empty_like(weights)
        common = (d_mixed * mixed).sum(-1, keepdim=True)  # (B, H, Q, 1)
        for part in _parts(weights):
            d_logits = d_mixed[part] @ v[part].transpose(-1, -2)  # of the weights, so far
            d_logits -= common[part]
            d_logits *= weights[part]
            if ctx.shared:
                d_bias += d_logits.sum(0, keepdim=True)
            else:
                d_bias[part] = d_logits
            torch.matmul(d_logits, k[part], out=dq[part])
            torch.matmul(d_logits.transpose(-1, -2), q[part], out=dk[part])
            torch.matmul(weights[part].transpose(-1, -2), d_mixed[part], out=dv[part])
        return dq.mul_(ctx.scale), dk, dv, d_bias, None


def _parts(weights: Tensor) -> list[slice]:
    """The sequences (B) of weights (B, H, Q, T), a few at a time."""
    each = max(1, AT_ONCE // max(1, weights[0].numel())) if len(weights) else 1
    return [slice(start, start + each) for start in range(0, len(weights), each)]
