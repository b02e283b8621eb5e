"""STAMP: attention with priority for the newest item (Liu et al., KDD 2018, doi:10.1145/3219819.3219950).

For a history x_1 … x_t the paper's symbols are
    m_s = mean of x_1 … x_t, the general interest; m_t = x_t, the current interest
    α_i = W₀ σ(W₁ x_i + W₂ x_t + W₃ m_s + b_a)    attention
    m_a = Σ α_i x_i                               attended memory
    h_s = tanh(W_s m_a + b_s), h_t = tanh(W_t m_t + b_t)
    z_i = ⟨h_s, h_t, x_i⟩ = Σ_d h_s,d h_t,d x_i,d    trilinear composition

Departures from the paper:
- z_i does not pass through a sigmoid before the softmax. The sigmoid bounds the ratio of two probabilities by e.
- A LayerNorm follows h_s ⊙ h_t. Both factors start near zero, and so would their gradients.
- The loss is the cross-entropy of a softmax over the target and items drawn by popularity. The paper's softmax is over
  all items (`loss="softmax"`), which takes three times as long for the same number of steps.
- All positions of a history are targets. The paper makes one sample of each prefix.
- Half of the training samples of a long history are a random window of it, because a session of the paper is short and
  a history of MovieLens is not.
- A start token answers for an empty history. Each item has a bias. Item embeddings start from pointwise mutual
  information. Dropout is applied to embeddings and to the attended memory.
- The optimiser is AdamW with a learning rate that falls linearly. The weights are averaged.

Shapes: B sequences, T positions, Q positions per sequence, D dimensions.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from recsys.config import DropoutRate, Length, Size, config_class
from recsys.models.additive_attention import AdditiveAttention
from recsys.models.layers import Dropout, gather_positions, init_weights, running_mean
from recsys.models.sequence_config import PmiConfig
from recsys.models.sequence_model import SequenceEncoder, SequenceModel
from recsys.training.batches import CounterRNG
from recsys.training.losses import LossName
from recsys.training.options import TrainConfig


@config_class
class StampConfig(PmiConfig):
    """Settings of STAMP. Short trainings with large batches; the schedule was chosen on the built-in set."""

    schedule: TrainConfig = TrainConfig(
        epochs=10, batch_size=64, lr=5e-3, warmup_steps=50, ema_decay=0.98, validate_every=2
    )
    length: Length = 50  # positions: the newest items of a history that are read
    dropout: DropoutRate = 0.2  # share of the values set to zero
    loss: LossName = "sampled-softmax"  # softmax: over all items; the others sample negatives
    negatives: Size = 512  # items that a sampled loss draws; each position has its own where gBCE draws 8 or fewer


class StampModule(SequenceEncoder):
    """Item embeddings, attention, two one-layer networks, and an output that shares the item embeddings."""

    def __init__(self, config: StampConfig, n_items: int) -> None:
        super().__init__(n_items, config.dim)
        dim = config.dim
        self.dropout = Dropout(config.dropout)
        self.w1, self.w2 = nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.w3 = nn.Linear(dim, dim)  # its bias is b_a
        self.attention = AdditiveAttention(dim)
        self.w_s, self.w_t = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)
        init_weights(self, config.init)

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """Tokens (B, T) → hidden states (B, T, D), or those at `positions` (B, Q) only: (B, Q, D).

        Padding is at the end of a row, so no other state depends on it.
        """
        x = self.dropout(self.items(tokens))  # (B, T, D)
        m_s = running_mean(x)
        m_a = self.attention(self.w2(x) + self.w3(m_s), self.w1(x), x, positions)  # (B, Q, D)
        h_s = torch.tanh(self.w_s(self.dropout(m_a)))
        h_t = torch.tanh(self.w_t(gather_positions(x, positions)))
        return self.norm(h_s * h_t)


class Stamp(SequenceModel):
    """The trilinear composition of general interest, newest item and candidate scores the next item."""

    Config: ClassVar[type] = StampConfig
    Module: ClassVar[type] = StampModule
    config: StampConfig
    module: StampModule

    def sequences(self, histories: Sequence[np.ndarray], rows: np.ndarray, draws: CounterRNG) -> list[np.ndarray]:
        """Return windows of at most `length` + 1 items of the histories `rows` (B,)."""
        return draws.crop(histories, rows, self.config.length + 1, "windows")
