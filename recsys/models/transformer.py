"""The Transformer of BERT4Rec and SASRec (arXiv:1706.03762).

Shapes: B sequences, T positions, Q positions per sequence, D dimensions, H heads, L layers.
"""

import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recsys.models.layers import Dropout, gather_positions, init_weights
from recsys.models.sequence_config import TransformerConfig
from recsys.models.sequence_model import SequenceEncoder, SequenceModel
from recsys.training import kernels

INITIAL_SLOPES = (2.0, 0.2)  # of even heads, which attend locally at first, and of odd heads, nearly uniform at first


class RelativeBias(nn.Module):
    """A relative position bias, -slope · log(1 + distance), that is added to the attention logits.

    This is the logarithmic kernel of KERPLE (arXiv:2205.09921, equation 3 with r₂ = 1). Each head learns a slope for
    earlier positions and a slope for later ones. The bias of a causal block is -∞ at later positions.
    """

    def __init__(self, heads: int, causal: bool) -> None:
        super().__init__()
        initial = torch.tensor([INITIAL_SLOPES[head % 2] for head in range(heads)])
        self.slopes = nn.Parameter(initial)  # (H,)
        self.slopes_after = None if causal else nn.Parameter(initial.clone())  # (H,)

    def forward(self, positions: Tensor | None, length: int) -> Tensor:
        """Return the bias (B or 1, H, Q, T) of queries at `positions` (B or 1, Q; None: all T) and T = `length` keys.

        A value is computed for each distance, query - key: T-1, T-2 … 1-T. The query at position t has the distances
        t, t-1 … t-(T-1) to the keys 0 … T-1. Their values are the window of T values whose first index is T-1-t.
        """
        distance = torch.arange(length - 1, -length, -1, device=self.slopes.device)  # (2T-1,), query - key
        is_after = distance < 0
        slopes = self.slopes[:, None]  # (H, 1)
        if self.slopes_after is not None:
            slopes = torch.where(is_after, self.slopes_after[:, None], slopes)  # (H, 2T-1)
        bias = -slopes * torch.log1p(distance.abs().float())  # (H, 2T-1)
        if self.slopes_after is None:
            bias = bias.masked_fill(is_after, -torch.inf)
        if torch.compiler.is_compiling():  # torch.compile would compile unfold once per length
            offsets = torch.arange(length, device=bias.device)
            windows = bias[:, offsets[:, None] + offsets]
        else:
            windows = bias.unfold(-1, length, 1)  # (H, T, T), the last query first
        if positions is None:
            return windows.flip(1)[None]
        return windows[:, length - 1 - positions].transpose(0, 1)  # (H, B or 1, Q, T) → (B or 1, H, Q, T)


