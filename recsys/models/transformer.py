"""The Transformer encoder that the attention models share (arXiv:1706.03762).

Shapes: B sequences, T positions, Q positions per sequence, D dimensions, H heads, L layers.
"""

import math
from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recsys.config import NonNegativeInt, added, config_class
from recsys.models.extras import Extras
from recsys.models.layers import Dropout, gather_positions
from recsys.training import kernels


class RelativeBias(nn.Module):
    """A relative position bias per head: -slope · log(1 + distance), added to the attention logits; slopes are learnt.

    The logarithmic kernel of KERPLE (arXiv:2205.09921, equation 3 with r₂ = 1). Heads start in turn with a steep slope,
    which attends to the nearest items only, and a shallow one, which attends to nearly all alike. Positions after the
    query have slopes of their own, so that before and after differ; a `causal` block attends to none of them.
    """

    INITIAL_SLOPES: ClassVar[tuple[float, float]] = (2.0, 0.2)

    def __init__(self, heads: int, causal: bool) -> None:
        super().__init__()
        initial = torch.tensor([self.INITIAL_SLOPES[head % 2] for head in range(heads)])
        self.slopes = nn.Parameter(initial)  # (H,)
        self.slopes_after = None if causal else nn.Parameter(initial.clone())  # (H,)

    def forward(self, positions: Tensor | None, length: int) -> Tensor:
        """Return the bias (B or 1, H, Q, T) of queries at `positions` (B or 1, Q; None: all) towards all T keys.

        A key after its query has the bias -∞ where the block is causal. There are 2T-1 distances only: the bias of each
        is computed once, and a row of the result is a window on these.
        """
        distance = torch.arange(length - 1, -length, -1, device=self.slopes.device)  # (2T-1,), query - key: T-1 … 1-T
        after = distance < 0
        slopes = self.slopes[:, None]  # (H, 1)
        if self.slopes_after is not None:
            slopes = torch.where(after, self.slopes_after[:, None], slopes)  # (H, 2T-1)
        bias = -slopes * torch.log1p(distance.abs().float())  # (H, 2T-1)
        if self.slopes_after is None:
            bias = bias.masked_fill(after, -torch.inf)
        if torch.compiler.is_compiling():  # torch.compile would compile unfold once per length
            offsets = torch.arange(length, device=bias.device)
            windows = bias[:, offsets[:, None] + offsets]
        else:
            windows = bias.unfold(-1, length, 1)  # (H, T, T), of the last query first
        return windows.flip(1)[None] if positions is None else windows[:, length - 1 - positions].transpose(0, 1)


