"""Losses over all items or over sampled items. Each is the sum over positions; the caller divides by their number.

Shapes: M positions with a loss, I items, D dimensions, K negatives. Scores are hidden (M, D) @ weight (I, D)ᵀ + bias
(I,). p is the distribution of the target given the history, q the distribution of the negatives.
"""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from recsys.config import check
from recsys.training.kernels import ROW_MULTIPLE, softmax_cross_entropy

MAX_NEGATIVES_PER_POSITION = 8  # gBCE draws negatives for each position up to this number: .079 for .036 on ML-100K
SAMPLING_POWER = 0.75  # of word2vec (arXiv:1310.4546), see `sampling_distribution`
BPR_MAX_PENALTY = 0.5  # λ of BPR-max


def sampling_distribution(counts: np.ndarray, power: float) -> np.ndarray:
    """Return q (I,), in proportion to (counts + 1)^power; 0 is uniform.

    word2vec (arXiv:1310.4546) has no + 1. Here an item without any view must be drawn as well.
    """
    q = (counts + 1.0) ** power
    return q / q.sum()


class Sampler:
    """Draw items from q (I,) with replacement, with torch's global generator of the device."""

    def __init__(self, q: np.ndarray) -> None:
        self.cumulative, self.log_q = torch.from_numpy(np.cumsum(q)), torch.from_numpy(np.log(q)).float()

    def __call__(self, n: int, device: torch.device) -> Tensor:
        """Return n items, (n,) int64."""
        self.cumulative, self.log_q = self.cumulative.to(device), self.log_q.to(device)
        uniform = torch.rand(n, dtype=torch.float64, device=device)
        return torch.searchsorted(self.cumulative, uniform).clamp(max=len(self.cumulative) - 1)


