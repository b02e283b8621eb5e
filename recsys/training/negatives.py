"""Negatives, and the weights that scores of targets and negatives need: what all sampled losses share.

Shapes: M positions with a loss, K negatives, I items, D dimensions.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor


def sampling_distribution(counts: np.ndarray, power: float) -> np.ndarray:
    """q (I,): the probability that a negative is item i, in proportion to (its count in the training data + 1)^power.

    As in word2vec (arXiv:1310.4546) but for the + 1: an item without any count must be pushed down too. Power 0 is
    uniform.
    """
    q = (counts + 1.0) ** power
    return q / q.sum()


class Sampler:
    """Draws items from q (I,) with replacement, by torch's global generator of the device."""

    def __init__(self, q: np.ndarray) -> None:
        self.cumulative = torch.from_numpy(np.cumsum(q))

    def __call__(self, n: int, device: torch.device) -> Tensor:
        """(n,) int64 items."""
        self.cumulative = self.cumulative.to(device)
        uniform = torch.rand(n, dtype=torch.float64, device=device)
        return torch.searchsorted(self.cumulative, uniform).clamp(max=len(self.cumulative) - 1)


def fetch(weight: Tensor, bias: Tensor, targets: Tensor, negatives: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Weights (M, D) and biases (M,) of the targets, then those of the negatives, (K, D) and (K,), in one look-up.

    From weight (I, D) and bias (I,). An embedding look-up, unlike indexing, adds gradients up in a fixed order.
    """
    items, sizes = torch.cat([targets, negatives]), [len(targets), len(negatives)]
    w_target, w = F.embedding(items, weight).split(sizes)
    b_target, b = F.embedding(items, bias[:, None])[:, 0].split(sizes)
    return w_target, b_target, w, b