class Block(nn.Module):
    """Self-attention, then a position-wise feed-forward network, each with a residual connection.

    `pre_norm` normalises the input of each part instead of the sum after it. `causal` restricts a position to itself
    and those before it; `relative_bias` adds a `RelativeBias`, in place of position embeddings. The feed-forward
    network is `widening` times as wide as an embedding, with a GELU or a `relu`; at 0 there is none. For ablations,
    `norms` and `residual` can be left out. Departure from the papers: dropout on both outputs but not on attention
    weights, which the fused attention kernels never materialise.
    """

    def __init__(
        self,
        dim: int,
        heads: int,
        dropout: float,
        pre_norm: bool,
        causal: bool = False,
        relative_bias: bool = False,
        widening: int = 4,
        relu: bool = False,
        norms: bool = True,
        residual: bool = True,
    ) -> None:
        super().__init__()
        self.heads, self.pre_norm, self.causal, self.relu, self.residual = heads, pre_norm, causal, relu, residual
        self.relative_bias = RelativeBias(heads, causal) if relative_bias else None
        self.norm_attention, self.norm_forward = layer_norm(dim, norms), layer_norm(dim, norms and widening > 0)
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        if widening:
            self.forward_in, self.forward_out = nn.Linear(dim, widening * dim), nn.Linear(widening * dim, dim)
        self.widening = widening
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, attention_mask: Tensor | None, positions: Tensor | None = None) -> Tensor:
        """x (B, T, D), attention_mask (B, 1, 1, T) True where a position may be attended to (None: all) → (B, T, D).

        With `positions` (B, Q) only those outputs are computed, (B, Q, D): the last block needs no others.
        """
        if self.pre_norm:
            x = self.add(gather_positions(x, positions), self.attend(self.norm_attention(x), attention_mask, positions))
            return self.add(x, self.feed_forward(self.norm_forward(x))) if self.widening else x
        x = self.norm_attention(self.add(gather_positions(x, positions), self.attend(x, attention_mask, positions)))
        return self.norm_forward(self.add(x, self.feed_forward(x))) if self.widening else x

    def add(self, x: Tensor, part: Tensor) -> Tensor:
        """x + Dropout(part), both (B, T, D); without the residual connection Dropout(part) alone."""
        part = self.dropout(part)
        return x + part if self.residual else part

    def attend(self, x: Tensor, attention_mask: Tensor | None, positions: Tensor | None) -> Tensor:
        """Multi-head self-attention with queries at `positions` only, (B, T, D) → (B, Q, D)."""
        if positions is None:
            q, k, v = self.qkv(x).chunk(3, -1)  # (B, T, D) each
        else:
            d = x.shape[-1]
            q = F.linear(gather_positions(x, positions), self.qkv.weight[:d], self.qkv.bias[:d])  # (B, Q, D)
            k, v = F.linear(x, self.qkv.weight[d:], self.qkv.bias[d:]).chunk(2, -1)
        q, k, v = self.split_heads(q), self.split_heads(k), self.split_heads(v)  # (B, H, Q or T, D/H)
        is_on = torch.is_autocast_enabled(x.device.type)  # to switch off what is not takes .1 ms
        with torch.autocast(x.device.type, enabled=False) if is_on else nullcontext():
            mixed = self.mix(q, k, v, attention_mask, positions)
        return self.out(mixed.transpose(1, 2).flatten(2))

    def mix(self, q: Tensor, k: Tensor, v: Tensor, attention_mask: Tensor | None, positions: Tensor | None) -> Tensor:
        """The values weighted by attention: q (B, H, Q, D/H), k and v (B, H, T, D/H) → (B, H, Q, D/H)."""
        is_eager = not torch.compiler.is_compiling()  # torch.compile would compile this kernel once per shape
        if self.relative_bias is not None and torch.is_grad_enabled() and not q.is_cuda and is_eager:
            padding = None if attention_mask is None else torch.where(attention_mask, 0.0, -torch.inf)
            return kernels.attention_with_bias(q, k, v, self.relative_bias(positions, k.shape[2]), padding)
        plain_causal = (
            self.causal and positions is None and self.relative_bias is None
        )  # the kernel builds this mask itself
        mask = None if plain_causal else self.full_mask(positions, k.shape[2], attention_mask)
        if mask is not None and mask.is_floating_point():
            mask = mask.to(q.dtype)
        return F.scaled_dot_product_attention(q, k, v, mask, is_causal=plain_causal)

    def full_mask(self, positions: Tensor | None, length: int, attention_mask: Tensor | None) -> Tensor | None:
        """Padding, causality and relative bias in one mask for logits (B, H, Q, T), T = length; at None: Q = T.

        bool: True where a query may attend. float, with a relative bias: what is added to the logits. None: no mask.
        """
        if self.relative_bias is not None:
            bias = self.relative_bias(positions, length)  # (B or 1, H, Q, T)
            if attention_mask is None:
                return bias
            return bias + torch.where(attention_mask, 0.0, -torch.inf)  # half the time of a masked_fill
        if not self.causal:
            return attention_mask
        everywhere = torch.arange(length, device=self.out.weight.device)[None]  # (1, T)
        queries = everywhere if positions is None else positions  # (B or 1, Q)
        return everywhere[:, None, None] <= queries[:, None, :, None]

    def attention_weights(self, x: Tensor, attention_mask: Tensor | None) -> Tensor:
        """softmax(QKᵀ / √(D/H) + mask), (B, T, D) → (B, H, T, T): row i is how much position i attends to each.

        x and attention_mask are the block's inputs; rows sum to 1. `attend` applies the same weights without ever
        materialising them.
        """
        q, k, _ = map(self.split_heads, self.qkv(self.norm_attention(x) if self.pre_norm else x).chunk(3, -1))
        logits = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])  # (B, H, T, T)
        mask = self.full_mask(None, x.shape[1], attention_mask)
        if mask is not None:
            logits = logits + mask if mask.is_floating_point() else logits.masked_fill(~mask, -torch.inf)
        return logits.softmax(-1)

    def split_heads(self, x: Tensor) -> Tensor:
        """(B, T, D) → (B, H, T, D/H)."""
        if not x.is_cuda:
            x = x.float()  # a CPU's fused kernel is slower in bf16
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def feed_forward(self, x: Tensor) -> Tensor:
        """Two linear maps with a GELU or a ReLU between, (B, T, D) → (B, T, D)."""
        x = self.forward_in(x)
        return self.forward_out(F.relu(x) if self.relu else F.gelu(x))


