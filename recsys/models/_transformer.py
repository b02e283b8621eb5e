"""The Transformer encoder that the attention models share (arXiv:1706.03762).

Shapes: B sequences, T positions, D dimensions, H heads.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Dropout(nn.Module):
    """Dropout with eight coin flips per random number: on a CPU, drawing one number per value costs ten times as much.

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


class Block(nn.Module):
    """Self-attention, then a position-wise feed-forward network, each with a residual connection.

    `pre_norm` normalises what goes into each part instead of the sum that comes out. Unlike the papers, dropout falls
    on the two outputs but not on the attention weights, which keeps the fused attention kernels. `causal` lets a
    position look at itself and what lies before it only.
    """

    def __init__(self, dim: int, heads: int, dropout: float, pre_norm: bool, causal: bool = False) -> None:
        super().__init__()
        self.heads, self.pre_norm, self.causal = heads, pre_norm, causal
        self.norm_attention, self.norm_forward = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.forward_in, self.forward_out = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, visible: Tensor | None, at: Tensor | None = None) -> Tensor:
        """x (B, T, D), visible (B, 1, 1, T) True where a position may be looked at (causal: None) → (B, T, D).

        With `at` (B, Q) only what comes out at those positions is computed, (B, Q, D): in the last block of a network
        the others are of no use to anybody.
        """
        if self.pre_norm:
            x = pick(x, at) + self.dropout(self.attend(self.norm_attention(x), visible, at))
            return x + self.dropout(self.feed_forward(self.norm_forward(x)))
        x = self.norm_attention(pick(x, at) + self.dropout(self.attend(x, visible, at)))
        return self.norm_forward(x + self.dropout(self.feed_forward(x)))

    def attend(self, x: Tensor, visible: Tensor | None, at: Tensor | None) -> Tensor:
        """Multi-head self-attention of the positions `at` to all others, (B, T, D) → (B, Q, D)."""
        if at is None:
            q, k, v = self.qkv(x).chunk(3, -1)  # (B, T, D) each
        else:
            d = x.shape[-1]
            q = F.linear(pick(x, at), self.qkv.weight[:d], self.qkv.bias[:d])  # (B, Q, D)
            k, v = F.linear(x, self.qkv.weight[d:], self.qkv.bias[d:]).chunk(2, -1)
        q, k, v = self.split(q), self.split(k), self.split(v)  # (B, H, Q or T, D/H)
        if self.causal and at is not None:
            visible = torch.arange(x.shape[1], device=x.device) <= at[:, None, :, None]  # (B, 1, Q, T)
        with torch.autocast(x.device.type, enabled=False):
            mixed = F.scaled_dot_product_attention(q, k, v, visible, is_causal=self.causal and at is None)
        return self.out(mixed.transpose(1, 2).flatten(2))

    def split(self, x: Tensor) -> Tensor:
        """(B, T, D) → (B, H, T, D/H)."""
        if not x.is_cuda:
            x = x.float()  # a CPU's fused kernel is slower in bf16
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def feed_forward(self, x: Tensor) -> Tensor:
        """Two linear maps with a GELU between, (B, T, D) → (B, T, D)."""
        return self.forward_out(F.gelu(self.forward_in(x)))


def pick(x: Tensor, at: Tensor | None) -> Tensor:
    """x (B, T, D) at the positions `at` (B, Q) of each row, (B, Q, D); at None: x."""
    if at is None:
        return x
    b, t, d = x.shape
    rows = at + t * torch.arange(b, device=at.device)[:, None]  # (B, Q) places in the flattened (B·T)
    return F.embedding(rows, x.reshape(b * t, d))  # a table look-up: its gradient is added up in a fixed order
