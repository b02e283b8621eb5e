"""Caser: convolutions over the embeddings of the newest L items (Tang and Wang, WSDM 2018, arXiv:1809.07426).

For a window E (L, D) with rows E_l, in the paper's symbols:

    horizontal filters (equations 3–5)    o = concat over heights h = 1 … L of max_i ReLU(F_h * E[i : i + h])
    vertical filters (equations 6–8)      õ = concat over filters n of Σ_l F̃_n,l E_l

The paper's output is z = φ(W [o; õ] + b), y = W′ [z; P_u] + b′ (equations 9 and 10). With the embedding e_j of item j
and the mean x̄ of the embeddings so far, ours is

    z = LayerNorm(W [o; õ] + b + U x̄), score(j) = z · e_j + b_j

The loss is the binary cross-entropy of the target and of 3 items drawn uniformly.

Departures from the paper, besides those of docs/models.md:
- The cross-entropy is computed for the scores minus log I, as in our gBCE, see `losses.py`. The paper computes it for
  the scores themselves.
- All windows of a history are computed together, by convolutions along it. Each window predicts the next item only. In
  the paper it predicts the next three items.
- The mean x̄ of the start token and all items so far replaces the paper's vector P_u of the user. So users without
  training data are represented too.
- A LayerNorm takes the place of the activation φ. U x̄ is added before it. The paper concatenates z and P_u after φ.
- The output weights W′ are the input embeddings.

Results with a softmax loss are in docs/experiments.md.

Shapes: B sequences, T positions, Q positions per sequence, D dimensions, L items of a window, N horizontal
filters of each height, V vertical filters, I items.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recsys.config import DropoutRate, Fraction, Size, config_class
from recsys.models.layers import Dropout, gather_positions, init_weights, running_mean
from recsys.models.sequence_config import PmiConfig
from recsys.models.sequence_model import SequenceEncoder, SequenceModel
from recsys.training.losses import LossName
from recsys.training.options import TrainConfig


@config_class
class CaserConfig(PmiConfig):
    """Settings of Caser, tuned on ML-1M. The numbers of filters are the paper's for MovieLens."""

    schedule: TrainConfig = TrainConfig(epochs=40, batch_size=64, validate_every=5)
    window: Size = 5  # L, items that the filters span
    horizontal: Size = 16  # filters of each height from 1 to `window`
    vertical: Size = 4  # filters that weigh the items of a window
    person: bool = True  # add U x̄, see the module docstring
    dropout: DropoutRate = 0.2  # share of the values set to zero
    loss: LossName = "gbce"  # with t = 0: BCE of scores minus log I
    negatives: Size = 3  # sampled negatives, see `SequenceConfig.negatives`
    gbce_t: Fraction = 0.0  # t of gBCE: with 1 the sigmoids are calibrated, with lower values they are too high


class CaserEncoder(SequenceEncoder):
    """Item embeddings, horizontal and vertical filters, and linear maps of their outputs and of the mean x̄."""

    def __init__(self, config: CaserConfig, n_items: int) -> None:
        super().__init__(n_items, config.dim)
        self.window, dim = config.window, config.dim
        self.horizontal = nn.ModuleList(nn.Conv1d(dim, config.horizontal, h) for h in range(1, config.window + 1))
        self.vertical = nn.Linear(config.window, config.vertical, bias=False)
        self.combine = nn.Linear(config.window * config.horizontal + config.vertical * dim, dim)  # W, b
        self.person = nn.Linear(dim, dim, bias=False) if config.person else None  # U
        self.dropout, self.norm = Dropout(config.dropout), nn.LayerNorm(dim)
        init_weights(self, config.init)
        nn.init.constant_(self.vertical.weight, 1 / config.window)  # at the start a vertical filter is a mean

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """See `SequenceEncoder.forward`. A window that begins before its history is filled with zeros."""
        items = self.items(tokens)  # (B, T, D), item embeddings
        x = F.pad(items, (0, 0, self.window - 1, 0))  # (B, L-1+T, D)
        features = []
        for height, conv in enumerate(self.horizontal, start=1):
            features.append(self.max_in_windows(conv, height, x.transpose(1, 2)))  # (B, T, N)
        features.append(self.vertical(x.unfold(1, self.window, 1)).flatten(2))  # (B, T, D·V)
        hidden = self.combine(self.dropout(gather_positions(torch.cat(features, 2), positions)))
        if self.person is not None:
            hidden = hidden + self.person(self.dropout(gather_positions(running_mean(items), positions)))
        return self.norm(hidden)

    def max_in_windows(self, conv: nn.Module, height: int, x: Tensor) -> Tensor:
        """Return each filter's maximum in the window that ends at each position, (B, D, L-1+T) → (B, T, N)."""
        matches = F.relu(conv(x))  # (B, N, L - height + T)
        n_starts = self.window - height + 1  # positions of a filter within a window
        return F.max_pool1d(matches, n_starts, stride=1).transpose(1, 2)


class Caser(SequenceModel):
    """The model. The window that ends with the newest item and, with `person`, the mean x̄ predict the next item."""

    Config = CaserConfig
    Encoder = CaserEncoder
