"""NeuMF: a product of factors and an MLP, side by side (He et al., WWW 2017, arXiv:1708.05031, equation 12).

    ŷ_uj = σ(h · [p_u ⊙ q_j; MLP(p'_u, q'_j)] + b_j)

p, p' are factors of the user and q, q' factors of the item. The loss is the paper's: binary cross-entropy of the
target and of 4 items drawn uniformly.

Departures from the paper:
- The user's factors p_u, p'_u are a `running_mean` of learnt vectors, so users without training data have factors too.
  The paper learns a row per user.
- The first layer of the MLP is W[p'; q'] = W₁p' + W₂q'. Its matrices are part of the learnt vectors p' and q'.
- Both parts are trained together from the start. The paper trains them separately first.
- A negative may be an item that the user watched, except the target.
- Each item has a bias b_j. A start token precedes each history. It predicts the first item and stands for an empty
  history.

Shapes: B users, T positions, Q positions per sequence, D dimensions of either part, I items of the catalogue, N items
to score, M targets, K negatives.
"""

from itertools import pairwise
from typing import Annotated, ClassVar

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from recsys.config import ConfigError, DropoutRate, Length, Positive, Size, config_class
from recsys.data.dataset import Dataset
from recsys.models.layers import Dropout, gather_positions, init_weights, running_mean
from recsys.models.sequence_model import SequenceEncoder, SequenceModel
from recsys.training.losses import Loss
from recsys.training.options import TrainConfig

# `logits` scores users in blocks of at most this many values, or of one user. 1 MB in float32 stays in a core's cache.
# A user counts as 2D · I values, the size of `output`, more than the (D + D/2 + …) · I values of `pair_logits`.
BLOCK_VALUES = 1 << 18
MlpLayers = Annotated[int, Field(ge=1, le=16)]  # each layer halves the width


@config_class
class NcfConfig:
    """Settings of NeuMF, tuned on ML-1M."""

    # Most weights are embeddings, which allow a higher learning rate than the default of 2e-3.
    schedule: TrainConfig = TrainConfig(epochs=12, lr=1e-2, validate_every=3)
    dim: Size = 32  # factors of a user and of an item, in either part
    length: Length = 200  # positions: the newest items of a history that are read
    layers: MlpLayers = 3  # of the MLP, of widths dim, dim/2, dim/4, …; the first is part of the embeddings
    dropout: DropoutRate = 0.1  # share of the user's factors set to zero
    negatives: Size = 4  # items drawn for each target, uniformly
    init: Positive = 0.05  # standard deviation of the initial factors; the layers keep PyTorch's initialisation

    def __post_init__(self) -> None:
        """Raise ConfigError if the last layer would have the width 0."""
        min_dim = 1 << (self.layers - 1)
        if self.dim < min_dim:
            text = (
                "dim is {dim}, but must be at least {minimum}, because it is halved from each of the {layers} "
                "layers to the next"
            )
            raise ConfigError(text, dim=self.dim, minimum=min_dim, layers=self.layers)


class NeuMf(SequenceEncoder):
    """The network. A hidden state is the user, [p; p'] (2D,)."""

    logits_are_products: ClassVar[bool] = False  # logits are not hidden · output + bias

    def __init__(self, config: NcfConfig, n_items: int) -> None:
        super().__init__(n_items, 2 * config.dim)  # creates `items`, an nn.Embedding whose running mean is [p; p']
        widths = [config.dim >> layer for layer in range(config.layers)]
        self.targets = nn.Embedding(n_items, 2 * config.dim)  # [q; q'] of the items; stored by this name
        self.dropout = Dropout(config.dropout)
        init_weights(self, config.init)
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(widths))
        self.h = nn.Linear(config.dim + widths[-1], 1, bias=False)

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """Return the user vectors of tokens (B, T) at `positions` (B, Q; None: all T), (B, Q, 2D)."""
        return self.dropout(gather_positions(running_mean(self.items(tokens)), positions))

    @property
    def output(self) -> Tensor:
        """The items' factors [q; q'], (I, 2D)."""
        return self.targets.weight

    def pair_logits(self, users: Tensor, items: Tensor) -> Tensor:
        """Return the logits without biases, (…, N), of users (…, 1, 2D) and items (…, N, 2D) or (N, 2D)."""
        (p, p_mlp), (q, q_mlp) = users.chunk(2, -1), items.chunk(2, -1)
        h_product, h_mlp = self.h.weight[0].split([p.shape[-1], self.h.in_features - p.shape[-1]])
        x = F.relu(p_mlp + q_mlp)  # (…, N, D)
        for layer in self.layers:
            x = F.relu(layer(x))
        product = (q @ (p * h_product).transpose(-1, -2))[..., 0]  # (…, N)
        return product + x @ h_mlp

    def logits(self, hidden: Tensor) -> Tensor:
        """Return the logits (B, I) of all items for users (B, 2D), computed in blocks of users."""
        block_size = max(1, BLOCK_VALUES // self.output.numel())
        return (
            torch.cat([self.pair_logits(users[:, None], self.output) for users in hidden.split(block_size)]) + self.bias
        )


class Ncf(SequenceModel):
    """The model. The order of a history has no effect."""

    Config = NcfConfig
    Encoder = NeuMf
    config: NcfConfig
    module: NeuMf

    def make_loss(self, train: Dataset) -> Loss:
        """Return `binary_cross_entropy`."""
        return self.binary_cross_entropy

    def binary_cross_entropy(self, users: Tensor, items: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        """Return the sum of the cross-entropies of the targets (M,) and of K negatives for each, ().

        `users` are [p; p'] (M, 2D), `items` are [q; q'] (I, 2D). A negative that equals the target is ignored.
        """
        drawn = torch.randint(len(items), (len(targets), self.config.negatives), device=targets.device)  # (M, K)
        candidates = torch.cat([targets[:, None], drawn], 1)  # (M, 1 + K)
        logits = self.module.pair_logits(users[:, None], F.embedding(candidates, items))
        logits = (logits + F.embedding(candidates, bias[:, None])[..., 0]).float()
        negative = logits[:, 1:].masked_fill(drawn == targets[:, None], -torch.inf)
        return -F.logsigmoid(logits[:, 0]).sum() - F.logsigmoid(-negative).sum()