@config_class(kw_only=True)
class Parts(Extras):
    """Settings that BERT4Rec and SASRec share: what an encoder is built with or without, and what it is shown."""

    prefixes: bool = added(False)  # half of the samples end before the newest item, after any of the others
    widening: NonNegativeInt = added(4)  # width of the feed-forward network / dim; 0: no such network
    knows_order: bool = added(True)  # without: neither a relative position bias nor position embeddings
    norms: bool = added(True)  # without: no layer normalisation anywhere
    residual: bool = added(True)  # without: no residual connections
    shared: bool = added(True)  # without: the output has item embeddings of its own
    genres: bool = added(False)  # the mean of the vectors of its genres is added to an item's embedding
    decade: bool = added(False)  # the vector of its decade is added to an item's embedding
    popularity: bool = added(False)  # the vector of how often it is watched is added to an item's embedding
    stars: bool = added(False)  # the vector of the stars given is added to each item of the history
    person: bool = added(False)  # vectors of gender, age and occupation, where known, are added to every position


def position_embeddings(config: Any) -> nn.Embedding | None:
    """A learnt vector for each of `length` positions, unless a relative bias tells the order, or nothing does."""
    wanted = config.knows_order and not config.relative_bias
    return nn.Embedding(config.length, config.dim) if wanted else None


def stacked(config: Any, pre_norm: bool, causal: bool = False, relu: bool = False) -> nn.ModuleList:
    """L blocks as a config with `Parts` has them."""
    return nn.ModuleList(
        Block(
            config.dim,
            config.heads,
            config.dropout,
            pre_norm,
            causal,
            relative_bias=config.knows_order and config.relative_bias,
            widening=config.widening,
            relu=relu,
            norms=config.norms,
            residual=config.residual,
        )
        for _ in range(config.layers)
    )


def layer_norm(dim: int, wanted: bool = True) -> nn.Module:
    """A LayerNorm, or what changes nothing."""
    return nn.LayerNorm(dim) if wanted else nn.Identity()


def encode(blocks: nn.ModuleList, x: Tensor, attention_mask: Tensor | None, positions: Tensor | None) -> Tensor:
    """Apply L ≥ 0 blocks to x (B, T, D). With `positions` (B, Q) the last one computes only those, (B, Q, D)."""
    for block in blocks[:-1]:
        x = block(x, attention_mask)
    return blocks[-1](x, attention_mask, positions) if len(blocks) else gather_positions(x, positions)


def attention_by_layer(blocks: Iterable[Any], x: Tensor, attention_mask: Tensor | None) -> Tensor:
    """`Block.attention_weights` of each of L stacked blocks, (B, T, D) → (L, B, H, T, T)."""
    layers = []
    for block in blocks:
        layers.append(block.attention_weights(x, attention_mask))
        x = block(x, attention_mask)
    return torch.stack(layers)
