"""Films drawn beside the targets, and the weights that both their scores need: what all sampled losses share.

Shapes: M positions with a loss, N films drawn, I items, D dimensions.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor


def by_popularity(counts: np.ndarray, power: float) -> np.ndarray:
    """q (I,): how likely each film is to be drawn, by how often it is in the training data (I,) to a power."""
    q = (counts + 1.0) ** power  # + 1: a film that nobody trains on is to be pushed down too
    return q / q.sum()


class Drawing:
    """Draws films from q (I,), each time anew, by torch's global generator of the device."""

    def __init__(self, q: np.ndarray) -> None:
        self.cumulative = torch.from_numpy(np.cumsum(q))

    def __call__(self, n: int, device: torch.device) -> Tensor:
        """(n,) items, some perhaps more than once."""
        self.cumulative = self.cumulative.to(device)
        places = torch.rand(n, dtype=torch.float64, device=device)
        return torch.searchsorted(self.cumulative, places).clamp(max=len(self.cumulative) - 1)


def fetch(weight: Tensor, bias: Tensor, targets: Tensor, drawn: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Weights (M, D) and biases (M,) of the targets, then those of the films drawn, (N, D) and (N,), in one fetch.

    From weight (I, D) and bias (I,). A table look-up, unlike indexing, adds gradients up in a fixed order.
    """
    films, sizes = torch.cat([targets, drawn]), [len(targets), len(drawn)]
    w_target, w = F.embedding(films, weight).split(sizes)
    b_target, b = F.embedding(films, bias[:, None])[:, 0].split(sizes)
    return w_target, b_target, w, b
