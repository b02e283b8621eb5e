"""BERT4Rec: items of a history are masked and predicted from both sides (Sun et al., CIKM 2019, arXiv:1904.06690).

Departures from the paper: a learnt relative position bias takes the place of position embeddings (without it, position
0 is the oldest item kept); a share of the samples masks the last item only (the paper adds such samples too, without
saying how many); blocks normalise before each part (`pre_norm`), not after; no projection before the output; item
embeddings start from pointwise mutual information; no dropout on attention weights; AdamW whose learning rate falls
linearly to zero, and averaged weights. assets/experiments.md says what each choice brought.

bert4rec-paper is built as published: h⁰ = v + p with learnt positions and neither a norm nor dropout on the sum, parts
of a block as LN(x + Dropout(part(x))), softmax(GELU(hW + b)Eᵀ + b) without a further norm, first weights from a normal
distribution truncated to [-.02, .02], weights that are not averaged, AdamW with the paper's rate, decay of
the rate and decay of weights. The authors' code is followed where the paper is silent: positions count from the oldest
item kept, dropout is .2, the rate rises over the first 100 steps, and one sample in eleven masks the last item alone
(ten copies of each history with random masks, and one with that). The text is followed where that code has more: the
LayerNorm and dropout of BERT on the embeddings, a LayerNorm after the GELU, first weights up to .04, windows that slide
over long histories (`windows` is akin to them). Departures that remain: no dropout on attention weights; each item is
masked by itself with probability ρ, not a share ρ of each history; biases and norms decay too; gradients are not
clipped at 5; batches are smaller and fewer samples are seen, as the comment beside the settings says.

bert4rec-side adds vectors of what is known of each film (`side.py`) to its embedding, in the input and in the
output. Stars and people can be added to the input too; attention, blanks and training examples are shown without them.

bert4rec-memory is bert4rec with what sasrec-memory adds to SASRec: hidden items are compared with those that are not
shown, films of one second change places from epoch to epoch, and a `CountMemory` is added to the logits.

Shapes: B sequences, E items in all of them, T positions, Q positions per sequence, L blocks, H heads, D dimensions,
I items of the catalogue.
"""

from dataclasses import replace
from enum import IntEnum
from typing import Annotated, ClassVar

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from recsys.config import Count, Fraction, Layers, Length, check, config_class
from recsys.models.layers import Dropout, init_weights
from recsys.models.sequence_config import PmiConfig
from recsys.models.sequence_model import (
    SequenceEncoder,
    SequenceModel,
    check_heads,
    check_only_unseen,
    side_of,
    unseen,
)
from recsys.models.side import UNRATED
from recsys.models.transformer import (
    Parts,
    attention_by_layer,
    encode,
    layer_norm,
    position_embeddings,
    stacked,
)
from recsys.training.batches import NOT_SEEN, Batch, CounterRNG, pad
from recsys.training.trainer import Schedule

IGNORE_INDEX = -100  # in place of a target: no loss here
TWO_OR_MORE = Annotated[int, Field(ge=2)]  # positions: one item and the [mask]


@config_class
class Bert4RecConfig(PmiConfig, Parts):
    """Settings of BERT4Rec, tuned on ML-1M; the sizes are the paper's for it."""

    schedule: Schedule = Schedule(epochs=140)
    length: Length = 200  # positions: the newest items of a history that are read, [mask] included
    layers: Layers = 2  # Transformer blocks, the paper's L
    heads: Count = 2  # attention heads, the paper's h
    mask_prob: Fraction = 0.2  # probability that an item of a training sample is masked, the paper's ρ
    last_item_mask_prob: Fraction = 0.1  # share of the samples in which the last item alone is masked
    bert_80_10_10: bool = False  # BERT's rule: of the masked items, a tenth stays, a tenth becomes a random item
    windows: bool = False  # half of the samples of a history longer than `length` are a random stretch of it
    relative_bias: bool = True  # a relative position bias on attention; without it: the paper's position embeddings
    pre_norm: bool = True  # normalise embeddings, and before each part of a block; else after each part (the paper)
    projection: bool = False  # a linear map and GELU before the output, the paper's equation 7

    def __post_init__(self) -> None:
        """Raises ConfigError."""
        check(TWO_OR_MORE, length=self.length)
        check_heads(self.dim, self.heads)
        check_only_unseen(self)


