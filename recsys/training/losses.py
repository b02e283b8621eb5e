"""Losses over all items, exact or sampled: each is the sum over its positions, which the caller divides.

Shapes: M positions with a loss, I items, D dimensions, K negatives. The scores are hidden (M, D) @ weight (I, D)ᵀ +
bias (I,). Below, p is the true distribution of a position's target, q the one that negatives are drawn from.
"""

import math
from collections.abc import Callable
from itertools import count
from typing import Any, Literal, get_args

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from recsys.config import check
from recsys.training.batches import Seen
from recsys.training.negatives import Sampler, fetch, sampling_distribution
from recsys.training.pairwise import PAIRWISE, Pairwise

LossName = Literal["softmax", "sampled-softmax", "gbce", "bce", "bpr", "top1", "bpr-max"]
LOSSES = get_args(LossName)
Loss = Callable[..., Tensor]  # hidden, weight, bias, targets and, for the softmax, Seen → the sum, ()

CHUNK_LOGITS = {"cpu": 1 << 20, "cuda": 1 << 28}  # at a time: what fits a core's cache; what keeps a GPU busy
ROWS = 32  # chunks are multiples of it: smaller ones would spend their time on loading weights; see also batches.STEP
OWN_NEGATIVES = 8  # up to this many, each position of gBCE has its own: NDCG@10 .079 instead of .036 on ML-100K for 8
SAMPLING_POWER = 0.75  # of word2vec (arXiv:1310.4546), see `sampling_distribution`


