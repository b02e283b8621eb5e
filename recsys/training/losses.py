"""Losses over all items or over sampled negatives. Each loss is the sum over the M targets, a scalar ().

Shapes: M targets, I items, D dimensions, K negatives. A loss takes the hidden state before each target (M, D), the
output weights (I, D) and biases (I,), and the targets (M,) int64. A pairwise loss takes scores instead. The score of an
item is hidden · weight + bias: r⁺ of the target, r⁻ of a negative. Negatives have the shape (K,) if all targets share
them, else (M, K).
"""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from recsys.training.kernels import ROW_MULTIPLE, softmax_cross_entropy

# Up to this number of negatives, gBCE draws them for each target, else for all targets at once. With 8 on ML-100K,
# NDCG@10 was .079 with negatives per target and .036 with shared ones (docs/experiments.md).
MAX_NEGATIVES_PER_TARGET = 8
BPR_MAX_PENALTY = 0.5  # λ of BPR-max


def sampling_distribution(counts: np.ndarray, power: float) -> np.ndarray:
    """Return q (I,), the probability of each item as a negative, in proportion to (counts + 1)^power."""
    q = (counts + 1.0) ** power  # word2vec (arXiv:1310.4546) has no + 1, so it never draws items without interactions
    return q / q.sum()


class Sampler:
    """Draws items from q (I,) with replacement, by torch's global random generator of the device."""

    def __init__(self, q: np.ndarray) -> None:
        self.cumulative = torch.from_numpy(np.cumsum(q))
        self.log_q = torch.from_numpy(np.log(q)).float()

    def __call__(self, n: int, device: torch.device) -> Tensor:
        """Return n items, (n,) int64, and move `log_q` to the device."""
        self.cumulative, self.log_q = self.cumulative.to(device), self.log_q.to(device)
        uniform = torch.rand(n, dtype=torch.float64, device=device)
        return torch.searchsorted(self.cumulative, uniform).clamp(max=len(self.cumulative) - 1)