class Block(nn.Module):
    """Self-attention, then a feed-forward network. Each normalises its input and has a residual connection.

    `sasrec.py` and `bert4rec.py` list the departures from the papers. One of them is in this class: both outputs have
    dropout, but attention weights have none, because the fused attention kernels never materialise them.
    """

    def __init__(
        self,
        dim: int,  # width of an embedding, D; a multiple of H
        heads: int,  # attention heads, H
        dropout: float,  # rate of the dropout on both outputs
        causal: bool = False,  # a position attends only to itself and the positions before it
        relative_bias: bool = True,  # the attention logits have a `RelativeBias`
        widening: int = 4,  # width of the feed-forward network divided by D
        activation: Callable[[Tensor], Tensor] = F.gelu,  # of the feed-forward network
    ) -> None:
        super().__init__()
        self.heads, self.causal, self.activation = heads, causal, activation
        self.relative_bias = RelativeBias(heads, causal) if relative_bias else None
        self.norm_attention, self.norm_forward = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.make_feed_forward(dim, widening * dim)
        self.dropout = Dropout(dropout)

    def make_feed_forward(self, dim: int, width: int) -> None:
        """Create the layers of the feed-forward network."""
        self.forward_in, self.forward_out = nn.Linear(dim, width), nn.Linear(width, dim)

    def forward(self, x: Tensor, attention_mask: Tensor | None, positions: Tensor | None = None) -> Tensor:
        """Return the outputs (B, Q, D) at `positions` (B, Q; None: all T) of the inputs x (B, T, D).

        `attention_mask` (B, 1, 1, T) is True where a position may be attended to. None: everywhere.
        """
        # Before `attend`, because later the gradients would be summed in another order, which changes their rounding.
        inputs = gather_positions(x, positions)
        x = self.residual(inputs, self.attend(self.attention_input(x), attention_mask, positions))
        return self.residual(x, self.feed_forward(self.norm_forward(x)))

    def attention_input(self, x: Tensor) -> Tensor:
        """Return the input of the attention, (B, T, D)."""
        return self.norm_attention(x)

    def residual(self, x: Tensor, update: Tensor) -> Tensor:
        """Return x + Dropout(update), all (B, Q, D)."""
        return x + self.dropout(update)

    def attend(self, x: Tensor, attention_mask: Tensor | None, positions: Tensor | None) -> Tensor:
        """Return the multi-head self-attention of x (B, T, D) at `positions` (B, Q; None: all T), (B, Q, D)."""
        if positions is None:
            q, k, v = self.qkv(x).chunk(3, -1)  # (B, T, D) each
        else:
            d = x.shape[-1]
            q = F.linear(gather_positions(x, positions), self.qkv.weight[:d], self.qkv.bias[:d])  # (B, Q, D)
            k, v = F.linear(x, self.qkv.weight[d:], self.qkv.bias[d:]).chunk(2, -1)
        q, k, v = self.split_heads(q), self.split_heads(k), self.split_heads(v)  # (B, H, Q or T, D/H)
        # Attention computes in the dtype that `split_heads` returns, so autocast is turned off. Turning it off takes
        # .1 ms, so this is skipped if autocast is off already.
        is_autocast = torch.is_autocast_enabled(x.device.type)
        with torch.autocast(x.device.type, enabled=False) if is_autocast else nullcontext():
            values = self.weighted_values(q, k, v, attention_mask, positions)
        return self.out(values.transpose(1, 2).flatten(2))

    def weighted_values(
        self, q: Tensor, k: Tensor, v: Tensor, attention_mask: Tensor | None, positions: Tensor | None
    ) -> Tensor:
        """Return the attention-weighted values (B, H, Q, D/H) of q (B, H, Q, D/H), k and v (B, H, T, D/H)."""
        is_cpu_training = torch.is_grad_enabled() and not q.is_cuda
        # `torch.compile` would compile `kernels.attention_with_bias` once per shape.
        if self.relative_bias is not None and is_cpu_training and not torch.compiler.is_compiling():
            padding = None if attention_mask is None else torch.where(attention_mask, 0.0, -torch.inf)
            return kernels.attention_with_bias(q, k, v, self.relative_bias(positions, k.shape[2]), padding)
        is_plain_causal = self.causal and positions is None and self.relative_bias is None
        mask = None if is_plain_causal else self.full_mask(positions, k.shape[2], attention_mask)
        if mask is not None and mask.is_floating_point():
            mask = mask.to(q.dtype)
        return F.scaled_dot_product_attention(q, k, v, mask, is_causal=is_plain_causal)

    def full_mask(self, positions: Tensor | None, length: int, attention_mask: Tensor | None) -> Tensor | None:
        """Return a mask that broadcasts to the logits (B, H, Q, T) of T = `length` keys. None: no mask.

        With a relative bias, it is added to the logits. Otherwise it is bool, True where a query may attend. A causal
        block without a relative bias ignores `attention_mask`, because padding follows all items of a row.
        """
        if self.relative_bias is not None:
            bias = self.relative_bias(positions, length)  # (B or 1, H, Q, T)
            if attention_mask is None:
                return bias
            return bias + torch.where(attention_mask, 0.0, -torch.inf)  # twice as fast as masked_fill
        if not self.causal:
            return attention_mask
        key_positions = torch.arange(length, device=self.out.weight.device)[None]  # (1, T)
        query_positions = key_positions if positions is None else positions  # (B or 1, Q)
        return key_positions[:, None, None] <= query_positions[:, None, :, None]

    def attention_weights(self, x: Tensor, attention_mask: Tensor | None) -> Tensor:
        """Return softmax(QKᵀ / √(D/H) + mask), (B, H, T, T), of the block's input x (B, T, D)."""
        q, k, _ = map(self.split_heads, self.qkv(self.attention_input(x)).chunk(3, -1))
        logits = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])  # (B, H, T, T)
        mask = self.full_mask(None, x.shape[1], attention_mask)
        if mask is not None:
            logits = logits + mask if mask.is_floating_point() else logits.masked_fill(~mask, -torch.inf)
        return logits.softmax(-1)

    def split_heads(self, x: Tensor) -> Tensor:
        """Split x (B, T, D) into heads, (B, H, T, D/H)."""
        if not x.is_cuda:
            x = x.float()  # a CPU's fused kernel is slower in bf16
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def feed_forward(self, x: Tensor) -> Tensor:
        """Apply two linear maps with an activation between them, (B, T, D)."""
        return self.forward_out(self.activation(self.forward_in(x)))


