"""Two operations with hand-written gradients: the softmax loss over all items, and attention with a learnt bias.

Both compute a chunk of the logits at a time, which stays in the cache of a CPU core.

Shapes: M targets, I items, B sequences, H heads, Q queries, T keys, D dimensions (of a head, for attention).
"""

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

# logits per chunk: 4 MB fit in the cache of a core, 1 GB keeps all units of a GPU busy
CHUNK_LOGITS = {"cpu": 1 << 20, "cuda": 1 << 28}
# The rows of each product are padded to a multiple of this. Fewer rows take as long: all weights must be read anyway.
ROW_MULTIPLE = 32
ATTENTION_CHUNK_LOGITS = 1 << 19  # logits per chunk of attention: 2 MB fit in the cache of a core

# a slice of the M targets → the mask of the items that their softmax excludes, see `Batch.excluded_items`
ExcludedItems = Callable[[slice], Tensor]


def softmax_cross_entropy(
    hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, excluded: ExcludedItems | None = None
) -> Tensor:
    """Return `F.cross_entropy(hidden @ weight.T + bias, targets, reduction="sum")` without storing all M·I logits.

    The shapes are (M, D), (I, D), (I,) and (M,). `excluded` is `Batch.excluded_items`, or None if no item is excluded.
    A target itself is never excluded.
    """
    return _ChunkedSoftmax.apply(hidden, weight, bias, targets, excluded)


class _ChunkedSoftmax(torch.autograd.Function):
    """Computes loss and gradients in the forward pass, so each chunk is visited once.

    The gradient of the logits z is softmax(z) - onehot(target). Inside autocast, logits, probabilities and products
    are rounded to bf16 and summed in fp32. Sums have a fixed order, so a GPU repeats them exactly.
    """

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, excluded: ExcludedItems | None
    ) -> Tensor:
        kind = hidden.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else hidden.dtype
        chunk_rows = max(1, CHUNK_LOGITS[kind] // len(weight) // ROW_MULTIPLE) * ROW_MULTIPLE
        loss = bias.new_zeros(())
        d_hidden, d_weight, d_bias = torch.empty_like(hidden), torch.zeros_like(weight), torch.zeros_like(bias)
        with torch.autocast(kind, enabled=False):
            w, b = weight.to(dtype), bias.to(dtype)
            padded = F.pad(hidden.to(dtype), (0, 0, 0, -len(hidden) % ROW_MULTIPLE))
            for start in range(0, len(targets), chunk_rows):
                chunk = slice(start, start + chunk_rows)
                h, y = padded[chunk], targets[chunk]
                d_logits, log_likelihood = _softmax_gradient(h, w, b, y, excluded(chunk) if excluded else None)
                loss -= log_likelihood
                d_hidden[chunk] = (d_logits @ w)[: len(y)]
                d_weight += d_logits.T @ h
                d_bias += d_logits.sum(0, dtype=d_bias.dtype)
        ctx.save_for_backward(d_hidden, d_weight, d_bias)
        return loss

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        d_hidden, d_weight, d_bias = ctx.saved_tensors
        return d_hidden * grad, d_weight * grad, d_bias * grad, None, None


def _softmax_gradient(
    hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, excluded: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Return the gradient of a chunk's logits (rows, I), and the sum of the targets' log-probabilities, ().

    `hidden` (rows, D) may end with rows of padding, which have no target and no gradient.
    """
    z = torch.addmm(bias, hidden, weight.T)  # logits (rows, I)
    if excluded is not None:
        z[: len(excluded)].masked_fill_(excluded.scatter(1, targets[:, None], False), -torch.inf)
    p = torch.softmax(z, 1)
    log_total = z.amax(1).float() - p.amax(1).float().log()  # log Σ exp z, because log max p = max z - log Σ exp z
    target_cells = torch.arange(len(targets), device=targets.device), targets
    log_likelihood = z[target_cells].float() - log_total[: len(targets)]
    p[len(targets) :] = 0  # rows of padding
    p[target_cells] = log_likelihood.expm1().to(p.dtype)  # p - 1, accurate for p near 1
    return p, log_likelihood.sum()


def attention_with_bias(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, padding: Tensor | None) -> Tensor:
    """Return softmax(q kᵀ / √D + bias + padding) v, (B, H, Q, D), with a gradient for the bias, on a CPU.

    PyTorch's fused CPU kernel has no gradient for a bias. Its fallback stores all logits several times and takes twice
    as long for 128 sequences of 200 positions.

    Args:
        q: Queries, (B, H, Q, D). Each query needs at least one key without padding.
        k: Keys, (B, H, T, D).
        v: Values, (B, H, T, D).
        bias: Added to the logits, (B or 1, H, Q, T).
        padding: 0 or -∞ for each key, (B, 1, 1, T), without a gradient. None if no key is padding.
    """
    return _AttentionWithBias.apply(q, k, v, bias, padding)


class _AttentionWithBias(torch.autograd.Function):
    """Stores the attention weights P. The gradient of the logits S and of the bias is dS = P ⊙ (dP - rowsum(dO ⊙ O)).

    O is the output. Reference: Dao et al., FlashAttention, NeurIPS 2022, arXiv:2205.14135, appendix B.2.
    """

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, bias: Tensor, padding: Tensor | None) -> Tensor:
        ctx.scale = 1 / math.sqrt(q.shape[-1])
        # Contiguous, because each product would otherwise copy its chunk.
        q, k, v = (q * ctx.scale).contiguous(), k.contiguous(), v.contiguous()
        weights, output = q.new_empty(*q.shape[:-1], k.shape[-2]), torch.empty_like(q)
        for chunk in _chunks(weights):
            p = weights[chunk]  # a view, which holds the logits until the softmax
            torch.matmul(q[chunk], k[chunk].transpose(-1, -2), out=p)
            p += bias if len(bias) == 1 else bias[chunk]
            if padding is not None:
                p += padding[chunk]
            torch.softmax(p, -1, out=p)
            torch.matmul(p, v[chunk], out=output[chunk])
        ctx.save_for_backward(q, k, v, weights, output)
        ctx.shares_bias = len(bias) == 1
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_output: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, weights, output = ctx.saved_tensors
        d_output = d_output.contiguous()
        dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
        d_bias = torch.zeros_like(weights[:1]) if ctx.shares_bias else torch.empty_like(weights)
        row_sums = (d_output * output).sum(-1, keepdim=True)  # (B, H, Q, 1)
        for chunk in _chunks(weights):
            d_logits = d_output[chunk] @ v[chunk].transpose(-1, -2)  # dP at first, then dS
            d_logits -= row_sums[chunk]
            d_logits *= weights[chunk]
            if ctx.shares_bias:
                d_bias += d_logits.sum(0, keepdim=True)
            else:
                d_bias[chunk] = d_logits
            torch.matmul(d_logits, k[chunk], out=dq[chunk])
            torch.matmul(d_logits.transpose(-1, -2), q[chunk], out=dk[chunk])
            torch.matmul(weights[chunk].transpose(-1, -2), d_output[chunk], out=dv[chunk])
        return dq.mul_(ctx.scale), dk, dv, d_bias, None


def _chunks(weights: Tensor) -> list[slice]:
    """Return slices of the B sequences with about ATTENTION_CHUNK_LOGITS of the weights (B, H, Q, T) each."""
    size = max(1, ATTENTION_CHUNK_LOGITS // max(1, weights[0].numel())) if len(weights) else 1
    return [slice(start, start + size) for start in range(0, len(weights), size)]
