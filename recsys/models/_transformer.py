"""The Transformer encoder that the attention models share (arXiv:1706.03762).

Shapes: B sequences, T positions, D dimensions, H heads.
"""

import math
from collections.abc import Iterable
from typing import Any, ClassVar

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


class Fading(nn.Module):
    """How much less each head attends to what lies further away: slope · log(1 + distance), off the logits.

    The logarithmic kernel of KERPLE (arXiv:2205.09921, its equation 3 with r₂ = 1); the slopes are learnt. Heads begin
    in turn with one that sees the nearest films and one that sees nearly all alike. What lies after a position has
    slopes of its own, unless nothing there is seen (`causal`): or else before and after would be the same.
    """

    FIRST: ClassVar[tuple[float, float]] = (2.0, 0.2)

    def __init__(self, heads: int, causal: bool) -> None:
        super().__init__()
        first = torch.tensor([self.FIRST[head % 2] for head in range(heads)])
        self.slopes = nn.Parameter(first)  # (H,)
        self.after = None if causal else nn.Parameter(first.clone())  # (H,)

    def forward(self, at: Tensor, length: int) -> Tensor:
        """What is added to the logits (B, H, Q, T) of the positions `at` (B or 1, Q)."""
        distance = at[:, None, :, None] - torch.arange(length, device=at.device)  # (B, 1, Q, T)
        slopes = self.slopes[:, None, None]  # (H, 1, 1)
        if self.after is not None:
            slopes = torch.where(distance < 0, self.after[:, None, None], slopes)  # (B, H, Q, T)
        return -slopes * torch.log1p(distance.abs().float())


class Block(nn.Module):
    """Self-attention, then a position-wise feed-forward network, each with a residual connection.

    `pre_norm` normalises what goes into each part instead of the sum that comes out. Unlike the papers, dropout falls
    on the two outputs but not on the attention weights, which keeps the fused attention kernels. `causal` lets a
    position look at itself and what lies before it only; `fading` lets a block tell near from far without position
    embeddings.
    """

    def __init__(
        self, dim: int, heads: int, dropout: float, pre_norm: bool, causal: bool = False, fading: bool = False
    ) -> None:
        super().__init__()
        self.heads, self.pre_norm, self.causal = heads, pre_norm, causal
        self.fading = Fading(heads, causal) if fading else None
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
        fused = self.causal and at is None and self.fading is None  # the kernel knows this mask by itself
        mask = None if fused else self.mask(at, x, visible)
        if mask is not None and mask.is_floating_point():
            mask = mask.to(q.dtype)
        with torch.autocast(x.device.type, enabled=False):
            mixed = F.scaled_dot_product_attention(q, k, v, mask, is_causal=fused)
        return self.out(mixed.transpose(1, 2).flatten(2))

    def mask(self, at: Tensor | None, x: Tensor, visible: Tensor | None) -> Tensor | None:
        """What the positions `at` (B, Q) of x (B, T, D) may look at, for logits (B, H, Q, T); at None: all positions.

        bool: True where they may. float, where attention fades: what is added. None: everything, all alike.
        """
        everywhere = torch.arange(x.shape[1], device=x.device)[None]  # (1, T)
        places = everywhere if at is None else at
        if self.causal:
            visible = everywhere[:, None, None] <= places[:, None, :, None]  # (B or 1, 1, Q, T)
        if self.fading is None:
            return visible
        fade = self.fading(places, x.shape[1])  # (B or 1, H, Q, T)
        return fade if visible is None else fade.masked_fill(~visible, -torch.inf)

    def weights(self, x: Tensor, visible: Tensor | None) -> Tensor:
        """softmax(QKᵀ / √(D/H) + mask): how much each position takes from each other, (B, T, D) → (B, H, T, T).

        x and visible are what the block is given; rows sum to 1. `attend` mixes the values by these weights without
        ever having them in one piece.
        """
        q, k, _ = map(self.split, self.qkv(self.norm_attention(x) if self.pre_norm else x).chunk(3, -1))
        logits = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])  # (B, H, T, T)
        mask = self.mask(None, x, visible)
        if mask is not None:
            logits = logits + mask if mask.is_floating_point() else logits.masked_fill(~mask, -torch.inf)
        return logits.softmax(-1)

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


def weights_by_layer(blocks: Iterable[Any], x: Tensor, visible: Tensor | None) -> Tensor:
    """`Block.weights` of each of L blocks, one upon the other, (B, T, D) → (L, B, H, T, T)."""
    layers = []
    for block in blocks:
        layers.append(block.weights(x, visible))
        x = block(x, visible)
    return torch.stack(layers)
