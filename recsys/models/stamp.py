"""STAMP: attention with priority for the newest item (Liu et al., KDD 2018, doi:10.1145/3219819.3219950).

With the item embeddings x_1 … x_t of a history, in the paper's symbols,

    m_s = mean of x_1 … x_t, the general interest; m_t = x_t, the current interest
    α_i = W₀ σ(W₁ x_i + W₂ x_t + W₃ m_s + b_a)    attention
    m_a = Σ α_i x_i                               attended memory
    h_s = tanh(W_s m_a + b_s), h_t = tanh(W_t m_t + b_t)
    z_i = ⟨h_s, h_t, x_i⟩ = Σ_d h_s,d h_t,d x_i,d    trilinear composition

Departures from the paper, besides those of docs/models.md:
- z_i does not pass through a sigmoid before the softmax. The sigmoid bounds the ratio of two probabilities by e.
- A LayerNorm follows h_s ⊙ h_t. Both factors start near zero, and so would their gradients.
- The loss is the cross-entropy of a softmax over the target and items drawn by popularity. The paper's softmax is over
  all items (`loss="softmax"`), which takes three times as long for the same number of steps.
- Half of the training samples of a long history are random windows of it. Sessions of the paper are short.
- The start token is one of the items in m_s. Dropout is applied to embeddings and to the attended memory.

Shapes: B sequences, T positions, Q positions per sequence, D dimensions.
"""

from typing import ClassVar

import torch
from torch import Tensor, nn

from recsys.models.layers import Dropout, gather_positions, init_weights, running_mean
from recsys.models.sequence_model import SequenceEncoder
from recsys.models.session_model import AdditiveAttention, SessionConfig, SessionModel


class StampEncoder(SequenceEncoder):
    """Item embeddings, attention, two one-layer networks, and an output that shares the item embeddings."""

    def __init__(self, config: SessionConfig, n_items: int) -> None:
        super().__init__(n_items, config.dim)
        dim = config.dim
        self.dropout = Dropout(config.dropout)
        self.w1, self.w2 = nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.w3 = nn.Linear(dim, dim)  # its bias is b_a
        self.attention = AdditiveAttention(dim)  # contains W₀
        self.w_s, self.w_t = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)
        init_weights(self, config.init)

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """See `SequenceEncoder.forward`."""
        x = self.dropout(self.items(tokens))  # (B, T, D), item embeddings
        m_s = running_mean(x)  # (B, T, D)
        # As in the paper, a position attends to no later positions, and there is no softmax over the weights α.
        queries = self.w2(x) + self.w3(m_s)
        m_a = self.attention(queries=queries, keys=self.w1(x), values=x, positions=positions)  # (B, Q, D)
        h_s = torch.tanh(self.w_s(self.dropout(m_a)))
        h_t = torch.tanh(self.w_t(gather_positions(x, positions)))
        return self.norm(h_s * h_t)


class Stamp(SessionModel):
    """The model. The general interest and the newest item predict the next item."""

    Config: ClassVar[type] = SessionConfig
    Encoder: ClassVar[type] = StampEncoder