def gather_weights(
    weight: Tensor, bias: Tensor, targets: Tensor, negatives: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return weights (M, D) and biases (M,) of the targets, then weights (K, D) and biases (K,) of the negatives.

    One embedding look-up: unlike indexing, it sums gradients in a fixed order.
    """
    items, sizes = torch.cat([targets, negatives]), [len(targets), len(negatives)]
    w_target, w = F.embedding(items, weight).split(sizes)
    b_target, b = F.embedding(items, bias[:, None])[:, 0].split(sizes)
    return w_target, b_target, w, b


def scores_of(
    hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, negatives: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the scores of the targets (M,) and of the negatives (M, K), in fp32.

    All positions share the negatives if their shape is (K,). With shape (M, K) each position has its own.
    """
    w_target, b_target, w, b = gather_weights(weight, bias, targets, negatives.flatten())
    positive = (hidden * w_target).sum(1) + b_target
    if negatives.dim() == 1:
        padded = F.pad(hidden, (0, 0, 0, -len(hidden) % ROW_MULTIPLE))  # few shapes, see batches.WIDTH_MULTIPLE
        negative = (padded @ w.T)[: len(hidden)] + b
    else:
        w, b = w.view(*negatives.shape, hidden.shape[1]), b.view(negatives.shape)
        # On a GPU, PyTorch compiles the gradient of a batched product with Triton, which needs a C compiler.
        products = (w * hidden[:, None]).sum(-1) if w.is_cuda else (w @ hidden[:, :, None])[:, :, 0]
        negative = products + b
    return positive.float(), negative.float()


def sampled_softmax(
    hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, negatives: Tensor, log_q: Tensor
) -> Tensor:
    """Return the sum of the cross-entropies of the targets among K negatives, after subtracting log q from all scores.

    With this correction the scores of lowest loss are log p + constant for any K (Ma and Collins, arXiv:1809.01812).
    That requires two details: the target's score is corrected too, and a negative that equals the target stays. Without
    the correction the scores of lowest loss are log p - log q.

    Args:
        hidden: Hidden states, (M, D).
        weight: Output weights, (I, D).
        bias: Output biases, (I,).
        targets: Items to predict, (M,) int64.
        negatives: Items drawn from q, (K,) or (M, K) int64, see `scores_of`.
        log_q: Log-probability of drawing each item, (I,).

    Reference: Bengio and Senécal (2008); Yi et al., RecSys 2019.
    """
    positive, negative = scores_of(hidden, weight, bias, targets, negatives)
    positive, negative = positive - log_q[targets], negative - log_q[negatives]
    return (torch.cat([positive[:, None], negative], 1).logsumexp(1) - positive).sum()


def gbce(
    hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, negatives: Tensor, n_items: int, t: float
) -> Tensor:
    """Return the sum of gSASRec's generalised binary cross-entropies (arXiv:2308.07192).

    `negatives`, (K,) or (M, K), are uniform. A negative that equals the target is ignored. With t = 1, the sigmoid of a
    score is p. With t = 0, plain binary cross-entropy, it is p / (p + α (1 - p)), which is too high.
    """
    positive, negative = scores_of(hidden, weight, bias, targets, negatives)
    alpha = negatives.shape[-1] / max(1, n_items - 1)  # gBCE's sampling rate α
    beta = alpha * (t * (1 - 1 / alpha) + 1 / alpha)  # gBCE's β
    negative = negative.masked_fill(negatives == targets[:, None], -torch.inf)
    return -beta * F.logsigmoid(positive).sum() - F.logsigmoid(-negative).sum()  # log(1 - σ(s)) = log σ(-s)


# Arguments of the pairwise losses: r⁺ (M, 1) are the scores of the targets, r⁻ (M, K) the scores of the negatives.
# `is_negative` (M, K) is False where a negative equals the target.


def bpr(positive: Tensor, negative: Tensor, is_negative: Tensor) -> Tensor:
    """Return -log σ(r⁺ - r⁻), the mean over negatives (Rendle et al., arXiv:1205.2618)."""
    return _mean_over_negatives(-F.logsigmoid(positive - negative), is_negative)


def top1(positive: Tensor, negative: Tensor, is_negative: Tensor) -> Tensor:
    """Return σ(r⁻ - r⁺) + σ((r⁻)²), the mean over negatives (GRU4Rec, arXiv:1511.06939, section 3.1.3)."""
    return _mean_over_negatives(torch.sigmoid(negative - positive) + torch.sigmoid(negative.square()), is_negative)


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


def _mean_over_negatives(loss: Tensor, is_negative: Tensor) -> Tensor:
    """Return the sum over positions of the mean over K, where a negative that equals the target adds 0.

    It still counts in K. Otherwise a popular target, which is drawn more often, would weigh more.
    """
    return (loss * is_negative).mean(1).sum()


PAIRWISE = {"bpr": bpr, "top1": top1, "bpr-max": bpr_max, "top1-max": top1_max}
LossName = Literal["softmax", "sampled-softmax", "gbce", "bce", "bpr", "top1", "bpr-max", "top1-max"]

Loss = Callable[..., Tensor]  # hidden, weight, bias, targets and, for the softmax, ExcludedItems → the sum, ()


def item_loss(
    name: str, negatives: int, gbce_t: float, counts: np.ndarray, sampling_power: float = SAMPLING_POWER
) -> Loss:
    """Return the loss with this name. A sampled loss draws new negatives in each call.

    Args:
        name: One of `LossName`. "bce" is gBCE with t = 0 and without the shift by log I.
        negatives: Number of negatives per call; up to MAX_NEGATIVES_PER_POSITION of gBCE and BCE, per position.
        gbce_t: t of gBCE.
        counts: How often each item occurs in the training data, (I,).
        sampling_power: Exponent of `sampling_distribution`. gBCE and BCE draw uniformly.

    Raises:
        ConfigError: If there is no such loss.
    """
    check(LossName, loss=name)
    sampler = Sampler(sampling_distribution(counts, sampling_power))

    def sampled_softmax_loss(hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        drawn = sampler(negatives, hidden.device)
        return sampled_softmax(hidden, weight, bias, targets, drawn, sampler.log_q)

    def gbce_loss(hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        n_items = len(weight)
        k = max(1, min(negatives, n_items - 1))  # with more, the sampling rate α would be above 1
        shape = (len(targets), k) if k <= MAX_NEGATIVES_PER_POSITION else (k,)
        drawn = torch.randint(n_items, shape, device=hidden.device)
        # Unlike in the paper, a score of 0 means a probability of about 1 / I. Biases start at 0 and would otherwise
        # spend the whole training on their way down.
        shift, t = (0.0, 0.0) if name == "bce" else (math.log(n_items), gbce_t)
        return gbce(hidden, weight, bias - shift, targets, drawn, n_items, t)

    def pairwise_loss(hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        drawn = sampler(negatives, hidden.device)
        positive, negative = scores_of(hidden, weight, bias, targets, drawn)
        return PAIRWISE[name](positive[:, None], negative, drawn != targets[:, None])

    losses = {"softmax": softmax_cross_entropy, "sampled-softmax": sampled_softmax_loss}
    return losses.get(name, pairwise_loss if name in PAIRWISE else gbce_loss)
