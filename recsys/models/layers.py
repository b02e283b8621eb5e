"""Small layers that the neural recommenders share.

Shapes: B sequences, T positions, Q positions per sequence, D dimensions.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Dropout(nn.Module):
    """Dropout that draws one random number per eight values: on a CPU, one per value costs ten times as much.

    The rate is rounded to a 256th.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.zeroed = round(256 * rate)  # of the 256 values of a byte

    def forward(self, x: Tensor) -> Tensor:
        """Any shape; the identity outside training."""
        if not (self.training and self.zeroed):
            return x
        if x.is_cuda:
            return F.dropout(x, self.zeroed / 256)
        words = torch.empty((x.numel() + 7) // 8, dtype=torch.int64).random_(-(2**63), None)  # all 64 bits random
        kept = words.view(torch.uint8)[: x.numel()].view_as(x) >= self.zeroed
        return x * kept * (256 / (256 - self.zeroed))


def gather_positions(x: Tensor, positions: Tensor | None) -> Tensor:
    """x (B, T, D) at `positions` (B, Q) of each row, (B, Q, D); at None: x."""
    if positions is None:
        return x
    b, t, d = x.shape
    rows = positions + t * torch.arange(b, device=positions.device)[:, None]  # (B, Q) rows of the flattened (B·T, D)
    return F.embedding(rows, x.reshape(b * t, d))  # a table look-up: its gradient is added up in a fixed order


def running_mean(vectors: Tensor) -> Tensor:
    """(B, T, D) → (B, T, D): at each position the mean of the vectors up to it, itself included; nothing from later.

    With an embedding per item this is the user factor of FISM (Kabbur, Ning and Karypis, KDD 2013) with its α = 1.
    """
    counts = torch.arange(1, vectors.shape[1] + 1, device=vectors.device)[:, None]  # (T, 1)
    return vectors.float().cumsum(1) / counts


def init_weights(module: nn.Module, std: float) -> None:
    """Draw weights from a normal distribution truncated at two standard deviations; biases are zero, as in BERT."""
    for part in module.modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            nn.init.trunc_normal_(part.weight, std=std, a=-2 * std, b=2 * std)
        if isinstance(part, nn.Linear) and part.bias is not None:
            nn.init.zeros_(part.bias)
