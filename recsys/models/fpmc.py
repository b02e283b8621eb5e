"""FPMC: a factorised Markov chain, personal or not (Rendle, Freudenthaler and Schmidt-Thieme, WWW 2010).

Variants: `fmc` knows the last item only, `fpmc` the user too. The loss is the paper's S-BPR. Departures from the paper:
a user's factors v^{U,I} are the mean of learnt item vectors over all items so far, as in FISM (KDD 2013), so that there
is no row per user and unseen users are served; a basket is one item; a bias per item; a start token predicts the first
item and answers for an empty history; the batch shares its negatives, of which there are many, and one that is the
target does not count; AdamW with averaged weights takes the place of single steps with weight decay.

Shapes: B sequences, T positions, Q positions per sequence, D dimensions, I items.
"""

from typing import ClassVar

import torch
from torch import Tensor, nn

from recsys.config import NonNegative, config_class
from recsys.models.layers import Dropout, gather_positions, init_weights, running_mean
from recsys.models.sequence_config import SequenceConfig
from recsys.models.sequence_model import SequenceEncoder, SequenceModel
from recsys.training.losses import LossName
from recsys.training.options import TrainConfig


@config_class
class FpmcConfig(SequenceConfig):
    """Settings of FPMC, tuned on ML-1M."""

    # the learning rate is higher than that of networks: tables of factors stand more
    schedule: TrainConfig = TrainConfig(epochs=20, lr=1e-2, validate_every=5)
    personal: bool = True  # with the user's factors (FPMC); without: the last item alone (FMC)
    loss: LossName = "bpr"  # the paper's
    sampling_power: NonNegative = 0.0  # negatives are drawn by popularity to this power; gBCE: uniformly


class FpmcModule(SequenceEncoder):
    """Equation 11 as one product: the last item's and the user's factors side by side, times those of the next item."""

    def __init__(self, config: FpmcConfig, n_items: int) -> None:
        super().__init__(n_items, config.dim)  # `items`: v^{L,I}, the last item
        self.people = nn.Embedding(n_items + 2, config.dim) if config.personal else None  # their mean: v^{U,I}
        self.offers = nn.Embedding(n_items, config.dim * (2 if config.personal else 1))  # v^{I,L}, beside it v^{I,U}
        self.dropout = Dropout(config.dropout)
        init_weights(self, config.init)

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """Tokens (B, T) → (B, T, D), personal (B, T, 2D); or at `positions` (B, Q) only: (B, Q, …)."""
        hidden = gather_positions(self.items(tokens), positions)
        if self.people is not None:
            hidden = torch.cat([hidden, gather_positions(running_mean(self.people(tokens)), positions)], -1)
        return self.dropout(hidden)

    @property
    def output(self) -> Tensor:
        """Output weights, (I, D) or (I, 2D)."""
        return self.offers.weight


class Fpmc(SequenceModel):
    """The next item given the last one, and given the user where `personal`: factorised transition matrices."""

    Config: ClassVar[type] = FpmcConfig
    Module: ClassVar[type] = FpmcModule
    config: FpmcConfig
    module: FpmcModule