def compute_scores(
    hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, negatives: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the scores of the targets (M,) and of the negatives (M, K), in fp32."""
    items, sizes = torch.cat([targets, negatives.flatten()]), [len(targets), negatives.numel()]
    # Unlike indexing, an embedding look-up sums gradients in a fixed order on a GPU.
    w_target, w = F.embedding(items, weight).split(sizes)  # w, b: of the negatives
    b_target, b = F.embedding(items, bias[:, None])[:, 0].split(sizes)
    positive = (hidden * w_target).sum(1) + b_target
    if negatives.dim() == 1:
        # Some kernels are compiled once per shape, so the number of rows is rounded up.
        padded = F.pad(hidden, (0, 0, 0, -len(hidden) % ROW_MULTIPLE))
        negative = (padded @ w.T)[: len(hidden)] + b
    else:
        w, b = w.view(*negatives.shape, hidden.shape[1]), b.view(negatives.shape)
        # On a GPU, torch compiles the gradient of a batched product with Triton, which needs a C compiler.
        products = (w * hidden[:, None]).sum(-1) if w.is_cuda else (w @ hidden[:, :, None])[:, :, 0]
        negative = products + b
    return positive.float(), negative.float()


def sampled_softmax(
    hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, negatives: Tensor, log_q: Tensor
) -> Tensor:
    """Return -log(exp z⁺ / (exp z⁺ + Σ exp z⁻)) where z = r - log q and q (I,) is the sampling distribution.

    For any K, the loss is lowest where the scores are log p + constant, if p are the probabilities of the targets.
    Without the correction by log q it is lowest at log p - log q. The target's score is corrected too, and a negative
    that equals the target stays.

    Reference: Bengio and Senécal (2008); Ma and Collins, arXiv:1809.01812; Yi et al., RecSys 2019.
    """
    positive, negative = compute_scores(hidden, weight, bias, targets, negatives)
    positive, negative = positive - log_q[targets], negative - log_q[negatives]
    return (torch.cat([positive[:, None], negative], 1).logsumexp(1) - positive).sum()


def gbce(hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, negatives: Tensor, t: float) -> Tensor:
    """Return gSASRec's generalised binary cross-entropy, -β log σ(r⁺) - Σ log(1 - σ(r⁻)), with uniform negatives.

    α = K / (I - 1) and β = α (t (1 - 1/α) + 1/α). A negative that equals the target is ignored. With t = 1, the loss is
    lowest where σ(score) is the probability p of an item. With t = 0, plain binary cross-entropy, it is lowest at
    p / (p + α (1 - p)), which is too high.

    Reference: Petrov and Macdonald, RecSys 2023, arXiv:2308.07192.
    """
    positive, negative = compute_scores(hidden, weight, bias, targets, negatives)
    alpha = negatives.shape[-1] / max(1, len(weight) - 1)
    beta = alpha * (t * (1 - 1 / alpha) + 1 / alpha)
    negative = negative.masked_fill(negatives == targets[:, None], -torch.inf)
    return -beta * F.logsigmoid(positive).sum() - F.logsigmoid(-negative).sum()  # log(1 - σ(s)) = log σ(-s)


# Pairwise losses take r⁺ (M, 1) and r⁻ (M, K). `is_negative` (M, K) is False where a drawn item equals the target. Such
# an item adds 0. The mean still divides by K, or the other negatives of a target that is drawn would weigh more.


def bpr(positive: Tensor, negative: Tensor, is_negative: Tensor) -> Tensor:
    """Return the mean over K of -log σ(r⁺ - r⁻) (Rendle et al., arXiv:1205.2618)."""
    return (-F.logsigmoid(positive - negative) * is_negative).mean(1).sum()


def top1(positive: Tensor, negative: Tensor, is_negative: Tensor) -> Tensor:
    """Return the mean over K of σ(r⁻ - r⁺) + σ((r⁻)²) (GRU4Rec, arXiv:1511.06939, section 3.1.3)."""
    loss = torch.sigmoid(negative - positive) + torch.sigmoid(negative.square())
    return (loss * is_negative).mean(1).sum()


def bpr_max(positive: Tensor, negative: Tensor, is_negative: Tensor) -> Tensor:
    """Return -log Σ s σ(r⁺ - r⁻) + λ Σ s (r⁻)², where s is the softmax of r⁻ (arXiv:1706.03847, section 3.3)."""
    log_s = torch.log_softmax(negative.masked_fill(~is_negative, torch.finfo(negative.dtype).min), 1)
    likelihood = torch.logsumexp(log_s + F.logsigmoid(positive - negative), 1)
    penalty = (log_s.exp() * negative.square()).sum(1)
    return ((BPR_MAX_PENALTY * penalty - likelihood) * is_negative.any(1)).sum()


def top1_max(positive: Tensor, negative: Tensor, is_negative: Tensor) -> Tensor:
    """Return Σ s (σ(r⁻ - r⁺) + σ((r⁻)²)), where s is the softmax of r⁻ (arXiv:1706.03847, section 3.3)."""
    s = torch.softmax(negative.masked_fill(~is_negative, torch.finfo(negative.dtype).min), 1)
    loss = torch.sigmoid(negative - positive) + torch.sigmoid(negative.square())
    return ((s * loss).sum(1) * is_negative.any(1)).sum()


PAIRWISE = {"bpr": bpr, "top1": top1, "bpr-max": bpr_max, "top1-max": top1_max}
LossName = Literal["softmax", "sampled-softmax", "gbce", "bce", "bpr", "top1", "bpr-max", "top1-max"]

# (hidden, weight, bias, targets) → loss (); the softmax accepts `Batch.excluded_items` as a fifth argument
Loss = Callable[..., Tensor]


def make_item_loss(
    name: LossName, negatives: int, gbce_t: float, counts: np.ndarray, sampling_power: float = 0.75
) -> Loss:
    """Return the loss with this name. A sampled loss draws new negatives in each call.

    Args:
        name: The name. "gbce" is gBCE of the scores minus log I. "bce" is gBCE with t = 0 of the scores themselves.
        negatives: K, the number of negatives of a sampled loss. All targets of a call share them. Only gBCE and BCE
            draw K for each target, if K is at most MAX_NEGATIVES_PER_TARGET.
        gbce_t: The t of gBCE.
        counts: The number of interactions of each item in the training data, (I,).
        sampling_power: The exponent of `sampling_distribution`. gBCE and BCE draw uniformly.
    """
    sampler = Sampler(sampling_distribution(counts, sampling_power))

    def sampled_loss(hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        n_items = len(weight)
        if name in ("gbce", "bce"):
            k = max(1, min(negatives, n_items - 1))  # a larger k would make the sampling rate α exceed 1
            shape = (len(targets), k) if k <= MAX_NEGATIVES_PER_TARGET else (k,)
            drawn = torch.randint(n_items, shape, device=hidden.device)
            if name == "bce":
                return gbce(hidden, weight, bias, targets, drawn, t=0.0)
            # With - log I, which the paper does not have, a score of 0 means a probability of about 1 / I. Otherwise
            # all biases, which start at 0, would fall during the whole training.
            return gbce(hidden, weight, bias - math.log(n_items), targets, drawn, gbce_t)
        drawn = sampler(negatives, hidden.device)
        if name == "sampled-softmax":
            return sampled_softmax(hidden, weight, bias, targets, drawn, sampler.log_q)
        positive, negative = compute_scores(hidden, weight, bias, targets, drawn)
        return PAIRWISE[name](positive[:, None], negative, drawn != targets[:, None])

    return softmax_cross_entropy if name == "softmax" else sampled_loss