class PostNormBlock(Block):
    """A block as in the Transformer paper: each sum is normalised, LN(x + Dropout(part(x)))."""

    def forward(self, x: Tensor, attention_mask: Tensor | None, positions: Tensor | None = None) -> Tensor:
        """Transform x (B, T, D), see `Block.forward`."""
        x = self.residual(gather_positions(x, positions), self.attend(x, attention_mask, positions))
        x = self.norm_attention(x)
        return self.norm_forward(self.residual(x, self.feed_forward(x)))

    def attention_input(self, x: Tensor) -> Tensor:
        """Return x, which is not normalised before the attention."""
        return x


def padding_mask(tokens: Tensor, padding: int) -> Tensor | None:
    """Return an attention mask (B, 1, 1, T) of tokens (B, T), False at padding. None if no token is padding.

    A GPU always gets a mask, because a test for padding would wait for the GPU.
    """
    is_visible = tokens != padding
    return None if is_visible.is_cpu and is_visible.all() else is_visible[:, None, None, :]


class PositionEmbedding(nn.Embedding):
    """A vector for each position. Position 0 is the oldest item of a history or, with `newest_first`, the newest."""

    def __init__(self, length: int, dim: int, padding: int, newest_first: bool) -> None:
        super().__init__(length, dim)
        self.padding, self.newest_first = padding, newest_first

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the vectors of the positions of tokens (B, T), (B or 1, T, D). Padding gets arbitrary vectors."""
        positions = torch.arange(tokens.shape[1], device=tokens.device)[None]
        if self.newest_first:
            lengths = (tokens != self.padding).sum(1, keepdim=True)  # (B, 1)
            positions = lengths - 1 - positions
        return super().forward(positions.clamp(0, self.num_embeddings - 1))


class TransformerEncoder(SequenceEncoder):
    """Item embeddings, L ≥ 0 blocks with a relative position bias, output tied to the embeddings."""

    causal: ClassVar[bool] = False  # a position attends only to itself and the positions before it

    def __init__(self, config: Any, n_items: int) -> None:
        super().__init__(n_items, config.dim)
        self.own_output = self.make_output(config)
        self.positions = self.make_positions(config)
        self.norm: nn.Module = nn.Identity()  # of the embeddings
        self.dropout = Dropout(config.dropout)
        self.blocks: Any = nn.ModuleList(self.make_block(config) for _ in range(config.layers))
        self.last_norm = nn.LayerNorm(config.dim)
        init_weights(self, config.init)

    def make_output(self, config: Any) -> nn.Embedding | None:
        """Return separate output weights (I, D), or None for the item embeddings."""
        return None

    def make_positions(self, config: Any) -> PositionEmbedding | None:
        """Return the position embeddings, if any."""
        return None

    def make_block(self, config: Any) -> Block:
        """Return one of the L blocks."""
        return Block(config.dim, config.heads, config.dropout, self.causal)

    def forward(self, tokens: Tensor, positions: Tensor | None = None, *side: Tensor | None) -> Tensor:
        """Return the hidden states, see `SequenceEncoder.forward`. `side` is side information, see `side.py`."""
        x, attention_mask = self.embed(tokens, *side)
        for block in self.blocks[:-1]:
            x = block(x, attention_mask)
        if not self.blocks:
            return self.final_layer(gather_positions(x, positions))
        return self.final_layer(self.blocks[-1](x, attention_mask, positions))

    def embed(self, tokens: Tensor, *side: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Return the input of the first block (B, T, D) and its attention mask. Causal blocks need none."""
        x = self.dropout(self.norm(self.token_embeddings(tokens, *side)))
        return x, None if self.causal else padding_mask(tokens, self.padding)

    def final_layer(self, x: Tensor) -> Tensor:
        """Return the hidden states (B, Q, D) from the output of the last block."""
        return self.last_norm(x)


class TransformerModel(SequenceModel):
    """The base of BERT4Rec and SASRec."""

    config: TransformerConfig
    module: TransformerEncoder

    def __init__(self, config: Any = None, title: str = "") -> None:
        super().__init__(config, title)
        self.has_attention = self.config.layers > 0

    @torch.inference_mode()
    def attention(self, tokens: np.ndarray) -> np.ndarray:
        """Return the attention weights (L, H, T, T) of tokens (T,)."""
        x, attention_mask = self.module.embed(self._batch_of_one(tokens))
        layers = []
        for block in self.module.blocks:
            layers.append(block.attention_weights(x, attention_mask))  # (1, H, T, T)
            x = block(x, attention_mask)
        return torch.cat(layers).float().cpu().numpy()
