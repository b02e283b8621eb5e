"""NARM: a GRU with a global and a local encoder (Li et al., CIKM 2017, arXiv:1711.04725).

With the hidden states h_1 … h_t of a GRU over the item embeddings, in the paper's symbols,

    c^g = h_t                                  global encoder: the whole history
    α_j = v · σ(A₁ h_t + A₂ h_j)               attention
    c^l = Σ_j α_j h_j                          local encoder: the main purpose
    c = [c^g; c^l], S_i = emb_iᵀ B c           bilinear decoding

Departures from the paper, besides those of docs/models.md:
- The loss is the cross-entropy of a softmax over the target and items drawn by popularity. The paper's softmax is over
  all items (`loss="softmax"`).
- A LayerNorm follows B c, as in our GRU4Rec.
- Half of the training samples of a long history are random windows of it. Sessions of the paper are short.
- Embeddings and c have the same dropout. In the paper it is .25 for embeddings and .5 for c.

Shapes: B sequences, T positions, Q positions per sequence, D dimensions, H units of the GRU.
"""

import torch
from torch import Tensor, nn

from recsys.config import Size, config_class
from recsys.models.layers import Dropout, gather_positions, init_weights
from recsys.models.sequence_model import SequenceEncoder
from recsys.models.session_model import AdditiveAttention, SessionConfig, SessionModel


@config_class
class NarmConfig(SessionConfig):
    """Settings of NARM. `SessionConfig` has the loss, the length and the schedule."""

    hidden: Size = 100  # units of the GRU, as in the paper


class NarmEncoder(SequenceEncoder):
    """Item embeddings, a GRU, attention over its states, and a bilinear output that shares the item embeddings."""

    def __init__(self, config: NarmConfig, n_items: int) -> None:
        super().__init__(n_items, config.dim)
        self.dropout = Dropout(config.dropout)
        self.gru = nn.GRU(config.dim, config.hidden, batch_first=True)
        self.a1 = nn.Linear(config.hidden, config.hidden, bias=False)  # the paper's A₁
        self.a2 = nn.Linear(config.hidden, config.hidden, bias=False)  # A₂
        self.attention = AdditiveAttention(config.hidden)  # contains v
        self.b = nn.Linear(2 * config.hidden, config.dim, bias=False)  # B
        self.norm = nn.LayerNorm(config.dim)
        init_weights(self, config.init)

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """See `SequenceEncoder.forward`."""
        x = self.dropout(self.items(tokens))  # (B, T, D), item embeddings
        h = self.gru(x)[0]  # (B, T, H)
        c_global = gather_positions(h, positions)  # (B, Q, H)
        # As in the paper, a state attends to no later states, and there is no softmax over the weights α.
        c_local = self.attention(queries=self.a1(h), keys=self.a2(h), values=h, positions=positions)  # (B, Q, H)
        return self.norm(self.b(self.dropout(torch.cat([c_global, c_local], 2))))


class Narm(SessionModel):
    """The model. The newest state and the attended states predict the next item."""

    Config = NarmConfig
    Encoder = NarmEncoder
