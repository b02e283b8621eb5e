"""TransRec: a user is a translation in the space of items (He, Kang and McAuley, RecSys 2017, arXiv:1707.02410).

    score(j) = β_j - ‖γ_i + t + t_u - γ_j‖²

i is the last item, γ are coordinates of items, t is a global translation and t_u the user's translation. The squared
Euclidean distance is one of the paper's two distances. The loss is the paper's S-BPR.

Departures from the paper:
- t_u is a `running_mean` of learnt vectors, so users without training data have a translation too. The paper learns a
  vector per user.
- A start token precedes each history. It has coordinates, predicts the first item and stands for an empty history.
- Coordinates may leave the unit ball.
- The negatives are shared by a batch, and a negative that equals the target is ignored.
- The optimiser is AdamW, and the weights are averaged over steps (EMA). Dropout takes the place of weight penalties.

Shapes: B sequences, T positions, Q positions per sequence, D dimensions, I items.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
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

    # Embeddings allow a higher learning rate than networks.
    schedule: TrainConfig = TrainConfig(epochs=20, lr=1e-2, validate_every=5)
    loss: LossName = "bpr"  # the paper's
    sampling_power: NonNegative = 0.0  # negatives ∝ popularity ** power, 0: uniform; gbce and bce draw uniformly


class TransRecEncoder(SequenceEncoder):
    """Coordinates of items, and translations.

    With q = γ_i + t + t_u, the score is (q, 1) · (2γ_j, -‖γ_j‖²) + β_j, up to ‖q‖², which is equal for all items.
    """

    def __init__(self, config: TransRecConfig, n_items: int) -> None:
        super().__init__(n_items, config.dim)  # creates `items`, an nn.Embedding: γ, and `bias`: β
        self.people = nn.Embedding(n_items + 2, config.dim)  # a vector for each token; their running mean is t_u
        self.step = nn.Parameter(torch.zeros(config.dim))  # t
        self.dropout = Dropout(config.dropout)
        init_weights(self, config.init)
        nn.init.zeros_(self.people.weight)  # at the start all users have the same translation, as in the paper

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """Return (q, 1) of tokens (B, T) at `positions` (B, Q; None: all T), (B, Q, D + 1)."""
        last = gather_positions(self.items(tokens), positions)  # (B, Q, D), γ_i
        user = gather_positions(running_mean(self.people(tokens)), positions)  # (B, Q, D), t_u
        return F.pad(self.dropout(last + self.step + user), (0, 1), value=1.0)

    @property
    def output(self) -> Tensor:
        """(2γ, -‖γ‖²) of all items, (I, D + 1)."""
        gamma = self.items.weight[: self.n_items]
        return torch.cat([2 * gamma, -gamma.square().sum(1, keepdim=True)], 1)


class TransRec(SequenceModel):
    """The model. The next item is near the last item plus the translations."""

    Config: ClassVar[type] = TransRecConfig
    Encoder: ClassVar[type] = TransRecEncoder
    former_settings: ClassVar[Mapping[str, Any]] = {"ball": False}  # see `Model.former_settings`

    def item_embeddings(self) -> np.ndarray:
        """Return the coordinates of the items, (I, D) float32."""
        return self.module.items.weight[: self.module.n_items].detach().cpu().numpy()
