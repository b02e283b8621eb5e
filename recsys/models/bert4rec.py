"""BERT4Rec: films are hidden from a history and guessed from both sides (Sun et al., CIKM 2019, arXiv:1904.06690).

Unlike the paper: attention that fades with distance stands in for position embeddings (without it they count from the
first film kept); a share of the samples hides the last film only (the paper adds such samples too, without saying how
many); dropout spares the attention weights; the learning rate of AdamW falls linearly to zero and the weights are
averaged. What each choice brought is written down in assets/experiments.md.

Shapes: B sequences, E films in all of them, T positions, Q the most masked in one sequence, D dimensions.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from recsys.data.schema import Dataset
from recsys.models._sequence import SequenceConfig, SequenceModule, SequenceRecommender, initialise
from recsys.models._start import head_start
from recsys.models._transformer import Block, Dropout, weights_by_layer
from recsys.training.batches import Batch, Draws, pad


@dataclass(frozen=True)
class Bert4RecConfig(SequenceConfig):
    """Sizes and choices of BERT4Rec; the sizes are the paper's for ML-1M."""

    epochs: int = 140
    layers: int = 2  # Transformer blocks, the paper's L
    heads: int = 2  # attention heads, the paper's h
    mask_share: float = 0.2  # share of the films hidden in a training sample, the paper's ρ
    last_share: float = 0.1  # share of the samples that hide the last film only
    keep_some: bool = False  # BERT's 80/10/10: of the films to guess, a tenth stays and a tenth becomes a random film
    windows: bool = False  # half the samples of a history longer than `length` take a random stretch of it
    fading: bool = True  # attention fades with distance, at a learnt rate; without it: the paper's position embeddings
    pre_norm: bool = True  # normalise before each part of a block instead of after (the paper)
    projection: bool = False  # a linear map and GELU before the output (the paper's equation 7)
    init: float = 0.05  # standard deviation of the first weights
    head_start: bool = True  # begin with neighbours' vectors and sinusoids (_start.py), not with random embeddings


FEW_USERS = Bert4RecConfig(batch_size=16, dropout=0.3, epochs=60, averaging=0.995, validate_every=5, patience=8)


