"""SASRec: each film of a history is foreseen from those before it (Kang and McAuley, ICDM 2018, arXiv:1808.09781).

Variants differ in the loss: the paper's binary cross-entropy against one film (sasrec-bce), the softmax over all films
(sasrec-softmax, arXiv:2309.07602), gBCE against many (gsasrec, arXiv:2308.07192). Unlike the papers: a start token
foresees the first film and answers for an empty history; attention that fades with distance stands in for position
embeddings; two heads; a feed-forward network four times as wide as an embedding, with GELU; a bias per film; dropout
spares the attention weights; the learning rate falls linearly to zero and the weights are averaged. What each choice
brought is written down in assets/experiments.md.

Shapes: B sequences, T positions, Q of them asked for, D dimensions.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from recsys.data.schema import Dataset
from recsys.models._sequence import SequenceConfig, SequenceModule, SequenceRecommender, initialise
from recsys.models._start import head_start
from recsys.models._transformer import Block, Dropout, weights_by_layer


@dataclass(frozen=True)
class SasRecConfig(SequenceConfig):
    """Sizes and choices of SASRec; the sizes are the paper's for ML-1M, but for `dim`, 50 there."""

    epochs: int = 40
    dropout: float = 0.2
    validate_every: int = 4
    layers: int = 2  # Transformer blocks
    heads: int = 2  # attention heads
    fading: bool = True  # attention fades with distance, at a learnt rate; without it: the paper's position embeddings
    init: float = 0.05  # standard deviation of the first weights
    head_start: bool = True  # begin with neighbours' vectors and sinusoids (_start.py), not with random embeddings


@dataclass(frozen=True)
class BceConfig(SasRecConfig):
    """Binary cross-entropy against one film that each position draws for itself: gBCE with t = 0."""

    epochs: int = 60
    loss: str = "gbce"
    negatives: int = 1
    calibration: float = 0.0


@dataclass(frozen=True)
class GbceConfig(SasRecConfig):
    """gBCE as its paper recommends it."""

    epochs: int = 60
    loss: str = "gbce"
    negatives: int = 256
    calibration: float = 0.75


def for_few_users(variant: str, config: SasRecConfig) -> dict[tuple[str, str], Any]:
    """Presets for the sets of some hundred users."""
    few = replace(config, batch_size=16, dropout=0.3, averaging=0.995, validate_every=5)
    return {(variant, name): few for name in ("ml-100k", "ml-latest-small")}


class SasRecModule(SequenceModule):
    """Item embeddings, position embeddings unless attention fades, and causal blocks."""

    def __init__(self, config: SasRecConfig, n_items: int) -> None:
        super().__init__(n_items, config.dim)
        self.positions = None if config.fading else nn.Embedding(config.length, config.dim)
        self.dropout = Dropout(config.dropout)
        self.blocks = nn.ModuleList(
            Block(config.dim, config.heads, config.dropout, pre_norm=True, causal=True, fading=config.fading)
            for _ in range(config.layers)
        )
        self.last_norm = nn.LayerNorm(config.dim)
        initialise(self, config.init)

    def forward(self, tokens: Tensor, at: Tensor | None = None) -> Tensor:
        """Tokens (B, T) → states (B, T, D), or those at the positions `at` (B, Q) only: (B, Q, D)."""
        x = self.enter(tokens)
        for block in self.blocks[:-1]:
            x = block(x, None)
        return self.last_norm(self.blocks[-1](x, None, at))

    def enter(self, tokens: Tensor) -> Tensor:
        """What the first block is given, (B, T) → (B, T, D)."""
        x = self.items(tokens)
        if self.positions is not None:
            films = (tokens != self.padding).sum(1, keepdim=True)  # (B, 1)
            ages = films - 1 - torch.arange(tokens.shape[1], device=tokens.device)  # (B, T), 0 = newest
            x = x + self.positions(ages.clamp(min=0))
        return self.dropout(x)


class SasRecSoftmax(SequenceRecommender):
    """The newest film's state asks for the next film; the loss is the softmax over all films."""

    title: ClassVar[str] = "SASRec, softmax"
    paper: ClassVar[str] = "arXiv:2309.07602"
    family: ClassVar[str] = "Transformers"
    Config: ClassVar[type] = SasRecConfig  # its defaults are for ML-1M
    presets: ClassVar[dict[tuple[str, str], Any]] = for_few_users("sasrec-softmax", SasRecConfig())
    config: SasRecConfig
    module: SasRecModule

    def build(self, n_items: int) -> SasRecModule:
        """A fresh module."""
        return SasRecModule(self.config, n_items)

    def begin(self, module: SasRecModule, train: Dataset, seed: int) -> None:
        """The head start, unless it is switched off."""
        if self.config.head_start:
            head_start(module.items, module.positions, train, self.config.init, seed)

    @torch.inference_mode()
    def attention(self, tokens: np.ndarray) -> np.ndarray:
        """How much each token (T,) looks at each other: (L, H, T, T) float32, rows sum to 1, nothing from later."""
        x = self.module.enter(torch.from_numpy(tokens.astype(np.int64))[None].to(self.device))
        return weights_by_layer(self.module.blocks, x, None)[:, 0].float().cpu().numpy()


class SasRecBce(SasRecSoftmax):
    """With the loss of the first paper."""

    title: ClassVar[str] = "SASRec, BCE"
    paper: ClassVar[str] = "arXiv:1808.09781"
    Config: ClassVar[type] = BceConfig
    presets: ClassVar[dict[tuple[str, str], Any]] = for_few_users("sasrec-bce", BceConfig())


class GSasRec(SasRecSoftmax):
    """With the loss that makes up for drawing few negatives."""

    title: ClassVar[str] = "gSASRec"
    paper: ClassVar[str] = "arXiv:2308.07192"
    Config: ClassVar[type] = GbceConfig
    presets: ClassVar[dict[tuple[str, str], Any]] = for_few_users("gsasrec", GbceConfig())


VARIANTS = {"sasrec-softmax": SasRecSoftmax, "sasrec-bce": SasRecBce, "gsasrec": GSasRec}
