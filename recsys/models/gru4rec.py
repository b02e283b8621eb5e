"""GRU4Rec: one recurrent layer reads a history item by item (Hidasi et al., ICLR 2016, arXiv:1511.06939).

Variants differ in the loss: the softmax over all items (gru4rec-ce), the first paper's BPR and TOP1 (gru4rec-bpr,
gru4rec-top1), BPR-max against additional negatives drawn by popularity (gru4rec-plus, CIKM 2018, arXiv:1706.03847).
Two others have another cell, and the softmax: `rnn` the plain one, which forgets quickly because its gradients vanish,
and `lstm` (Hochreiter and Schmidhuber, 1997), whose gates mend that; the GRU does so with fewer gates.
gru4rec-memory is gru4rec-ce with what sasrec-memory adds to SASRec (`sasrec.py`).
Departures from the papers: a history is one sequence, learnt from as a whole, not cut into sessions that run in
parallel; negatives are drawn, not the targets of the rest of the batch; the output shares its weights with the input
embeddings (the second paper's "constrained embeddings"), after a linear map and a LayerNorm; scores do not pass through
tanh or ELU; torch's cell applies the reset gate to the product with the state, not to the state; a start token answers
for an empty history; item embeddings start from pointwise mutual information; AdamW whose learning rate falls linearly,
and averaged weights. assets/experiments.md says what each choice brought.

Shapes: B sequences, T positions, Q positions per sequence, D dimensions, H units of the recurrent layer.
"""

from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from recsys.config import Size, added, config_class
from recsys.models.extras import Extras
from recsys.models.layers import Dropout, gather_positions, init_weights
from recsys.models.sequence_config import PmiConfig
from recsys.models.sequence_model import SequenceEncoder, SequenceModel, check_only_unseen
from recsys.training.options import TrainConfig

CELLS = {"gru": nn.GRU, "lstm": nn.LSTM, "rnn": nn.RNN}  # the plain one with tanh


@config_class
class Gru4RecConfig(PmiConfig, Extras):
    """Settings of GRU4Rec, tuned on ML-1M."""

    # a GRU reads one item after the other: a larger batch costs it little more
    schedule: TrainConfig = TrainConfig(epochs=50, batch_size=64, validate_every=5)
    hidden: Size = 128  # units of the recurrent layer
    cell: Literal["gru", "lstm", "rnn"] = added("gru")  # what reads the items one by one: gru, lstm, rnn

    def __post_init__(self) -> None:
        """Raises ConfigError."""
        check_only_unseen(self)


class Gru4RecModule(SequenceEncoder):
    """Item embeddings, one recurrent layer, a linear map back to the width of an embedding, tied output."""

    def __init__(self, config: Gru4RecConfig, n_items: int) -> None:
        super().__init__(n_items, config.dim)
        self.dropout = Dropout(config.dropout)
        self.gru = CELLS[config.cell](config.dim, config.hidden, batch_first=True)  # checkpoints know it by this name
        self.project = nn.Linear(config.hidden, config.dim)
        self.norm = nn.LayerNorm(config.dim)
        init_weights(self, config.init)

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """Tokens (B, T) → hidden states (B, T, D), or those at `positions` (B, Q) only: (B, Q, D).

        Padding stands at the end, so that no other state depends on it.
        """
        x = self.dropout(self.items(tokens))  # (B, T, D)
        with torch.autocast(x.device.type, enabled=False):  # cuDNN would compute in fp16, whose gradients underflow
            states = self.gru(x)[0]  # (B, T, H)
        return self.norm(self.project(self.dropout(gather_positions(states, positions))))


class Gru4Rec(SequenceModel):
    """The hidden state after the newest item predicts the next one."""

    Config: ClassVar[type] = Gru4RecConfig
    Module: ClassVar[type] = Gru4RecModule
    config: Gru4RecConfig
    module: Gru4RecModule
