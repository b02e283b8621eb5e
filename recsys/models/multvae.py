"""Mult-VAE: a variational autoencoder with a multinomial likelihood (Liang et al., WWW 2018, arXiv:1802.05814).

For the items x_u of a user u, a vector of zeros and ones, the paper's model is

    z_u ~ N(0, I), π(z_u) = softmax(f_θ(z_u)), log p(x_u | z_u) = Σ_i x_ui log π_i(z_u)
    q(z_u | x_u) = N(μ(x_u), diag σ²(x_u))      the encoder
    L_β = E_q log p(x_u | z_u) - β KL(q(z_u | x_u) ‖ p(z_u))    the objective

The encoder divides x_u by its L2 norm, applies dropout and is an MLP I → 600 → 200 with tanh. The decoder is an MLP
200 → 600 → I with tanh. When scoring, z is the mean μ.

Departures from the paper:
- Only the newest `length` items of a history are read. Half of the training samples of a longer history are a random
  window of it. The paper reads whole histories, because it does not predict the next item.
- β rises linearly to `kl_weight` over a share of the training. In the paper it rises over 200,000 steps.
- The loss of a batch is divided by its number of items. The paper divides by its number of users.
- The optimiser is AdamW with a learning rate that falls linearly. The weights are averaged over steps (EMA).

The order of a history and repeated items have no effect. An empty history is scored as x_u = 0.

Shapes: B users, T items of the longest history, I items, H hidden units, Z latent dimensions, M items of a batch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recsys.config import DropoutRate, Length, NonNegative, Rate, Size, config_class
from recsys.data.dataset import Dataset, Queries
from recsys.models.sequence_model import SequenceEncoder, SequenceModel
from recsys.training import distributed
from recsys.training.batches import Batch, CounterRNG, pad
from recsys.training.losses import Loss
from recsys.training.options import TrainConfig


@config_class
class MultVaeConfig:
    """Settings of Mult-VAE. The widths and the dropout are the paper's; the schedule was chosen on ml-latest-sample."""

    schedule: TrainConfig = TrainConfig(epochs=24, batch_size=64, warmup_steps=50, ema_decay=0.98, validate_every=4)
    hidden: Size = 600  # units of the hidden layers
    latent: Size = 200  # latent dimensions
    length: Length = 50  # newest items of a history that are read; 32766, the maximum, for all, as in the paper
    dropout: DropoutRate = 0.5  # share of the input x_u set to zero
    kl_weight: NonNegative = 0.2  # the paper's β after annealing
    anneal_share: Rate = 0.5  # share of the training over which β rises from 0


@dataclass(frozen=True, kw_only=True)
class VaeBatch(Batch):
    """A batch with a weight of the KL divergence. `loss_index` is the row of each target."""

    beta: Tensor  # ()


class MultVaeEncoder(SequenceEncoder):
    """The encoder and the decoder. `items`, an nn.Embedding, is the first layer, `output` the last."""

    def __init__(self, config: MultVaeConfig, n_items: int) -> None:
        super().__init__(n_items, config.hidden)
        self.own_output = nn.Embedding(n_items, config.hidden)  # the last layer
        self.input_bias = nn.Parameter(torch.zeros(config.hidden))
        self.dropout = config.dropout
        self.encoder = nn.Linear(config.hidden, 2 * config.latent)  # to μ and log σ²
        self.decoder = nn.Linear(config.latent, config.hidden)
        for name, weights in self.named_parameters():
            if name.endswith("weight"):
                nn.init.xavier_uniform_(weights)

    def encode(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Return μ and log σ² of q(z | x), (B, Z) each, from distinct items (B, T) with padding."""
        x = F.normalize((tokens != self.padding).float())  # (B, T), the non-zero part of x_u / ‖x_u‖
        x = F.dropout(x, self.dropout, self.training)
        hidden = F.embedding_bag(tokens, self.items.weight, per_sample_weights=x, mode="sum") + self.input_bias
        mean, log_variance = self.encoder(torch.tanh(hidden)).chunk(2, 1)
        return mean, log_variance

    def decode(self, latent: Tensor) -> Tensor:
        """Return the last hidden layer (B, H) of z (B, Z). Its `logits` are f_θ(z)."""
        return torch.tanh(self.decoder(latent))

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """See `SequenceEncoder.forward`. Returns the last hidden layer for z = μ, (B, 1, H)."""
        mean, _ = self.encode(tokens)
        return self.decode(mean)[:, None]


class MultVae(SequenceModel):
    """The model. A score is the logit of π, which predicts all items of a user and not only the next item."""

    Config = MultVaeConfig
    Encoder = MultVaeEncoder
    config: MultVaeConfig
    module: MultVaeEncoder

    def make_loss(self, train: Dataset) -> Loss:
        """Return a placeholder, because `loss` is overridden."""
        return F.cross_entropy

    def input_tokens(self, history: np.ndarray, is_whole: bool = False) -> np.ndarray:
        """Return the distinct items among the newest `length` of a history, or a padding token if it is empty."""
        newest = history[-self.config.length :] if len(history) else np.array([self.module.padding])
        return np.unique(newest).astype(np.int64)

    def batches(self, samples: Queries, n_items: int, rng: CounterRNG) -> Iterator[Batch]:
        """See `SequenceModel.batches`. A batch mixes histories of all lengths."""
        size, epochs = self.config.schedule.batch_size, self.config.schedule.epochs
        order = np.random.default_rng([rng.seed, rng.epoch]).permutation(len(samples))
        for start in range(0, len(order), size):
            rows = order[start : start + size]
            shard = distributed.shard(rows)
            annealed = min(1.0, (rng.epoch + start / len(order)) / (self.config.anneal_share * epochs))  # from 0 to 1
            beta = torch.tensor(self.config.kl_weight * annealed)
            # A process without rows must also take part in the step, so it gets a batch without targets.
            batch = self.collate(samples.histories, shard if len(shard) else rows[:1], n_items, rng)
            vae_batch = VaeBatch(**vars(batch), beta=beta)
            yield vae_batch if len(shard) else vae_batch.without_targets()

    def collate(self, histories: Sequence[np.ndarray], rows: np.ndarray, n_items: int, rng: CounterRNG) -> Batch:
        """Return a batch of `histories[rows]` (B,). Each item of a history is both input and target."""
        windows = rng.crop(histories, rows, self.config.length, "windows")
        items = [self.input_tokens(window) for window in windows]
        lengths = np.array([len(tokens) for tokens in items])
        targets, row = np.concatenate(items), np.repeat(np.arange(len(rows)), lengths)  # (M,) each
        tokens = torch.from_numpy(pad(targets, lengths, n_items))
        return Batch(tokens, None, torch.from_numpy(row), torch.from_numpy(targets))

    def loss(self, module: Any, batch: Batch) -> Tensor:
        """Return the sum of -L_β over the users, ()."""
        assert isinstance(batch, VaeBatch)
        mean, log_variance = module.encode(batch.tokens)
        latent = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        log_pi = module.logits(module.decode(latent)).float().log_softmax(1)  # (B, I)
        divergence = 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance).sum(1)  # (B,) KL(q ‖ N(0, I))
        # (B,), 1 for a user with targets, 0 for the user of `without_targets`
        user_weight = torch.zeros_like(divergence).index_fill(0, batch.loss_index, 1.0)
        return batch.beta * (user_weight * divergence).sum() - log_pi[batch.loss_index, batch.targets].sum()
