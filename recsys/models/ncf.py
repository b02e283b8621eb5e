"""NeuMF: a product of factors and a network over them, side by side (He et al., WWW 2017, arXiv:1708.05031).

The loss is the paper's: binary cross-entropy against four items drawn for each that was watched. Departures from the
paper: a user's factors are the mean of learnt item vectors over all items so far, as in FISM (KDD 2013), so that there
is no row per user and unseen users are served; both parts learn together from the start; a negative may have been
watched, other than the target; a bias per item; a start token predicts the first item and answers for an empty history.

Shapes: B users, T positions, Q positions per sequence, D dimensions of either part, I items, N of them, M targets, K
negatives.
"""

from itertools import pairwise
from typing import Annotated, ClassVar

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from recsys.config import ConfigError, DropoutRate, Length, Positive, Size, config_class
from recsys.data.schema import Dataset
from recsys.models.layers import Dropout, gather_positions, init_weights, running_mean
from recsys.models.sequence_model import SequenceEncoder, SequenceModel
from recsys.training.losses import Loss
from recsys.training.options import TrainConfig

BLOCK = 1 << 18  # values of the widest layer at a time: what a core's cache holds
Layers = Annotated[int, Field(ge=1, le=16)]  # each halves the width of the next


@config_class
class NcfConfig:
    """Settings of NeuMF, tuned on ML-1M."""

    # the learning rate is higher than that of networks: most of the model is tables of factors
    schedule: TrainConfig = TrainConfig(epochs=12, lr=1e-2, validate_every=3)
    dim: Size = 32  # factors of a user and of an item, in either part
    length: Length = 200  # positions: the newest items of a history that are read
    layers: Layers = 3  # of the network; each is half as wide as the one before, the first as wide as `dim`
    dropout: DropoutRate = 0.1  # share of the user's factors set to zero
    negatives: Size = 4  # items drawn for each target, uniformly
    init: Positive = 0.05  # standard deviation of the first factors

    def __post_init__(self) -> None:
        """Raises ConfigError where the last layer would have no width."""
        if self.dim >> (self.layers - 1) < 1:
            least = 1 << (self.layers - 1)
            raise ConfigError(f"dim is {self.dim}, but must be at least {least} to be halved for {self.layers} layers")


class NeuMf(SequenceEncoder):
    """Equation 12: h · [p ⊙ q; MLP(p', q')], here with a bias per item; its sigmoid is the paper's prediction.

    The network's first layer is linear in the user and in the item before they meet, so its weights are left to the
    two tables: W [p'; q'] is a sum of one vector of a user and one of an item.
    """

    logits_are_products: ClassVar[bool] = False

    def __init__(self, config: NcfConfig, n_items: int) -> None:
        super().__init__(n_items, 2 * config.dim)  # `items`: their mean is a user, p beside p'
        widths = [config.dim >> layer for layer in range(config.layers)]
        self.targets = nn.Embedding(n_items, 2 * config.dim)  # q beside q'
        self.dropout = Dropout(config.dropout)
        init_weights(self, config.init)
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(widths))
        self.h = nn.Linear(config.dim + widths[-1], 1, bias=False)

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """Tokens (B, T) → the user as of each position (B, T, 2D), or of `positions` (B, Q): (B, Q, 2D)."""
        return self.dropout(gather_positions(running_mean(self.items(tokens)), positions))

    @property
    def output(self) -> Tensor:
        """The items as targets, (I, 2D)."""
        return self.targets.weight

    def pairs(self, users: Tensor, items: Tensor) -> Tensor:
        """Logits (…, N) of users (…, 1, 2D) and items (…, N, 2D) or (N, 2D), biases aside."""
        (p, p_mlp), (q, q_mlp) = users.chunk(2, -1), items.chunk(2, -1)
        h_product, h_network = self.h.weight[0].split([p.shape[-1], self.h.in_features - p.shape[-1]])
        x = F.relu(p_mlp + q_mlp)  # (…, N, D)
        for layer in self.layers:
            x = F.relu(layer(x))
        return (q @ (p * h_product).transpose(-1, -2))[..., 0] + x @ h_network

    def logits(self, hidden: Tensor) -> Tensor:
        """Users (B, 2D) → a logit for every item (B, I), some users at a time."""
        step = max(1, BLOCK // self.output.numel())
        return torch.cat([self.pairs(some[:, None], self.output) for some in hidden.split(step)]) + self.bias


class Ncf(SequenceModel):
    """The probability that a user watches an item, by what they have watched, in whatever order."""

    Config: ClassVar[type] = NcfConfig
    Module: ClassVar[type] = NeuMf
    config: NcfConfig
    module: NeuMf

    @property
    def loss_name(self) -> str:
        """A loss of its own."""
        return ""

    def make_loss(self, train: Dataset) -> Loss:
        """Binary cross-entropy against items drawn."""
        return self.binary_cross_entropy

    def binary_cross_entropy(self, users: Tensor, items: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        """Sum of the cross-entropies of `targets` (M,) and of K items drawn for each, unless it is the target; ().

        users (M, 2D), items (I, 2D), bias (I,).
        """
        drawn = torch.randint(len(items), (len(targets), self.config.negatives), device=targets.device)  # (M, K)
        chosen = torch.cat([targets[:, None], drawn], 1)  # (M, 1 + K)
        logits = self.module.pairs(users[:, None], F.embedding(chosen, items))
        logits = (logits + F.embedding(chosen, bias[:, None])[..., 0]).float()
        negative = logits[:, 1:].masked_fill(drawn == targets[:, None], -torch.inf)
        return -F.logsigmoid(logits[:, 0]).sum() - F.logsigmoid(-negative).sum()