class Bert4RecModule(SequenceEncoder):
    """Item embeddings, position embeddings unless there is a relative bias, L bidirectional blocks, tied output."""

    def __init__(self, config: Bert4RecConfig, n_items: int) -> None:
        super().__init__(n_items, config.dim, config.shared, side_of(config))
        self.positions = position_embeddings(config)
        self.norm = layer_norm(config.dim, config.pre_norm and config.norms)
        self.dropout = Dropout(config.dropout if config.pre_norm else 0.0)  # the paper's has h⁰ = v + p as it is
        self.blocks = stacked(config, config.pre_norm)
        self.last_norm = layer_norm(config.dim, config.pre_norm and config.norms)
        self.project: nn.Module = nn.Identity()
        if config.projection:
            self.project = nn.Sequential(nn.Linear(config.dim, config.dim), nn.GELU())
        init_weights(self, config.init)

    def forward(
        self, tokens: Tensor, positions: Tensor | None = None, stars: Tensor | None = None, person: Tensor | None = None
    ) -> Tensor:
        """Tokens (B, T) → hidden states (B, T, D), or those at `positions` (B, Q) only: (B, Q, D).

        For stars (B, T) and person (B, 3) see `token_embeddings`.
        """
        return self.project(self.last_norm(encode(self.blocks, *self.embed(tokens, stars, person), positions)))

    def embed(
        self, tokens: Tensor, stars: Tensor | None = None, person: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Tokens (B, T) → the first block's input (B, T, D) and the attention mask (B, 1, 1, T), False at padding.

        The mask is None where there is no padding, which a CPU looks for: a GPU would have to be waited for.
        """
        visible = tokens != self.padding
        attention_mask = None if visible.is_cpu and visible.all() else visible[:, None, None, :]
        x = self.token_embeddings(tokens, stars, person)
        if self.positions is not None:
            positions = torch.arange(tokens.shape[1], device=tokens.device)
            x = x + self.positions(positions.clamp(max=self.positions.num_embeddings - 1))  # padding may lie beyond
        return self.dropout(self.norm(x)), attention_mask


class Bert4Rec(SequenceModel):
    """Trained by the Cloze task; the next item is predicted at a [mask] appended to the history."""

    Config: ClassVar[type] = Bert4RecConfig
    Module: ClassVar[type] = Bert4RecModule
    can_fill_masks: bool = True
    config: Bert4RecConfig
    module: Bert4RecModule

    def __init__(self, config: Bert4RecConfig | None = None, title: str = "") -> None:
        super().__init__(config, title)
        self.has_attention = self.config.layers > 0

    def input_tokens(self, history: np.ndarray) -> np.ndarray:
        """The newest `length` - 1 items of a history and a [mask] after them, (T,)."""
        return np.append(history[-(self.config.length - 1) :], self.module.mask)

    @torch.inference_mode()
    def fill(self, history: np.ndarray, blanks: np.ndarray) -> np.ndarray:
        """Logits (Q, I) float32 of the items at some positions `blanks` (Q,) of a history (T,), T ≤ `length`.

        A [mask] takes the place of whatever stands there; each blank is predicted from all other items on both sides,
        by the network alone: a memory looks back only.
        """
        tokens = history.astype(np.int64)  # a copy
        tokens[blanks] = self.module.mask
        positions = torch.from_numpy(blanks.astype(np.int64))[None].to(self.device)
        return self.module.logits(self.module(self._batch_of_one(tokens), positions)[0]).float().cpu().numpy()

    @torch.inference_mode()
    def attention(self, tokens: np.ndarray) -> np.ndarray:
        """Attention weights (L, H, T, T) float32 of tokens (T,): row i is how much position i attends to each."""
        x, attention_mask = self.module.embed(self._batch_of_one(tokens))
        return attention_by_layer(self.module.blocks, x, attention_mask)[:, 0].float().cpu().numpy()

    def training_example(self, history: np.ndarray) -> np.ndarray:
        """A history (T,) as the Cloze task shows it in the first epoch of seed 0: tokens (T,), some of them [mask]."""
        config = replace(self.config, last_item_mask_prob=0.0, bert_80_10_10=False)
        lengths, rows = np.array([len(history)]), np.array([0])
        return cloze(history, lengths, rows, self.module.n_items, config, CounterRNG(seed=0, epoch=0))[0]

    def embed_tokens(self, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Item embeddings (T, D) of tokens (T,), and the position embeddings (T, D) added to them, if there are any."""
        items, positions = self.module.item_vectors().detach(), self.module.positions
        added = None if positions is None else positions.weight.detach()[: len(tokens)].cpu().numpy()
        return items.cpu().numpy()[tokens], added

    def collate(self, histories: list[np.ndarray], rows: np.ndarray, n_items: int, draws: CounterRNG) -> Batch:
        """The Cloze task: mask items of the histories `rows` (B,), to be predicted from those left."""
        sequences = self.sequences(histories, rows, draws)
        lengths = np.array([len(sequence) for sequence in sequences])
        tokens, targets = cloze(np.concatenate(sequences), lengths, rows, n_items, self.config, draws)
        masked = targets != IGNORE_INDEX  # (E,)
        n_masked = np.bincount(np.repeat(np.arange(len(rows)), lengths)[masked], minlength=len(rows))
        positions = pad(positions_of(lengths)[masked], n_masked, 0)  # (B, Q)
        loss_index = np.flatnonzero(np.arange(positions.shape[1]) < n_masked[:, None])
        arrays = (pad(tokens, lengths, n_items), positions, loss_index, targets[masked])
        return Batch(*map(torch.from_numpy, arrays))

    def first_excluded_position(
        self, batch: Batch, histories: list[np.ndarray], rows: np.ndarray, n_items: int
    ) -> np.ndarray:
        """All items of a history but those that are to be predicted from the others."""
        excluded_from = unseen(histories, rows, n_items)
        excluded_from[batch.where[0], batch.targets] = NOT_SEEN
        return excluded_from

    def input_stars(self, stars: np.ndarray) -> np.ndarray:
        """The stars of the newest `length` - 1 items; the [mask] after them has none."""
        return np.append(stars[-(self.config.length - 1) :], UNRATED)

    def stars_of_inputs(self, batch: Batch, sequences: list[np.ndarray]) -> list[np.ndarray]:
        """The stars of every item but those that are to be predicted."""
        assert batch.positions is not None
        stars = [sequence.copy() for sequence in sequences]
        rows, positions = batch.where[0], batch.positions.flatten()[batch.loss_index]
        for row, position in zip(rows.tolist(), positions.tolist(), strict=True):
            stars[row][position] = UNRATED
        return stars

    def sequences(self, histories: list[np.ndarray], rows: np.ndarray, draws: CounterRNG) -> list[np.ndarray]:
        """At most `length` items of each of the histories `rows` (B,): see `CounterRNG.cut`."""
        return draws.cut(histories, rows, self.config.length, self.config.windows, self.config.prefixes)


class Purpose(IntEnum):
    """What random numbers are drawn for: each purpose has its own stream."""

    MASK = 0
    MASK_ONE = 1
    LAST_ITEM_ONLY = 2
    REPLACE_OR_KEEP = 3
    RANDOM_ITEM = 4  # 5 and 6: see `CounterRNG.cut`


def positions_of(lengths: np.ndarray) -> np.ndarray:
    """(E,) the position, from 0, of each item in its own sequence, for sequences (B,) that lie one after another."""
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def cloze(
    items: np.ndarray, lengths: np.ndarray, rows: np.ndarray, n_items: int, config: Bert4RecConfig, draws: CounterRNG
) -> tuple[np.ndarray, np.ndarray]:
    """Mask items: the tokens and the targets, both (E,); a target is IGNORE_INDEX where nothing is masked.

    items (E,): the sequences, one after another; lengths (B,), none zero; rows (B,): their numbers in the data.
    """
    items = items.astype(np.int64)
    masked = masked_positions(lengths, rows, config, draws)
    targets = np.where(masked, items, IGNORE_INDEX)
    if config.bert_80_10_10:
        return eighty_ten_ten(items, masked, np.repeat(rows, lengths), positions_of(lengths), n_items, draws), targets
    return np.where(masked, n_items + 1, items), targets


def masked_positions(lengths: np.ndarray, rows: np.ndarray, config: Bert4RecConfig, draws: CounterRNG) -> np.ndarray:
    """(E,) bool: each item with probability `mask_prob`, but at least one of each sequence.

    In a share `last_item_mask_prob` of the sequences it is the last item and no other.
    """
    ends = np.cumsum(lengths)
    masked = draws.uniform(Purpose.MASK, np.repeat(rows, lengths), positions_of(lengths)) < config.mask_prob
    unmasked = np.add.reduceat(masked, ends - lengths) == 0  # (B,)
    masked[(ends - 1 - draws.integers(Purpose.MASK_ONE, lengths, rows))[unmasked]] = True
    last_only = draws.uniform(Purpose.LAST_ITEM_ONLY, rows) < config.last_item_mask_prob  # (B,)
    masked[np.repeat(last_only, lengths)] = False
    masked[ends[last_only] - 1] = True
    return masked


def eighty_ten_ten(
    items: np.ndarray, masked: np.ndarray, rows: np.ndarray, positions: np.ndarray, n_items: int, draws: CounterRNG
) -> np.ndarray:
    """The tokens (E,) by BERT's rule: of the masked items, 80 % become [mask], 10 % stay, 10 % become a random item.

    All (E,): the items, which of them are masked, whose they are and at which position.
    """
    u = draws.uniform(Purpose.REPLACE_OR_KEEP, rows, positions)
    random_items = draws.integers(Purpose.RANDOM_ITEM, np.full(len(items), n_items), rows, positions)
    tokens = np.where(masked & (u < 0.8), n_items + 1, items)
    return np.where(masked & (u >= 0.9), random_items, tokens)
