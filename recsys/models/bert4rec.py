"""BERT4Rec: items of a history are masked and predicted from both sides (Sun et al., CIKM 2019, arXiv:1904.06690).

Departures from the paper (effects: docs/experiments.md; `bert4rec_paper.py` has none of the first three):

- A learnt relative position bias in place of position embeddings.
- Blocks that normalise before each part, and no projection before the output.
- Item embeddings initialised from the PMI of items, see pmi.py.
- In a fixed share of the samples, only the last item is masked. The paper does not state this share.
- No dropout on attention weights. The learning rate decays linearly to zero. The weights are averaged (EMA).

Shapes: B sequences, E items of all sequences, T positions, Q masks, L blocks, H heads, D dimensions, I items.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, ClassVar

import numpy as np
import torch
from pydantic import Field
from torch import nn

from recsys.config import MAX_LENGTH, Fraction, config_class
from recsys.models.sequence_config import TransformerConfig
from recsys.models.sequence_model import exclude_histories
from recsys.models.transformer import TransformerEncoder, TransformerModel
from recsys.training.batches import NEVER_EXCLUDED, Batch, CounterRNG, Stream, pad
from recsys.training.options import TrainConfig

IGNORE_INDEX = -100  # the target of an item that is not masked
MaskedLength = Annotated[int, Field(ge=2, le=MAX_LENGTH)]  # at least one item and the [mask]


@config_class
class Bert4RecConfig(TransformerConfig):
    """Settings of BERT4Rec, tuned on ML-1M. The sizes are the ones that the paper uses for ML-1M."""

    schedule: TrainConfig = TrainConfig(epochs=140)
    length: MaskedLength = 200  # positions: the newest items of a history that are read, [mask] included
    mask_prob: Fraction = 0.2  # probability that an item of a training sample is masked, the paper's ρ
    last_item_mask_prob: Fraction = 0.1  # share of the samples in which only the last item is masked


class Bert4RecEncoder(TransformerEncoder):
    """A bidirectional Transformer with normalised embeddings."""

    def __init__(self, config: Bert4RecConfig, n_items: int) -> None:
        super().__init__(config, n_items)
        self.norm = nn.LayerNorm(config.dim)


class Bert4Rec(TransformerModel):
    """The model. It is trained by the Cloze task, and predicts the next item at a [mask] after the history."""

    Config: ClassVar[type] = Bert4RecConfig
    Encoder: ClassVar[type] = Bert4RecEncoder
    former_settings = {
        "bert_80_10_10": False,
        "windows": False,
        "relative_bias": True,
        "pre_norm": True,
        "projection": False,
    }
    has_paper_architecture: ClassVar[bool] = False  # without the first two departures of the module docstring
    can_fill_masks: bool = True
    config: Bert4RecConfig
    module: Bert4RecEncoder

    def input_tokens(self, history: np.ndarray, is_whole: bool = False) -> np.ndarray:
        """Return the newest `length` - 1 items of a history and a [mask] after them, (T,)."""
        return np.append(history[-(self.config.length - 1) :], self.module.mask)

    def sequences(self, histories: Sequence[np.ndarray], rows: np.ndarray, rng: CounterRNG) -> list[np.ndarray]:
        """See `SequenceModel.sequences`."""
        return rng.crop(histories, rows, self.config.length, self.config.crop)

    def collate(self, histories: Sequence[np.ndarray], rows: np.ndarray, n_items: int, rng: CounterRNG) -> Batch:
        """See `SequenceModel.collate`."""
        sequences = self.sequences(histories, rows, rng)
        lengths = np.array([len(sequence) for sequence in sequences])
        tokens, targets = self.mask_items(np.concatenate(sequences), lengths, rows, n_items, rng)
        masked = targets != IGNORE_INDEX  # (E,)
        n_masked = np.add.reduceat(masked, np.cumsum(lengths) - lengths)  # (B,)
        positions = pad(positions_of(lengths)[masked], n_masked, 0)  # (B, Q)
        return Batch.from_numpy(pad(tokens, lengths, n_items), positions, n_masked, targets[masked])

    def mask_items(
        self, items: np.ndarray, lengths: np.ndarray, rows: np.ndarray, n_items: int, rng: CounterRNG
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return tokens (E,), some of them [mask], and targets (E,), IGNORE_INDEX where nothing is masked.

        `items` (E,) are the items of B sequences of `lengths` (B,) ≥ 1, one sequence after another.
        """
        masked = choose_masks(lengths, rows, self.config, rng)
        items, mask_token = items.astype(np.int64), n_items + 1  # the `mask` of `SequenceEncoder`
        return np.where(masked, mask_token, items), np.where(masked, items, IGNORE_INDEX)

    def first_excluded_column(
        self, batch: Batch, histories: Sequence[np.ndarray], rows: np.ndarray, n_items: int
    ) -> np.ndarray:
        """See `SequenceModel.first_excluded_column`. The softmax excludes the unmasked items of the history only."""
        excluded_from = exclude_histories(histories, rows, n_items)
        row, _ = batch.loss_cells
        excluded_from[row, batch.targets] = NEVER_EXCLUDED
        return excluded_from

    @torch.inference_mode()
    def fill(self, history: np.ndarray, masked_positions: np.ndarray) -> np.ndarray:
        """Return the network's logits (Q, I) at `masked_positions` (Q,) of a history (T,), T ≤ `length`."""
        tokens = history.astype(np.int64)  # a copy
        tokens[masked_positions] = self.module.mask
        positions = torch.from_numpy(masked_positions.astype(np.int64))[None].to(self.device)
        hidden = self.module(self._batch_of_one(tokens), positions)[0]  # (Q, D)
        return self.module.logits(hidden).float().cpu().numpy()

    def training_example(self, history: np.ndarray) -> np.ndarray:
        """Return a history (T,) with masks of seed 0, epoch 0. Each item is masked with probability `mask_prob`."""
        config = replace(self.config, last_item_mask_prob=0.0)
        masked = choose_masks(np.array([len(history)]), np.array([0]), config, CounterRNG(seed=0, epoch=0))
        return np.where(masked, self.module.mask, history.astype(np.int64))

    def embed_tokens(self, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the item embeddings (T, D) of tokens (T,) and their position embeddings (T, D), if any."""
        items, positions = self.module.item_vectors().detach(), self.module.positions
        position_vectors = None if positions is None else positions.weight.detach()[: len(tokens)].cpu().numpy()
        return items.cpu().numpy()[tokens], position_vectors


def positions_of(lengths: np.ndarray) -> np.ndarray:
    """Return the position of each item in its sequence, (E,), from the lengths (B,) of consecutive sequences."""
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def choose_masks(lengths: np.ndarray, rows: np.ndarray, config: Bert4RecConfig, rng: CounterRNG) -> np.ndarray:
    """Choose the items to mask, (E,) bool, in sequences of `lengths` (B,). At least one of each sequence is masked.

    `rows` (B,) are the indices of the sequences in the training data. They select the random numbers.
    """
    ends = np.cumsum(lengths)
    starts, last_items = ends - lengths, ends - 1  # indices of the first and the last item of each sequence, (B,)
    masked = rng.uniform(Stream.MASK, np.repeat(rows, lengths), positions_of(lengths)) < config.mask_prob
    lacks_mask = np.add.reduceat(masked, starts) == 0  # (B,)
    random_items = last_items - rng.integers(Stream.MASK_ONE, lengths, rows)  # (B,)
    masked[random_items[lacks_mask]] = True
    is_last_only = rng.uniform(Stream.LAST_ITEM_ONLY, rows) < config.last_item_mask_prob  # (B,)
    masked[np.repeat(is_last_only, lengths)] = False
    masked[last_items[is_last_only]] = True
    return masked
