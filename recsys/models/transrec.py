"""TransRec: a person is a step through a space of films (He, Kang and McAuley, RecSys 2017, arXiv:1707.02410).

The score of film j after film i is β_j - d(γ_i + t + t_u, γ_j), with d the squared Euclidean distance, one of the
paper's two. Unlike the paper: the personal step t_u is the mean of learnt film vectors over all films so far, as in
FISM (KDD 2013), so that there is no row per user and strangers are served; a start token has a place of its own,
foresees the first film and answers for an empty history; the batch shares its negatives; places may leave the unit ball
unless `ball` says otherwise; AdamW with averaged weights, dropout instead of penalties on the weights.

Shapes: B sequences, T positions, Q of them asked for, D dimensions, I items.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from recsys.models._person import running_mean
from recsys.models._sequence import SequenceConfig, SequenceModule, SequenceRecommender, initialise
from recsys.models._transformer import Dropout, pick


@dataclass(frozen=True)
class TransRecConfig(SequenceConfig):
    """Sizes; defaults are those tuned on ML-1M."""

    loss: str = "bpr"  # the paper's; other losses of the engine work too
    popularity: float = 0.0  # negatives are drawn uniformly
    init: float = 0.05  # standard deviation of the first places
    ball: bool = False  # keep places within the unit ball, as the paper does
    lr: float = 1e-2  # highest learning rate of AdamW: tables of factors stand more than networks
    epochs: int = 20
    validate_every: int = 5


class TransRecModule(SequenceModule):
    """Places of films, and steps.

    -‖q - γ‖² = 2 q·γ - ‖γ‖² - ‖q‖², and ‖q‖² is the same for every film: so a score is (q, 1) · (2γ, -‖γ‖²) + β.
    """

    def __init__(self, config: TransRecConfig, n_items: int) -> None:
        super().__init__(n_items, config.dim)  # `items`: γ, `bias`: β
        self.people = nn.Embedding(n_items + 2, config.dim)  # their mean: t_u
        self.step = nn.Parameter(torch.zeros(config.dim))  # t
        self.dropout = Dropout(config.dropout)
        self.ball = config.ball
        initialise(self, config.init)
        nn.init.zeros_(self.people.weight)  # at first everybody goes the same way, as in the paper

    @property
    def places(self) -> Tensor:
        """γ, (I + 2, D)."""
        places = self.items.weight
        return places / places.norm(dim=1, keepdim=True).clamp(min=1) if self.ball else places

    def forward(self, tokens: Tensor, at: Tensor | None = None) -> Tensor:
        """Tokens (B, T) → (B, T, D + 1), or at the positions `at` (B, Q) only: (B, Q, D + 1)."""
        place = pick(nn.functional.embedding(tokens, self.places), at)
        q = self.dropout(place + self.step + pick(running_mean(self.people(tokens)), at))  # γ_i + t + t_u
        return nn.functional.pad(q, (0, 1), value=1.0)

    @property
    def output(self) -> Tensor:
        """Output weights, (I, D + 1)."""
        places = self.places[: self.n_items]
        return torch.cat([2 * places, -places.square().sum(1, keepdim=True)], 1)


class TransRec(SequenceRecommender):
    """Where the last film and the person's step lead to."""

    title: ClassVar[str] = "TransRec"
    paper: ClassVar[str] = "arXiv:1707.02410"
    family: ClassVar[str] = "Markov with factors"
    Config: ClassVar[type] = TransRecConfig
    presets: ClassVar[dict[tuple[str, str], TransRecConfig]] = {
        ("transrec", "ml-100k"): TransRecConfig(batch_size=16, averaging=0.99, epochs=20)
    }
    config: TransRecConfig
    module: TransRecModule

    def build(self, n_items: int) -> TransRecModule:
        """A fresh module."""
        return TransRecModule(self.config, n_items)

    def film_vectors(self) -> np.ndarray:
        """(I, D) float32: the places of the films."""
        return self.module.places[: self.module.n_items].detach().cpu().numpy()


VARIANTS = {"transrec": TransRec}
