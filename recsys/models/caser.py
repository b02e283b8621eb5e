"""Caser: convolutions over the last few items, taken as an image (Tang and Wang, WSDM 2018, arXiv:1809.07426).

Horizontal filters span 1 to L items in a row, and max pooling keeps their best match within the window; vertical
filters weigh the L items of a window. Departures from the paper: all windows of a history are computed at once, by
convolutions along it, and each predicts the next item alone, not the next three; instead of a vector learnt for each
user, which an unseen user would not have, the mean of all items of a history so far takes part, through a linear map;
the output shares its weights with the input embeddings, which start from pointwise mutual information; AdamW whose
learning rate falls linearly, and averaged weights. The loss is the paper's: binary cross-entropy against three items
drawn uniformly. assets/experiments.md says what a softmax gives.

Shapes: B sequences, T positions, Q positions per sequence, D dimensions, L items of a window, N filters of a kind.
"""

from typing import ClassVar

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
    """Settings of Caser, tuned on ML-1M; the filters are the paper's for MovieLens."""

    schedule: TrainConfig = TrainConfig(epochs=40, batch_size=64, validate_every=5)
    window: Size = 5  # items that the filters span, the paper's L
    horizontal: Size = 16  # filters of each height from 1 to `window`
    vertical: Size = 4  # filters that weigh the items of a window
    person: bool = True  # the mean of all items so far takes part
    dropout: DropoutRate = 0.2  # share of the values set to zero
    loss: LossName = "gbce"  # gbce with t = 0 is BCE
    negatives: Size = 3  # items that a sampled loss draws; each position has its own where gBCE draws 8 or fewer
    gbce_t: Fraction = 0.0  # gBCE's t: 0 is over-confident, 1 gives probabilities


class CaserModule(SequenceEncoder):
    """Item embeddings, the two kinds of filters, a linear map of their outputs and one of the mean item."""

    def __init__(self, config: CaserConfig, n_items: int) -> None:
        super().__init__(n_items, config.dim)
        self.window, dim = config.window, config.dim
        self.horizontal = nn.ModuleList(nn.Conv1d(dim, config.horizontal, h + 1) for h in range(config.window))
        self.vertical = nn.Linear(config.window, config.vertical, bias=False)
        self.combine = nn.Linear(config.window * config.horizontal + config.vertical * dim, dim)
        self.person = nn.Linear(dim, dim, bias=False) if config.person else None
        self.dropout, self.norm = Dropout(config.dropout), nn.LayerNorm(dim)
        init_weights(self, config.init)
        nn.init.constant_(self.vertical.weight, 1 / config.window)

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """Tokens (B, T) → hidden states (B, T, D), or those at `positions` (B, Q) only: (B, Q, D).

        A window that begins before its history is filled up with zeros. Padding stands at the end, so that no other
        state depends on it.
        """
        items = self.items(tokens)  # (B, T, D)
        x = F.pad(items, (0, 0, self.window - 1, 0))  # (B, L-1+T, D)
        features = [self.best_match(conv, x.transpose(1, 2)) for conv in self.horizontal]
        features.append(self.vertical(x.unfold(1, self.window, 1)).flatten(2))  # (B, T, D·N)
        hidden = self.combine(self.dropout(gather_positions(torch.cat(features, 2), positions)))
        if self.person is not None:
            hidden = hidden + self.person(self.dropout(gather_positions(running_mean(items), positions)))
        return self.norm(hidden)

    def best_match(self, conv: nn.Module, x: Tensor) -> Tensor:
        """x (B, D, L-1+T) → (B, T, N): each filter's maximum within the window that ends at each position."""
        matches = F.relu(conv(x))  # (B, N, L-h+T), h the filters' height
        return F.max_pool1d(matches, matches.shape[2] - x.shape[2] + self.window, 1).transpose(1, 2)


class Caser(SequenceModel):
    """The window that ends with the newest item predicts the next one."""

    Config: ClassVar[type] = CaserConfig
    Module: ClassVar[type] = CaserModule
    config: CaserConfig
    module: CaserModule
