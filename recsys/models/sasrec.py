"""SASRec: each item of a history is predicted from those before it (Kang and McAuley, ICDM 2018, arXiv:1808.09781).

Variants differ in the loss: the paper's binary cross-entropy against one item (sasrec-bce), the softmax over all items
(sasrec-softmax, arXiv:2309.07602), gBCE against many (gsasrec, arXiv:2308.07192). Departures from the papers: a start
token predicts the first item and answers for an empty history; a learnt relative position bias takes the place of
position embeddings; two heads; a feed-forward network four times as wide as an embedding, with GELU; a bias per item;
item embeddings start from pointwise mutual information; no dropout on attention weights; AdamW whose learning rate
falls linearly to zero, and averaged weights. assets/experiments.md says what each choice brought.

sasrec-paper is built as published: learnt positions, counted from the newest item as padding at the front counts them;
x + Dropout(part(LN(x))); one head; a feed-forward network with ReLU, as wide as an embedding; binary cross-entropy of
the scores as they are; no bias per item; a random start; weights not averaged; the paper's sizes, rate and dropout.
Departures that remain: the start token; no dropout on attention weights; a rate that falls; β₂ is .999, theirs .98; the
head's output passes through one more linear map, which adds nothing that the values' own could not do; an item that is
drawn may be one of the user's others; a last LayerNorm, which is in the authors' code but not in the text. Where else
the two differ, the text is followed: that code normalises the queries alone, adds them in place of x, and multiplies
item embeddings by √d.

sasrec-memory is sasrec-softmax with three changes. Its softmax leaves out what the history holds already
(`only_unseen`), as every recommendation does, so that nothing is spent on learning that nobody watches a film twice;
Klenitskiy and Vasilev (arXiv:2309.07602) draw no negatives from a person's own items. Films of one second stand in
another order in each epoch (`redraw`). A `CountMemory` is added to the trained logits.

Shapes: B sequences, T positions, Q positions per sequence, L blocks, H heads, D dimensions.
"""

from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from recsys.config import Count, DropoutRate, Layers, added, config_class
from recsys.models.layers import Dropout, init_weights
from recsys.models.sequence_config import PmiConfig
from recsys.models.sequence_model import (
    SequenceEncoder,
    SequenceModel,
    check_heads,
    check_only_unseen,
    side_of,
)
from recsys.models.transformer import (
    Parts,
    attention_by_layer,
    encode,
    layer_norm,
    position_embeddings,
    stacked,
)
from recsys.training.batches import CounterRNG
from recsys.training.trainer import Schedule


@config_class
class SasRecConfig(PmiConfig, Parts):
    """Settings of SASRec, tuned on ML-1M; the sizes are the paper's for it, but for `dim`, 50 there."""

    schedule: Schedule = Schedule(epochs=40, validate_every=4)
    layers: Layers = 2  # Transformer blocks, the paper's b
    heads: Count = 2  # attention heads
    dropout: DropoutRate = 0.2  # share of the values set to zero
    relative_bias: bool = True  # a relative position bias on attention; without it: the paper's position embeddings
    relu: bool = added(False)  # ReLU in the feed-forward network, as in the paper, instead of GELU
    item_bias: bool = added(True)  # a learnt number per item is added to its score; the paper has none
    windows: bool = added(False)  # half of the samples of a history longer than `length` are a random stretch of it

    def __post_init__(self) -> None:
        """Raises ConfigError."""
        check_heads(self.dim, self.heads)
        check_only_unseen(self)


class SasRecModule(SequenceEncoder):
    """Item embeddings, position embeddings unless there is a relative bias, causal blocks, tied output."""

    def __init__(self, config: SasRecConfig, n_items: int) -> None:
        super().__init__(n_items, config.dim, config.shared, side_of(config))
        self.positions = position_embeddings(config)
        self.dropout = Dropout(config.dropout)
        self.blocks = stacked(config, pre_norm=True, causal=True, relu=config.relu)
        self.last_norm = layer_norm(config.dim, config.norms)
        self.bias.requires_grad_(config.item_bias)  # else it stays at zero
        init_weights(self, config.init)

    def forward(
        self, tokens: Tensor, positions: Tensor | None = None, stars: Tensor | None = None, person: Tensor | None = None
    ) -> Tensor:
        """Tokens (B, T) → hidden states (B, T, D), or those at `positions` (B, Q) only: (B, Q, D).

        For stars (B, T) and person (B, 3) see `token_embeddings`.
        """
        return self.last_norm(encode(self.blocks, self.embed(tokens, stars, person), None, positions))

    def embed(self, tokens: Tensor, stars: Tensor | None = None, person: Tensor | None = None) -> Tensor:
        """Tokens (B, T) → the first block's input (B, T, D). Position embeddings count from the newest item."""
        x = self.token_embeddings(tokens, stars, person)
        if self.positions is not None:
            lengths = (tokens != self.padding).sum(1, keepdim=True)  # (B, 1)
            ages = lengths - 1 - torch.arange(tokens.shape[1], device=tokens.device)  # (B, T), 0 = newest
            x = x + self.positions(ages.clamp(min=0))
        return self.dropout(x)


class SasRec(SequenceModel):
    """The hidden state of the newest item predicts the next one."""

    Config: ClassVar[type] = SasRecConfig
    Module: ClassVar[type] = SasRecModule
    config: SasRecConfig
    module: SasRecModule

    def __init__(self, config: SasRecConfig | None = None, title: str = "") -> None:
        super().__init__(config, title)
        self.has_attention = self.config.layers > 0

    def sequences(self, histories: list[np.ndarray], rows: np.ndarray, draws: CounterRNG) -> list[np.ndarray]:
        """At most `length` + 1 items of each of the histories `rows` (B,), of which the first is no target."""
        return draws.cut(histories, rows, self.config.length + 1, self.config.windows, self.config.prefixes)

    @torch.inference_mode()
    def attention(self, tokens: np.ndarray) -> np.ndarray:
        """Attention weights (L, H, T, T) float32 of tokens (T,): row i is how much position i attends to each.

        Rows sum to 1; there is none on later positions.
        """
        x = self.module.embed(self._batch_of_one(tokens))
        return attention_by_layer(self.module.blocks, x, None)[:, 0].float().cpu().numpy()
