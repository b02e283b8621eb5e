"""FPMC: a factorised, personalised Markov chain (Rendle, Freudenthaler and Schmidt-Thieme, WWW 2010, equation 11).

    score(j) = v_u^{U,I} · v_j^{I,U} + v_l^{L,I} · v_j^{I,L} + b_j

u is the user and l the last item. FMC (`personal=False`) has no first term. The loss is the paper's S-BPR.

Departures from the paper:
- The user's factors v_u^{U,I} are a `running_mean` of learnt vectors, so users without training data have factors too.
  The paper learns a row per user.
- A basket contains one item.
- Each item has a bias b_j. A start token precedes each history. It predicts the first item and stands for an empty
  history.
- The negatives are shared by a batch, and a negative that equals the target is ignored.
- The optimiser is AdamW, and the weights are averaged over steps (EMA). The paper uses stochastic gradient descent
  with weight decay.

Shapes: B sequences, T positions, Q positions per sequence, D dimensions, I items.
"""

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
    """Settings of FPMC and FMC, tuned on ML-1M."""

    # Embeddings allow a higher learning rate than networks.
    schedule: TrainConfig = TrainConfig(epochs=20, lr=1e-2, validate_every=5)
    personal: bool = True  # with the user's factors (FPMC); without, the last item alone (FMC)
    loss: LossName = "bpr"  # the paper's
    sampling_power: NonNegative = 0.0  # negatives ∝ popularity ** power, 0: uniform; gbce and bce draw uniformly


class FpmcEncoder(SequenceEncoder):
    """Equation 11 as one product of a left and a right vector: [v^{L,I}; v^{U,I}] · [v^{I,L}; v^{I,U}].

    Stored checkpoints fix the names `people` and `offers`.
    """

    def __init__(self, config: FpmcConfig, n_items: int) -> None:
        super().__init__(n_items, config.dim)  # creates `items`, an nn.Embedding: v^{L,I}
        # Vectors of items, padding and start token. Their running mean is the user's v^{U,I}.
        self.people = nn.Embedding(n_items + 2, config.dim) if config.personal else None
        self.offers = nn.Embedding(n_items, config.dim * (2 if config.personal else 1))  # targets: [v^{I,L}; v^{I,U}]
        self.dropout = Dropout(config.dropout)
        init_weights(self, config.init)

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """Return the left vector of tokens (B, T) at `positions` (B, Q; None: all T), (B, Q, 2D), for FMC (B, Q, D)."""
        vectors = gather_positions(self.items(tokens), positions)  # (B, Q, D), of the last item
        if self.people is not None:
            vectors = torch.cat([vectors, gather_positions(running_mean(self.people(tokens)), positions)], -1)
        return self.dropout(vectors)

    @property
    def output(self) -> Tensor:
        """The right vectors of all items, (I, 2D) or (I, D)."""
        return self.offers.weight


class Fpmc(SequenceModel):
    """The model. The last item and, if `personal`, the user predict the next item."""

    Config = FpmcConfig
    Encoder = FpmcEncoder
