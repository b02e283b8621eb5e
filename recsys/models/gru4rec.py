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

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import torch
from torch import Tensor, nn

from recsys.data.schema import Dataset
from recsys.models.base import Variant
from recsys.models.extras import Extras, remembering
from recsys.models.neural import SMALL_SETS, NeuralModule, NeuralRecommender, check_only_unseen
from recsys.models.nn.initialisation import init_weights, initialise_from_pmi
from recsys.models.nn.layers import Dropout, gather_positions
from recsys.training.config import Amount, Dropped, Length, OneOf, Positive, Share, Size, added
from recsys.training.losses import LossName
from recsys.training.trainer import Schedule

CELLS = {"gru": nn.GRU, "lstm": nn.LSTM, "rnn": nn.RNN}  # the plain one with tanh


@dataclass(frozen=True)
class Gru4RecConfig(Extras):
    """Settings of GRU4Rec, tuned on ML-1M."""

    # a GRU reads one item after the other: a larger batch costs it little more
    schedule: Schedule = Schedule(epochs=50, batch_size=64, validate_every=5)
    dim: Size = 64  # width of an embedding
    length: Length = 200  # positions: the newest items of a history that are read
    hidden: Size = 128  # units of the recurrent layer
    dropout: Dropped = 0.1  # share of the values set to zero
    init: Positive = 0.05  # standard deviation of the first weights
    pmi_init: bool = True  # item embeddings start from pointwise mutual information, not at random
    loss: LossName = "softmax"  # over all items; against some: sampled-softmax, gbce, bce, bpr, top1, bpr-max
    negatives: Size = 256  # items that a sampled loss draws; each position has its own where gBCE draws 8 or fewer
    gbce_t: Share = 0.75  # gBCE's t: 0 is over-confident, 1 gives probabilities
    sampling_power: Amount = 0.75  # items are drawn by popularity to this power; gBCE and BCE draw uniformly
    cell: Annotated[str, OneOf(tuple(CELLS))] = added("gru")  # what reads the items one by one: gru, lstm, rnn

    def agree(self) -> None:
        """Raises ConfigError."""
        check_only_unseen(self)


class Gru4RecModule(NeuralModule):
    """Item embeddings, one recurrent layer, a linear map back to the width of an embedding, tied output."""

    def __init__(self, config: Gru4RecConfig, n_items: int) -> None:
        super().__init__(n_items, config.dim)
        self.dropout = Dropout(config.dropout)
        self.gru = CELLS[config.cell](config.dim, config.hidden, batch_first=True)  # checkpoints know it by this name
        self.project = nn.Linear(config.hidden, config.dim)
        self.norm = nn.LayerNorm(config.dim)
        init_weights(self, config.init)

    def forward(self, tokens: Tensor, at: Tensor | None = None) -> Tensor:
        """Tokens (B, T) → hidden states (B, T, D), or those at the positions `at` (B, Q) only: (B, Q, D).

        Padding stands at the end, so that no other state depends on it.
        """
        x = self.dropout(self.items(tokens))  # (B, T, D)
        with torch.autocast(x.device.type, enabled=False):  # cuDNN would compute in fp16, whose gradients underflow
            states = self.gru(x)[0]  # (B, T, H)
        return self.norm(self.project(self.dropout(gather_positions(states, at))))


class Gru4Rec(NeuralRecommender):
    """The hidden state after the newest item predicts the next one."""

    Config: ClassVar[type] = Gru4RecConfig
    Module: ClassVar[type] = Gru4RecModule
    config: Gru4RecConfig
    module: Gru4RecModule

    def initialise(self, module: Gru4RecModule, train: Dataset, seed: int) -> None:
        """PMI initialisation, unless it is switched off."""
        if self.config.pmi_init:
            initialise_from_pmi(module.items, None, train, self.config.init, seed)


def on_sample(config: Gru4RecConfig) -> Gru4RecConfig:
    """The same loss, for the set that comes with the project."""
    return replace(config, dropout=0.3, schedule=replace(config.schedule, batch_size=32, epochs=20, validate_every=2))


def on_small(config: Gru4RecConfig) -> Gru4RecConfig:
    """The same loss, tuned for sets of some hundred users."""
    schedule = replace(config.schedule, batch_size=16, epochs=30, ema_decay=0.995, warmup_steps=100, validate_every=3)
    return replace(config, dropout=0.3, schedule=schedule)


SOFTMAX = Gru4RecConfig()
WITH_ML_1M = replace(SOFTMAX, schedule=replace(SOFTMAX.schedule, epochs=24, validate_every=2))  # for --also ml-1m
THIRTY_EPOCHS = replace(SOFTMAX.schedule, epochs=30)
BPR = Gru4RecConfig(schedule=THIRTY_EPOCHS, loss="bpr", sampling_power=0.0)
TOP1 = Gru4RecConfig(schedule=THIRTY_EPOCHS, loss="top1", sampling_power=0.0)
# the paper draws 2,048 negatives more, by popularity to a power that it tunes for each data set
BPR_MAX = Gru4RecConfig(schedule=THIRTY_EPOCHS, loss="bpr-max", negatives=512, sampling_power=0.0)

LSTM, RNN = replace(SOFTMAX, cell="lstm"), replace(SOFTMAX, cell="rnn")

VARIANTS = {
    "rnn": Variant(
        Gru4Rec,
        "RNN (softmax)",
        "Recurrent",
        "arXiv:1511.06939",
        RNN,
        dict.fromkeys(SMALL_SETS, on_small(RNN)) | {"ml-latest-sample": on_sample(RNN)},
    ),
    "lstm": Variant(
        Gru4Rec,
        "LSTM (softmax)",
        "Recurrent",
        "arXiv:1511.06939",
        LSTM,
        dict.fromkeys(SMALL_SETS, on_small(LSTM)) | {"ml-latest-sample": on_sample(LSTM)},
    ),
    "gru4rec-memory": Variant(
        Gru4Rec,
        "GRU4Rec with memory",
        "Recurrent",
        "",
        remembering(SOFTMAX),
        dict.fromkeys(SMALL_SETS, remembering(on_small(SOFTMAX))) | {"ml-latest-sample": remembering(WITH_ML_1M)},
    ),
    "gru4rec-ce": Variant(
        Gru4Rec,
        "GRU4Rec (softmax)",
        "Recurrent",
        "arXiv:1511.06939",
        SOFTMAX,
        dict.fromkeys(SMALL_SETS, on_small(SOFTMAX)) | {"ml-latest-sample": WITH_ML_1M},
    ),
    "gru4rec-bpr": Variant(
        Gru4Rec,
        "GRU4Rec (BPR)",
        "Recurrent",
        "arXiv:1511.06939",
        BPR,
        dict.fromkeys(SMALL_SETS, on_small(BPR)) | {"ml-latest-sample": on_sample(BPR)},
    ),
    "gru4rec-top1": Variant(
        Gru4Rec,
        "GRU4Rec (TOP1)",
        "Recurrent",
        "arXiv:1511.06939",
        TOP1,
        dict.fromkeys(SMALL_SETS, on_small(TOP1)) | {"ml-latest-sample": on_sample(TOP1)},
    ),
    "gru4rec-plus": Variant(
        Gru4Rec,
        "GRU4Rec+",
        "Recurrent",
        "arXiv:1706.03847",
        BPR_MAX,
        dict.fromkeys(SMALL_SETS, on_small(BPR_MAX)) | {"ml-latest-sample": on_sample(BPR_MAX)},
    ),
}
