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


def gather_positions(x: Tensor, at: Tensor | None) -> Tensor:
    """x (B, T, D) at the positions `at` (B, Q) of each row, (B, Q, D); at None: x."""
    if at is None:
        return x
    b, t, d = x.shape
    rows = at + t * torch.arange(b, device=at.device)[:, None]  # (B, Q) rows of the flattened (B·T, D)
    return F.embedding(rows, x.reshape(b * t, d))  # a table look-up: its gradient is added up in a fixed order
