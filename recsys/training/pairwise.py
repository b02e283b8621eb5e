"""Losses that compare the target with drawn films: BPR, TOP1 and BPR-max; each is the sum over its positions.

Shapes: M positions with a loss, K negatives, I items, D dimensions. r⁺ (M, 1) is a target's score, r⁻ (M, K) those of
the films drawn.
"""

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor


def bpr(positive: Tensor, negative: Tensor) -> Tensor:
    """-log σ(r⁺ - r⁻), the mean over negatives (Rendle et al., arXiv:1205.2618)."""
    return -F.logsigmoid(positive - negative).mean(1).sum()


def top1(positive: Tensor, negative: Tensor) -> Tensor:
    """σ(r⁻ - r⁺) + σ(r⁻²), the mean over negatives (GRU4Rec, arXiv:1511.06939, section 3.1.3)."""
    return (torch.sigmoid(negative - positive) + torch.sigmoid(negative.square())).mean(1).sum()


def bpr_max(positive: Tensor, negative: Tensor, penalty: float = 1.0) -> Tensor:
    """-log Σ s σ(r⁺ - r⁻) + λ Σ s (r⁻)², with s the softmax of the negatives' scores (arXiv:1706.03847, eq. 12)."""
    log_s = torch.log_softmax(negative, 1)
    likelihood = torch.logsumexp(log_s + F.logsigmoid(positive - negative), 1)
    return (penalty * (log_s.exp() * negative.square()).sum(1) - likelihood).sum()


PAIRWISE: dict[str, Callable[[Tensor, Tensor], Tensor]] = {"bpr": bpr, "top1": top1, "bpr-max": bpr_max}


class Pairwise:
    """A loss of PAIRWISE against films drawn anew at each call, by popularity to a power, 0 for uniformly.

    The films are shared by the batch; one that happens to be a position's target does not count there.
    """

    def __init__(self, name: str, negatives: int, counts: np.ndarray, power: float) -> None:
        self.loss, self.negatives = PAIRWISE[name], negatives
        q = (counts + 1.0) ** power
        self.cumulative = torch.from_numpy(np.cumsum(q / q.sum()))

    def __call__(self, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        """Sum of the losses, ()."""
        self.cumulative = self.cumulative.to(hidden.device)
        draws = torch.rand(self.negatives, dtype=torch.float64, device=hidden.device)
        drawn = torch.searchsorted(self.cumulative, draws).clamp(max=len(weight) - 1)
        films = torch.cat([targets, drawn])
        w_target, w = F.embedding(films, weight).split([len(targets), len(drawn)])
        b_target, b = F.embedding(films, bias[:, None])[:, 0].split([len(targets), len(drawn)])
        positive = ((hidden * w_target).sum(1) + b_target).float()[:, None]  # (M, 1)
        negative = (hidden @ w.T + b).float()  # (M, K)
        return self.loss(positive, negative.masked_fill(drawn == targets[:, None], -1e4))
