"""GRU4Rec: a recurrent layer reads a history item by item (Hidasi et al., ICLR 2016, arXiv:1511.06939).

    h_t = GRU(x_t, h_{t-1}), score(j) = LayerNorm(W h_t + b) · x_j + b_j

x are the item embeddings. The recommenders differ in the loss:

    gru4rec-ce                 softmax over all items
    gru4rec-bpr, gru4rec-top1  BPR and TOP1 of the first paper
    gru4rec-plus               BPR-max of the second paper (Hidasi and Karatzoglou, CIKM 2018, arXiv:1706.03847)
    gru4rec-memory             gru4rec-ce with a softmax over unseen items only, a new order of ties in each epoch,
                               and counts added to the logits (`ExtrasConfig`)
    rnn, lstm                  the softmax with another cell: tanh, or LSTM (Hochreiter and Schmidhuber, 1997)

The second paper's TOP1-max has no recommender: train with `--loss top1-max`.

Departures from the papers, besides those of docs/models.md:
- A sample is a whole history. The papers process many sessions in parallel, item by item.
- Negatives are drawn from all items. The papers use the other targets of the batch, and BPR-max adds drawn items.
- The output shares its weights with the input embeddings, which the second paper calls constrained embeddings. A linear
  map and a LayerNorm precede it. Scores have no tanh or ELU.
- torch's GRU applies the reset gate to the product with the state. The paper applies it to the state.

docs/experiments.md has the measured effects.

Shapes: B sequences, T positions, Q positions per sequence, D dimensions, H units of the recurrent layer.
"""

from typing import Literal

import torch
from torch import Tensor, nn

from recsys.config import Size, added_later, config_class
from recsys.models.layers import Dropout, gather_positions, init_weights
from recsys.models.sequence_config import ExtrasConfig
from recsys.models.sequence_model import SequenceEncoder, SequenceModel
from recsys.training.options import TrainConfig

CELLS = {"gru": nn.GRU, "lstm": nn.LSTM, "rnn": nn.RNN}  # nn.RNN with its default, tanh


@config_class
class Gru4RecConfig(ExtrasConfig):
    """Settings of GRU4Rec, tuned on ML-1M."""

    # A GRU processes one position after another, so 64 sequences take little more time than the default of 32.
    schedule: TrainConfig = TrainConfig(epochs=50, batch_size=64, validate_every=5)
    hidden: Size = 128  # units of the recurrent layer
    cell: Literal["gru", "lstm", "rnn"] = added_later("gru")  # kind of recurrent layer: gru, lstm, or rnn with tanh


class Gru4RecEncoder(SequenceEncoder):
    """Item embeddings, a recurrent layer, a linear map to D with a LayerNorm, output tied to the embeddings."""

    def __init__(self, config: Gru4RecConfig, n_items: int) -> None:
        super().__init__(n_items, config.dim)
        self.dropout = Dropout(config.dropout)
        # The name is `gru` for every kind of cell, because checkpoints contain it.
        self.gru = CELLS[config.cell](config.dim, config.hidden, batch_first=True)
        self.project = nn.Linear(config.hidden, config.dim)
        self.norm = nn.LayerNorm(config.dim)
        init_weights(self, config.init)

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """See `SequenceEncoder.forward`."""
        x = self.dropout(self.items(tokens))  # (B, T, D), item embeddings
        # Autocast runs cuDNN's recurrent layers in fp16 even if it is set to bf16. Gradients underflow in fp16.
        with torch.autocast(x.device.type, enabled=False):
            states = self.gru(x)[0]  # (B, T, H)
        return self.norm(self.project(self.dropout(gather_positions(states, positions))))


class Gru4Rec(SequenceModel):
    """The model. The state after the newest item predicts the next item."""

    Config = Gru4RecConfig
    Encoder = Gru4RecEncoder
