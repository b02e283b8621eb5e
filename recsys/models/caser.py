"""Caser: convolutions over the last few films, taken as an image (Tang and Wang, WSDM 2018, arXiv:1809.07426).

Horizontal filters see 1 to L films in a row, each answering where in the window it fits best; vertical filters weigh
the L films of a window. Unlike the paper: all windows of a history are computed at once, by convolutions along it, and
each is to foresee the next film alone, not the next three; instead of a vector learnt for each person, which a visitor
would not have, the mean of all films that a history holds so far takes part, through a linear map; the output shares
its weights with the input embeddings; AdamW with a rate that falls linearly, and averaged weights. The loss is the
paper's: binary cross-entropy against three films drawn uniformly. assets/experiments.md says what a softmax gives.

Shapes: B sequences, T positions, Q of them asked for, D dimensions, L films in a window, N filters of a kind.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recsys.data.schema import Dataset
from recsys.models._person import running_mean
from recsys.models._sequence import SequenceConfig, SequenceModule, SequenceRecommender, initialise
from recsys.models._start import head_start
from recsys.models._transformer import Dropout, pick


@dataclass(frozen=True)
class CaserConfig(SequenceConfig):
    """Sizes and choices of Caser; the filters are the paper's for MovieLens."""

    epochs: int = 40
    batch_size: int = 64
    validate_every: int = 5
    window: int = 5  # films that the filters see, the paper's L
    horizontal: int = 16  # filters of each height from 1 to `window`
    vertical: int = 4  # weightings of the window's films
    person: bool = True  # the mean of all films so far takes part
    dropout: float = 0.2
    loss: str = "gbce"  # with these two, binary cross-entropy against films that each position draws for itself
    negatives: int = 3
    calibration: float = 0.0
    init: float = 0.05  # standard deviation of the first weights of the embeddings
    head_start: bool = True  # begin with neighbours' vectors (_start.py), not with random embeddings


FEW_USERS = CaserConfig(batch_size=16, dropout=0.3, epochs=40, averaging=0.995, warmup=100, validate_every=4)


class CaserModule(SequenceModule):
    """Item embeddings, the two kinds of filters, a linear map of all they say and one of the person."""

    def __init__(self, config: CaserConfig, n_items: int) -> None:
        super().__init__(n_items, config.dim)
        self.window, dim = config.window, config.dim
        self.heights = nn.ModuleList(nn.Conv1d(dim, config.horizontal, h + 1) for h in range(config.window))
        self.weighings = nn.Linear(config.window, config.vertical, bias=False)
        self.combine = nn.Linear(config.window * config.horizontal + config.vertical * dim, dim)
        self.person = nn.Linear(dim, dim, bias=False) if config.person else None
        self.dropout, self.norm = Dropout(config.dropout), nn.LayerNorm(dim)
        initialise(self, config.init)
        nn.init.constant_(self.weighings.weight, 1 / config.window)

    def forward(self, tokens: Tensor, at: Tensor | None = None) -> Tensor:
        """Tokens (B, T) → states (B, T, D), or those at the positions `at` (B, Q) only: (B, Q, D).

        A window that begins before its history is filled up with zeros. Padding stands at the end, and what comes out
        there is nobody's state.
        """
        films = self.items(tokens)  # (B, T, D)
        x = F.pad(films, (0, 0, self.window - 1, 0))  # (B, L-1+T, D)
        features = [self.best_fit(conv, x.transpose(1, 2)) for conv in self.heights]
        features.append(self.weighings(x.unfold(1, self.window, 1)).flatten(2))  # (B, T, D·N)
        state = self.combine(self.dropout(pick(torch.cat(features, 2), at)))
        if self.person is not None:
            state = state + self.person(self.dropout(pick(running_mean(films), at)))
        return self.norm(state)

    def best_fit(self, conv: nn.Module, x: Tensor) -> Tensor:
        """x (B, D, L-1+T) → (B, T, N): the best fit of each filter within the window that ends at each position."""
        fits = F.relu(conv(x))  # (B, N, L-h+T), h the filters' height
        return F.max_pool1d(fits, fits.shape[2] - x.shape[2] + self.window, 1).transpose(1, 2)


class Caser(SequenceRecommender):
    """The window that ends with the newest film asks for the next one."""

    title: ClassVar[str] = "Caser"
    paper: ClassVar[str] = "arXiv:1809.07426"
    family: ClassVar[str] = "Convolutional"
    Config: ClassVar[type] = CaserConfig  # its defaults are for ML-1M
    presets: ClassVar[dict[tuple[str, str], CaserConfig]] = {
        ("caser", "ml-100k"): FEW_USERS,
        ("caser", "ml-latest-small"): FEW_USERS,
    }
    config: CaserConfig
    module: CaserModule

    def build(self, n_items: int) -> CaserModule:
        """A fresh module."""
        return CaserModule(self.config, n_items)

    def begin(self, module: CaserModule, train: Dataset, seed: int) -> None:
        """The head start, unless it is switched off."""
        if self.config.head_start:
            head_start(module.items, None, train, self.config.init, seed)


VARIANTS = {"caser": Caser}
