"""NeuMF: a product of factors and a network over them, side by side (He et al., WWW 2017, arXiv:1708.05031).

The loss is the paper's: binary cross-entropy against four films drawn for each that was watched. Unlike the paper: a
person's factors are the mean of learnt film vectors over all films so far, as in FISM (KDD 2013), so that there is no
row per user and strangers are served; both parts learn together from the start; a film drawn may have been watched,
other than the target; a bias per film; a start token foresees the first film and answers for an empty history.

Shapes: B people, T positions, Q of them asked for, D dimensions of either part, I items, M targets, K negatives.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recsys.data.schema import Dataset, Queries
from recsys.models._person import running_mean
from recsys.models._sequence import SequenceModule, SequenceRecommender, Sizes, initialise
from recsys.models._transformer import Dropout, pick
from recsys.training.losses import Loss

BLOCK = 1 << 18  # values of the widest layer at a time: what a core's cache holds


@dataclass(frozen=True)
class NcfConfig(Sizes):
    """Sizes; defaults are those tuned on ML-1M."""

    dim: int = 32  # factors of a person and of a film, in either part
    layers: int = 3  # of the network; each is half as wide as the one before, the first as wide as `dim`
    dropout: float = 0.1  # share of the person's factors zeroed
    negatives: int = 4  # films drawn for each target, uniformly
    init: float = 0.05  # standard deviation of the first factors
    lr: float = 1e-2  # highest learning rate of AdamW: most of the model is tables of factors
    epochs: int = 12
    validate_every: int = 3


class NeuMf(SequenceModule):
    """Equation 12: h · [p ⊙ q; MLP(p', q')], here with a bias per film; its sigmoid is the paper's prediction.

    The network's first layer is linear in the person and in the film before they meet, so its weights are left to the
    two tables: W [p'; q'] is a sum of one vector of a person and one of a film.
    """

    def __init__(self, config: NcfConfig, n_items: int) -> None:
        super().__init__(n_items, 2 * config.dim)  # `items`: their mean is a person, p beside p'
        widths = [config.dim >> layer for layer in range(config.layers)]
        self.films = nn.Embedding(n_items, 2 * config.dim)  # q beside q'
        self.dropout = Dropout(config.dropout)
        initialise(self, config.init)
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(widths))
        self.h = nn.Linear(config.dim + widths[-1], 1, bias=False)

    def forward(self, tokens: Tensor, at: Tensor | None = None) -> Tensor:
        """Tokens (B, T) → the person as of each position (B, T, 2D), or of the positions `at` (B, Q): (B, Q, 2D)."""
        return self.dropout(pick(running_mean(self.items(tokens)), at))

    @property
    def output(self) -> Tensor:
        """What films bring, (I, 2D)."""
        return self.films.weight

    def pairs(self, people: Tensor, films: Tensor) -> Tensor:
        """Logits (…, N) of people (…, 1, 2D) and films (…, N, 2D) or (N, 2D), biases aside."""
        (p, p_mlp), (q, q_mlp) = people.chunk(2, -1), films.chunk(2, -1)
        h_product, h_network = self.h.weight[0].split([p.shape[-1], self.h.in_features - p.shape[-1]])
        x = F.relu(p_mlp + q_mlp)  # (…, N, D)
        for layer in self.layers:
            x = F.relu(layer(x))
        return (q @ (p * h_product).transpose(-1, -2))[..., 0] + x @ h_network

    def logits(self, hidden: Tensor) -> Tensor:
        """People (B, 2D) → a logit for every film (B, I), some people at a time."""
        step = max(1, BLOCK // self.output.numel())
        return torch.cat([self.pairs(some[:, None], self.output) for some in hidden.split(step)]) + self.bias


class Ncf(SequenceRecommender):
    """How likely it is that a person watches a film, by what they have watched, in whatever order."""

    title: ClassVar[str] = "NCF (NeuMF)"
    paper: ClassVar[str] = "arXiv:1708.05031"
    family: ClassVar[str] = "Factorisation"
    Config: ClassVar[type] = NcfConfig
    presets: ClassVar[dict[tuple[str, str], NcfConfig]] = {
        ("ncf", "ml-100k"): NcfConfig(batch_size=16, averaging=0.99, epochs=10)
    }
    config: NcfConfig
    module: NeuMf

    def build(self, n_items: int) -> NeuMf:
        """A fresh module."""
        return NeuMf(self.config, n_items)

    def objective(self, train: Dataset) -> Loss:
        """Binary cross-entropy against films drawn."""
        return self.binary_cross_entropy

    def binary_cross_entropy(self, people: Tensor, films: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        """Sum of the cross-entropies of `targets` (M,) and of K films drawn for each, unless it is the target; ().

        people (M, 2D), films (I, 2D), bias (I,).
        """
        drawn = torch.randint(len(films), (len(targets), self.config.negatives), device=targets.device)  # (M, K)
        chosen = torch.cat([targets[:, None], drawn], 1)  # (M, 1 + K)
        logits = self.module.pairs(people[:, None], F.embedding(chosen, films))
        logits = (logits + F.embedding(chosen, bias[:, None])[..., 0]).float()
        negative = logits[:, 1:].masked_fill(drawn == targets[:, None], -torch.inf)
        return -F.logsigmoid(logits[:, 0]).sum() - F.logsigmoid(-negative).sum()

    def _score_one(self, history: np.ndarray) -> np.ndarray:
        """(1, I)."""
        _, scores = next(self._scores(self.module, Queries([history])))
        return scores


VARIANTS = {"ncf": Ncf}
