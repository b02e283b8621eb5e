"""Losses that compare the target with negatives: BPR, TOP1, BPR-max and TOP1-max; each is the sum over its positions.

Shapes: M positions with a loss, K negatives, I items, D dimensions. r⁺ (M, 1) is the target's score, r⁻ (M, K) are
those of the items drawn, and `valid` (M, K) is False where an item drawn happens to be the target: it is no negative
there.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from recsys.training.negatives import Sampler, fetch, sampling_distribution

CHUNK_SCORES = {"cpu": 1 << 18, "cuda": 1 << 25}  # r⁻ at a time: on a CPU, ten arrays of them fit a core's cache
PENALTY = 0.5  # BPR-max's λ


def bpr(positive: Tensor, negative: Tensor, valid: Tensor) -> Tensor:
    """-log σ(r⁺ - r⁻), the mean over negatives (Rendle et al., arXiv:1205.2618)."""
    return _mean(-F.logsigmoid(positive - negative), valid)


def top1(positive: Tensor, negative: Tensor, valid: Tensor) -> Tensor:
    """σ(r⁻ - r⁺) + σ((r⁻)²), the mean over negatives (GRU4Rec, arXiv:1511.06939, section 3.1.3)."""
    return _mean(torch.sigmoid(negative - positive) + torch.sigmoid(negative.square()), valid)


def bpr_max(positive: Tensor, negative: Tensor, valid: Tensor) -> Tensor:
    """-log Σ s σ(r⁺ - r⁻) + λ Σ s (r⁻)², with s the softmax of the negatives' scores (arXiv:1706.03847, section 3.3).

    Its gradient falls mostly on negatives with high scores, so that many negatives do not dilute it.
    """
    log_s = torch.log_softmax(negative.masked_fill(~valid, torch.finfo(negative.dtype).min), 1)
    likelihood = torch.logsumexp(log_s + F.logsigmoid(positive - negative), 1)
    penalty = (log_s.exp() * negative.square()).sum(1)
    return ((PENALTY * penalty - likelihood) * valid.any(1)).sum()


def top1_max(positive: Tensor, negative: Tensor, valid: Tensor) -> Tensor:
    """Σ s (σ(r⁻ - r⁺) + σ((r⁻)²)), with s the softmax of the negatives' scores (arXiv:1706.03847, section 3.3)."""
    s = torch.softmax(negative.masked_fill(~valid, torch.finfo(negative.dtype).min), 1)
    loss = torch.sigmoid(negative - positive) + torch.sigmoid(negative.square())
    return ((s * loss).sum(1) * valid.any(1)).sum()


def _mean(loss: Tensor, valid: Tensor) -> Tensor:
    """The sum over positions of the mean over K; an invalid negative adds 0, but is among the K.

    A mean over the valid ones alone would give the pairs of a popular target more weight, because more of the items
    drawn for it are the target itself.
    """
    return (loss * valid).mean(1).sum()


PAIRWISE: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "bpr": bpr,
    "top1": top1,
    "bpr-max": bpr_max,
    "top1-max": top1_max,
}


class _Chunked(torch.autograd.Function):
    """A loss of PAIRWISE whose scores exist for a chunk of positions at a time.

    As in the chunked softmax of `losses`, the gradient is computed in the forward pass, and inside autocast the
    products are rounded to its type, bf16; the losses themselves are always computed in fp32.
    """

    @staticmethod
    def forward(
        ctx: Any,
        name: str,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor,
        positive: Tensor,
        targets: Tensor,
        negatives: Tensor,
    ) -> Tensor:
        """hidden (M, D), weights (K, D) and biases (K,) of the `negatives` (K,), r⁺ (M, 1) → the sum, ()."""
        kind = hidden.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else hidden.dtype
        rows = max(1, CHUNK_SCORES[kind] // len(weight))
        grads = [torch.zeros_like(x) for x in (hidden, weight, bias, positive)]
        d_hidden, d_weight, d_bias, d_positive = grads
        loss = positive.new_zeros(())
        with torch.autocast(kind, enabled=False):
            w = weight.to(dtype)
            for start in range(0, len(hidden), rows):
                at = slice(start, start + rows)
                h = hidden[at].to(dtype)
                negative = (h @ w.T).float() + bias  # (chunk, K)
                valid = negatives != targets[at, None]
                value, d_positive[at], d_r = _gradients(name, positive[at], negative, valid)
                loss += value
                d_bias += d_r.sum(0)
                d_r = d_r.to(dtype)
                d_hidden[at] = d_r @ w
                d_weight += d_r.T @ h
        ctx.save_for_backward(*grads)
        return loss

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        """Scale the gradients of the forward pass."""
        return None, *(gradient * grad for gradient in ctx.saved_tensors), None, None


def _gradients(name: str, positive: Tensor, negative: Tensor, valid: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """A chunk's loss, (), and its gradients with respect to r⁺ and r⁻."""
    with torch.enable_grad():
        leaves = [score.detach().requires_grad_() for score in (positive, negative)]
        loss = PAIRWISE[name](leaves[0], leaves[1], valid)
        d_positive, d_negative = torch.autograd.grad(loss, leaves)
    return loss.detach(), d_positive, d_negative


class Pairwise:
    """A loss of PAIRWISE against negatives drawn anew at each call, in proportion to (counts (I,) + 1)^sampling_power.

    The batch shares its negatives. Nothing corrects for the sampling: the scores of lowest BPR are log p - log q, with
    p the probability that an item is the target and q that it is drawn, so a higher power favours popular items less.
    """

    def __init__(self, name: str, negatives: int, counts: np.ndarray, sampling_power: float) -> None:
        self.name, self.negatives = name, negatives
        self.sampler = Sampler(sampling_distribution(counts, sampling_power))

    def __call__(self, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        """Sum of the losses, ()."""
        negatives = self.sampler(self.negatives, hidden.device)
        w_target, b_target, w, b = fetch(weight, bias, targets, negatives)
        positive = ((hidden * w_target).sum(1) + b_target)[:, None]  # (M, 1)
        return _Chunked.apply(self.name, hidden, w, b, positive, targets, negatives)
