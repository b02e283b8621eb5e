"""TransRec: a user is a translation in a space of items (He, Kang and McAuley, RecSys 2017, arXiv:1707.02410).

The score of item j after item i is β_j - d(γ_i + t + t_u, γ_j), with d the squared Euclidean distance, one of the
paper's two. Departures from the paper: the user's translation t_u is the mean of learnt item vectors over all items so
far, as in FISM (KDD 2013), so that there is no row per user and unseen users are served; a start token has coordinates
of its own, predicts the first item and answers for an empty history; the batch shares its negatives; coordinates may
leave the unit ball unless `ball` is set; AdamW with averaged weights, dropout instead of penalties on the weights.

Shapes: B sequences, T positions, Q positions per sequence, D dimensions, I items.
"""

from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from recsys.config import NonNegative, config_class
from recsys.models.layers import Dropout, gather_positions, init_weights, running_mean
from recsys.models.sequence_config import SequenceConfig
from recsys.models.sequence_model import SequenceEncoder, SequenceModel
from recsys.training.losses import LossName
from recsys.training.options import TrainConfig


@config_class
class TransRecConfig(SequenceConfig):
    """Settings of TransRec, tuned on ML-1M."""

    # the learning rate is higher than that of networks: tables of factors stand more
    schedule: TrainConfig = TrainConfig(epochs=20, lr=1e-2, validate_every=5)
    ball: bool = False  # keep all items within the unit ball, as the paper does
    loss: LossName = "bpr"  # the paper's
    sampling_power: NonNegative = 0.0  # negatives are drawn by popularity to this power; gBCE: uniformly


class TransRecModule(SequenceEncoder):
    """Coordinates of items, and translations.

    -‖q - γ‖² = 2 q·γ - ‖γ‖² - ‖q‖², and ‖q‖² is the same for every item: so a score is (q, 1) · (2γ, -‖γ‖²) + β.
    """

    def __init__(self, config: TransRecConfig, n_items: int) -> None:
        super().__init__(n_items, config.dim)  # `items`: γ, `bias`: β
        self.people = nn.Embedding(n_items + 2, config.dim)  # their mean: t_u
        self.step = nn.Parameter(torch.zeros(config.dim))  # t
        self.dropout = Dropout(config.dropout)
        self.ball = config.ball
        init_weights(self, config.init)
        nn.init.zeros_(self.people.weight)  # at first every user has the same translation, as in the paper

    @property
    def coordinates(self) -> Tensor:
        """γ, (I + 2, D)."""
        gamma = self.items.weight
        return gamma / gamma.norm(dim=1, keepdim=True).clamp(min=1) if self.ball else gamma

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """Tokens (B, T) → (B, T, D + 1), or at `positions` (B, Q) only: (B, Q, D + 1)."""
        last = gather_positions(nn.functional.embedding(tokens, self.coordinates), positions)
        q = self.dropout(
            last + self.step + gather_positions(running_mean(self.people(tokens)), positions)
        )  # γ_i + t + t_u
        return nn.functional.pad(q, (0, 1), value=1.0)

    @property
    def output(self) -> Tensor:
        """Output weights, (I, D + 1)."""
        gamma = self.coordinates[: self.n_items]
        return torch.cat([2 * gamma, -gamma.square().sum(1, keepdim=True)], 1)


class TransRec(SequenceModel):
    """The next item is near where the last one, moved by the user's translation, comes to lie."""

    Config: ClassVar[type] = TransRecConfig
    Module: ClassVar[type] = TransRecModule
    config: TransRecConfig
    module: TransRecModule

    def item_embeddings(self) -> np.ndarray:
        """(I, D) float32: the coordinates of the items."""
        return self.module.coordinates[: self.module.n_items].detach().cpu().numpy()