class Bert4RecModule(SequenceModule):
    """Item embeddings, positions unless attention fades, L bidirectional blocks, a projection, tied output weights."""

    def __init__(self, config: Bert4RecConfig, n_items: int) -> None:
        super().__init__(n_items, config.dim)
        self.positions = None if config.fading else nn.Embedding(config.length, config.dim)
        self.norm, self.dropout = nn.LayerNorm(config.dim), Dropout(config.dropout)
        self.blocks = nn.ModuleList(
            Block(config.dim, config.heads, config.dropout, config.pre_norm, fading=config.fading)
            for _ in range(config.layers)
        )
        self.last_norm = nn.LayerNorm(config.dim) if config.pre_norm else nn.Identity()
        self.project: nn.Module = nn.Identity()
        if config.projection:
            self.project = nn.Sequential(nn.Linear(config.dim, config.dim), nn.GELU(), nn.LayerNorm(config.dim))
        initialise(self, config.init)

    def forward(self, tokens: Tensor, at: Tensor | None = None) -> Tensor:
        """Tokens (B, T) → states (B, T, D), or those at the positions `at` (B, Q) only: (B, Q, D)."""
        x, visible = self.enter(tokens)
        for block in self.blocks[:-1]:
            x = block(x, visible)
        return self.project(self.last_norm(self.blocks[-1](x, visible, at)))

    def enter(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """What the first block is given: the sums of embeddings (B, T, D), and who may be looked at (B, 1, 1, T)."""
        visible = (tokens != self.padding)[:, None, None, :]
        x = self.items(tokens)
        if self.positions is not None:
            positions = torch.arange(tokens.shape[1], device=tokens.device)
            x = x + self.positions(positions.clamp(max=self.positions.num_embeddings - 1))  # padding may lie beyond
        return self.dropout(self.norm(x)), visible


class Bert4Rec(SequenceRecommender):
    """Trains by the Cloze task with a full softmax; asks for the film under a `[mask]` put at the end of a history."""

    title: ClassVar[str] = "BERT4Rec"
    family: ClassVar[str] = "Transformers"
    paper: ClassVar[str] = "arXiv:1904.06690"
    Config: ClassVar[type] = Bert4RecConfig  # its defaults are those tuned on ML-1M
    presets: ClassVar[dict[tuple[str, str], Bert4RecConfig]] = {
        ("bert4rec", "ml-100k"): FEW_USERS,
        ("bert4rec", "ml-latest-small"): FEW_USERS,
    }
    config: Bert4RecConfig
    module: Bert4RecModule

    def build(self, n_items: int) -> Bert4RecModule:
        """A fresh module."""
        return Bert4RecModule(self.config, n_items)

    def begin(self, module: Bert4RecModule, train: Dataset, seed: int) -> None:
        """The head start, unless it is switched off."""
        if self.config.head_start:
            head_start(module.items, module.positions, train, self.config.init, seed)

    def prompt(self, history: np.ndarray) -> np.ndarray:
        """The newest films and a `[mask]` after them."""
        return np.append(history[-(self.config.length - 1) :], self.module.mask)

    @torch.inference_mode()
    def fill(self, tokens: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Logits of the films at some places of a sequence of at most `length` tokens: (T,), (Q,) → (Q, I) float32.

        A place that holds `module.mask` is guessed from both of its sides.
        """
        sequence, at = (torch.from_numpy(x.astype(np.int64))[None].to(self.device) for x in (tokens, places))
        return self.module.logits(self.module(sequence, at)[0]).float().cpu().numpy()

    @torch.inference_mode()
    def attention(self, tokens: np.ndarray) -> np.ndarray:
        """How much each token (T,) looks at each other: (L, H, T, T) float32, rows sum to 1."""
        x, visible = self.module.enter(torch.from_numpy(tokens.astype(np.int64))[None].to(self.device))
        return weights_by_layer(self.module.blocks, x, visible)[:, 0].float().cpu().numpy()

    def sample(self, histories: list[np.ndarray], rows: np.ndarray, n_items: int, draws: Draws) -> Batch:
        """The Cloze task: films of each history hidden, to be guessed from those left."""
        films = self._stretches([histories[row] for row in rows], rows, draws)
        lengths = np.array([len(stretch) for stretch in films])
        tokens, targets = cloze(np.concatenate(films), lengths, rows, n_items, self.config, draws)
        hidden = targets != NOTHING  # (E,)
        places = places_of(lengths)
        counts = np.bincount(np.repeat(np.arange(len(rows)), lengths)[hidden], minlength=len(rows))
        at = pad(places[hidden], counts, 0)  # (B, Q)
        picked = np.flatnonzero(np.arange(at.shape[1]) < counts[:, None])
        arrays = (pad(tokens, lengths, n_items), at, picked, targets[hidden])
        return Batch(*map(torch.from_numpy, arrays))

    def _stretches(self, histories: list[np.ndarray], rows: np.ndarray, draws: Draws) -> list[np.ndarray]:
        """At most `length` films of every history: the newest, or with `windows` now and then older ones."""
        length = self.config.length
        ends = np.array([len(history) for history in histories])
        if self.config.windows:
            first = np.minimum(length, ends)
            random_ends = first + draws.integers(Purpose.WINDOW, ends + 1 - first, rows)
            ends = np.where(draws.uniform(Purpose.OLDER, rows) < 0.5, random_ends, ends)
        return [history[max(0, end - length) : end] for history, end in zip(histories, ends, strict=True)]


NOTHING = -1  # in place of a target: nothing to guess here


class Purpose(IntEnum):
    """What random numbers are drawn for."""

    HIDE = 0
    HIDE_ONE = 1
    LAST_ONLY = 2
    KEEP = 3
    REPLACE = 4
    WINDOW = 5
    OLDER = 6


def places_of(lengths: np.ndarray) -> np.ndarray:
    """(E,) the place, from 0, of each film in its own sequence, for sequences (B,) that lie one after another."""
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def cloze(
    films: np.ndarray, lengths: np.ndarray, rows: np.ndarray, n_items: int, config: Bert4RecConfig, draws: Draws
) -> tuple[np.ndarray, np.ndarray]:
    """Hide films: the tokens, and the targets (NOTHING where a film stays visible), both (E,).

    films (E,): the sequences, one after another; lengths (B,), none zero; rows (B,): their numbers in the data.
    At least one film of each is hidden; a share `last_share` of the sequences hides the last film only.
    """
    ends = np.cumsum(lengths)
    owner, place = np.repeat(rows, lengths), places_of(lengths)  # (E,)
    hidden = draws.uniform(Purpose.HIDE, owner, place) < config.mask_share
    untouched = np.add.reduceat(hidden, ends - lengths) == 0
    hidden[(ends - 1 - draws.integers(Purpose.HIDE_ONE, lengths, rows))[untouched]] = True
    last_only = draws.uniform(Purpose.LAST_ONLY, rows) < config.last_share
    hidden[np.repeat(last_only, lengths)] = False
    hidden[ends[last_only] - 1] = True

    films = films.astype(np.int64)
    targets = np.where(hidden, films, NOTHING)
    replaced = hidden
    if config.keep_some:
        chance = draws.uniform(Purpose.KEEP, owner, place)
        replaced = hidden & (chance < 0.8)
        random_films = draws.integers(Purpose.REPLACE, np.full(len(films), n_items), owner, place)
        films = np.where(hidden & (chance >= 0.9), random_films, films)
    return np.where(replaced, n_items + 1, films), targets


VARIANTS = {"bert4rec": Bert4Rec}