class _ChunkedSoftmax(torch.autograd.Function):
    """Exact softmax cross-entropy whose logits exist for a chunk of positions at a time.

    The gradient, softmax(z) minus one at the target, is computed in the forward pass, while a chunk's logits are in the
    cache. Inside autocast logits, probabilities and products are rounded to its type, bf16, and summed in fp32; outside
    nothing is rounded. Sums are taken in a fixed order, so that a GPU repeats them exactly.
    """

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, seen: Seen | None = None
    ) -> Tensor:
        """Sum of the losses, ()."""
        kind = hidden.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else hidden.dtype
        rows = max(1, CHUNK_LOGITS[kind] // len(weight) // ROWS) * ROWS
        loss = bias.new_zeros(())
        d_hidden, d_weight, d_bias = torch.empty_like(hidden), torch.zeros_like(weight), torch.zeros_like(bias)
        with torch.autocast(kind, enabled=False):
            w, b = weight.to(dtype), bias.to(dtype)
            filled = F.pad(hidden.to(dtype), (0, 0, 0, -len(hidden) % ROWS))
            chunks = zip(filled.split(rows), targets.split(rows), d_hidden.split(rows), strict=True)
            for start, (h, y, d_h) in zip(count(step=rows), chunks, strict=False):
                p, log_likelihood = _softmax(h, w, b, y, None if seen is None else seen[start : start + rows])
                loss -= log_likelihood
                d_h.copy_((p @ w)[: len(d_h)])
                d_weight += p.T @ h
                d_bias += p.sum(0, dtype=d_bias.dtype)
        ctx.save_for_backward(d_hidden, d_weight, d_bias)
        return loss

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        """Scale the gradients of the forward pass."""
        d_hidden, d_weight, d_bias = ctx.saved_tensors
        return d_hidden * grad, d_weight * grad, d_bias * grad, None, None


def _softmax(
    hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, seen: Tensor | None
) -> tuple[Tensor, Tensor]:
    """softmax(z) minus one at the targets, (chunk, I), and the sum of the targets' log-probabilities, ().

    seen: True (chunk without padding, I) where an item has no part in it; a target always has.
    """
    z = torch.addmm(bias, hidden, weight.T)  # (chunk, I)
    if seen is not None:
        z[: len(seen)].masked_fill_(seen.scatter(1, targets[:, None], False), -torch.inf)
    p = torch.softmax(z, 1)
    log_total = z.amax(1).float() - p.amax(1).float().log()  # log Σ exp z: at the highest z, log p = z - log Σ exp z
    at = torch.arange(len(targets), device=targets.device), targets
    log_likelihood = z[at].float() - log_total[: len(targets)]
    p[len(targets) :] = 0  # rows of padding
    p[at] = log_likelihood.expm1().to(p.dtype)
    return p, log_likelihood.sum()


def softmax_cross_entropy(
    hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, seen: Seen | None = None
) -> Tensor:
    """Sum of the cross-entropies of `targets` (M,) under the softmax of all scores, exactly; ().

    With `seen`, under that of the scores of what has not been seen yet and of the target.
    """
    return _ChunkedSoftmax.apply(hidden, weight, bias, targets, seen)


def sampled_softmax(
    hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, negatives: Tensor, log_q: Tensor
) -> Tensor:
    """Sum of the cross-entropies of `targets` (M,) among K negatives drawn from q, all scores minus their log q (I,).

    `negatives` are shared by the positions, (K,), or each has its own, (M, K). The correction is that of Bengio and
    Senécal (2008) and Yi et al. (RecSys 2019). Its form matters: the target's score is corrected like the others, and a
    negative that happens to be the target stays. Of K + 1 items in random order, one from p and the others from q, item
    c is the one from p with a probability proportional to p(c) / q(c); so the scores of lowest loss are log p +
    constant exactly, for any K (Ma and Collins, arXiv:1809.01812). If such negatives were dropped, the scores of
    popular targets would come out too high, the more so the larger K q is; if only the negatives were corrected, by
    log(K q), the scores would be right for infinite K alone.

    Without any correction the scores of lowest loss are log p - log q. With q close to popularity (items of the same
    batch, draws by popularity) that takes popularity out of the scores; with uniform q it does not.
    """
    positive, negative = _chosen_scores(hidden, weight, bias, targets, negatives)
    positive, negative = positive - log_q[targets], negative - log_q[negatives]
    return (torch.cat([positive[:, None], negative], 1).logsumexp(1) - positive).sum()


def gbce(
    hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, negatives: Tensor, n_items: int, t: float
) -> Tensor:
    """Sum of gSASRec's generalised binary cross-entropies of `targets` (M,) against K negatives (arXiv:2308.07192).

    `negatives` are uniform, shared by the positions, (K,), or each has its own, (M, K); one that happens to be the
    target does not count. Trained with t = 1, the sigmoid of a score is the item's probability p. With t = 0, plain
    binary cross-entropy, it is p / (p + α (1 - p)), which overestimates p, more so with fewer negatives.
    """
    positive, negative = _chosen_scores(hidden, weight, bias, targets, negatives)
    alpha = negatives.shape[-1] / (n_items - 1)  # gBCE's sampling rate α
    beta = alpha * (t * (1 - 1 / alpha) + 1 / alpha)  # gBCE's β
    negative = negative.masked_fill(negatives == targets[:, None], -torch.inf)
    return -beta * F.logsigmoid(positive).sum() - F.logsigmoid(-negative).sum()  # log(1 - σ(s)) = log σ(-s)


def _chosen_scores(
    hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, negatives: Tensor
) -> tuple[Tensor, Tensor]:
    """Scores of the targets, (M,), and of the negatives, (M, K), in fp32, from one look-up of their weights."""
    w_target, b_target, w, b = fetch(weight, bias, targets, negatives.flatten())
    positive = (hidden * w_target).sum(1) + b_target
    if negatives.dim() == 1:
        filled = F.pad(hidden, (0, 0, 0, -len(hidden) % ROWS))  # few shapes, see batches.STEP
        negative = (filled @ w.T)[: len(hidden)] + b
    else:
        negative = (w.view(*negatives.shape, hidden.shape[1]) @ hidden[:, :, None])[:, :, 0] + b.view(negatives.shape)
    return positive.float(), negative.float()


def item_loss(
    name: str, negatives: int, gbce_t: float, counts: np.ndarray, sampling_power: float = SAMPLING_POWER
) -> Loss:
    """The loss of LOSSES called `name`; a sampled one draws `negatives` items anew at each call.

    It draws by torch's global generator of the device that `hidden` is on. gBCE draws uniformly, `gbce_t` is its t; so
    does BCE, which is gBCE with t = 0, but takes nothing off the scores. The others draw in proportion to (counts +
    1)^sampling_power, where `counts` (I,) is how often each item is in the training data. Raises ConfigError for
    another name.
    """
    check(LossName, loss=name)
    if name == "softmax":
        return softmax_cross_entropy
    if name == "sampled-softmax":
        return _SampledSoftmax(negatives, counts, sampling_power)
    if name in PAIRWISE:
        return Pairwise(name, negatives, counts, sampling_power)
    return _GBCE(negatives, 0.0, shifted=False) if name == "bce" else _GBCE(negatives, gbce_t)


class _SampledSoftmax:
    """Sampled softmax against negatives drawn in proportion to (counts + 1)^sampling_power, shared by the batch."""

    def __init__(self, negatives: int, counts: np.ndarray, sampling_power: float) -> None:
        q = sampling_distribution(counts, sampling_power)
        self.negatives, self.sampler = negatives, Sampler(q)
        self.log_q = torch.from_numpy(np.log(q)).float()

    def __call__(self, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        """Sum of the losses, ()."""
        self.log_q = self.log_q.to(hidden.device)
        negatives = self.sampler(self.negatives, hidden.device)
        return sampled_softmax(hidden, weight, bias, targets, negatives, self.log_q)


class _GBCE:
    """gBCE against uniform negatives: a few of its own for each position, or many that the batch shares.

    Unlike the paper, log I is subtracted from all scores where they are `shifted`, so that one of 0 means a probability
    of about 1 / I: biases start at 0, and would otherwise spend the whole training on their way down.
    """

    def __init__(self, negatives: int, gbce_t: float, shifted: bool = True) -> None:
        self.negatives, self.gbce_t, self.shifted = negatives, gbce_t, shifted

    def __call__(self, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        """Sum of the losses, ()."""
        n_items = len(weight)
        shape = (len(targets), self.negatives) if self.negatives <= OWN_NEGATIVES else (self.negatives,)
        negatives = torch.randint(n_items, shape, device=hidden.device)
        shift = math.log(n_items) if self.shifted else 0.0
        return gbce(hidden, weight, bias - shift, targets, negatives, n_items, self.gbce_t)
