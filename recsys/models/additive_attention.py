"""Additive attention without a softmax, which STAMP and NARM share.

Shapes: B sequences, T positions, Q positions per sequence, D dimensions, H dimensions of the values.
"""

import torch
from torch import Tensor, nn

from recsys.models.layers import gather_positions


class AdditiveAttention(nn.Module):
    """The sum over j ≤ t of α_j values_j, with α_j = v · σ(query_t + key_j).

    The weights α are not normalised: they may be negative, and their sum grows with the history.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.v = nn.Linear(dim, 1, bias=False)

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor, positions: Tensor | None = None) -> Tensor:
        """Attend from each position, or from `positions`, to the positions up to it.

        Args:
            queries: (B, T, D).
            keys: (B, T, D).
            values: (B, T, H).
            at: (B, Q), or None for all T positions.

        Returns:
            The weighted sums, (B, Q, H).
        """
        times = torch.arange(keys.shape[1], device=keys.device)
        newest = times[:, None] if positions is None else positions[..., None]  # (T, 1) or (B, Q, 1)
        queries = gather_positions(queries, positions)
        weights = self.v(torch.sigmoid(queries[:, :, None] + keys[:, None]))[..., 0]  # (B, Q, T)
        return weights.masked_fill(times > newest, 0.0) @ values
