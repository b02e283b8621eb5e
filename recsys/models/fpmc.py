"""FPMC: a Markov chain with factors, personal or not (Rendle, Freudenthaler and Schmidt-Thieme, WWW 2010).

Variants: `fmc` knows the last film only, `fpmc` the person too. The loss is the paper's S-BPR. Unlike the paper: a
person's factors v^{U,I} are the mean of learnt film vectors over all films so far, as in FISM (KDD 2013), so that
there is no row per user and strangers are served; a basket is one film; a bias per film; a start token foresees the
first film and answers for an empty history; the batch shares its negatives, of which there are many, a target that is
drawn does not count, and AdamW with averaged weights takes the place of single steps with weight decay.

Shapes: B sequences, T positions, Q of them asked for, D dimensions, I items.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from recsys.models._person import running_mean
from recsys.models._sequence import SequenceConfig, SequenceModule, SequenceRecommender, initialise
from recsys.models._transformer import Dropout, pick


@dataclass(frozen=True)
class FpmcConfig(SequenceConfig):
    """Sizes; defaults are those tuned on ML-1M."""

    loss: str = "bpr"  # the paper's; other losses of the engine work too
    popularity: float = 0.0  # negatives are drawn uniformly
    init: float = 0.05  # standard deviation of the first weights
    lr: float = 1e-2  # highest learning rate of AdamW: tables of factors stand more than networks
    epochs: int = 20
    validate_every: int = 5


SMALL_SET = FpmcConfig(batch_size=16, lr=2e-3, averaging=0.99, epochs=25)  # for some hundred people


class FactorModule(SequenceModule):
    """Equation 11 as a product: what a film and a person ask for, beside each other, times what a film offers."""

    def __init__(self, config: FpmcConfig, n_items: int, personal: bool) -> None:
        super().__init__(n_items, config.dim)  # `items`: v^{L,I}, the last film
        self.people = nn.Embedding(n_items + 2, config.dim) if personal else None  # their mean: v^{U,I}
        self.offers = nn.Embedding(n_items, config.dim * (2 if personal else 1))  # v^{I,L}, beside it v^{I,U}
        self.dropout = Dropout(config.dropout)
        initialise(self, config.init)

    def forward(self, tokens: Tensor, at: Tensor | None = None) -> Tensor:
        """Tokens (B, T) → (B, T, D), fpmc (B, T, 2D); or at the positions `at` (B, Q) only: (B, Q, …)."""
        hidden = pick(self.items(tokens), at)
        if self.people is not None:
            hidden = torch.cat([hidden, pick(running_mean(self.people(tokens)), at)], -1)
        return self.dropout(hidden)

    @property
    def output(self) -> Tensor:
        """Output weights, (I, D) or (I, 2D)."""
        return self.offers.weight


class Fmc(SequenceRecommender):
    """The next film given the last one: a factorised matrix of transitions."""

    title: ClassVar[str] = "FMC"
    paper: ClassVar[str] = "doi:10.1145/1772690.1772773"
    family: ClassVar[str] = "Markov with factors"
    Config: ClassVar[type] = FpmcConfig
    presets: ClassVar[dict[tuple[str, str], FpmcConfig]] = {("fmc", "ml-100k"): SMALL_SET}
    personal: ClassVar[bool] = False
    config: FpmcConfig
    module: FactorModule

    def build(self, n_items: int) -> FactorModule:
        """A fresh module."""
        return FactorModule(self.config, n_items, self.personal)


class Fpmc(Fmc):
    """The next film given the last one and the person."""

    title: ClassVar[str] = "FPMC"
    presets: ClassVar[dict[tuple[str, str], FpmcConfig]] = {("fpmc", "ml-100k"): SMALL_SET}
    personal: ClassVar[bool] = True


VARIANTS = {"fmc": Fmc, "fpmc": Fpmc}
