"""Batches of sequences of similar length, with little padding, and reproducible random numbers for them.

Shapes: B sequences of a batch, T positions, Q positions of a sequence whose hidden states are returned, M targets, each
with a loss, I items.
"""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Literal, Self

import numpy as np
import torch
from torch import Tensor

from recsys.data.tie_breaking import GOLDEN_GAMMA, mix

# Batches per bucket, see `bucketed_batches`. With 16, 2–5 % of the tokens are padding, with segments half of them.
BUCKET_BATCHES = 16
WIDTH_MULTIPLE = 8  # T is a multiple of it, because some kernels are compiled once per shape
NEVER_EXCLUDED = np.iinfo(np.int16).max  # value of `Batch.excluded_from`, larger than every column number


@dataclass(frozen=True)
class Batch:
    """Token sequences padded at the end to the same width, and the targets to predict."""

    tokens: Tensor  # (B, T) int64
    positions: Tensor | None  # (B, Q) int64, positions at which the module returns hidden states; None: Q = T
    loss_index: Tensor  # (M,) int64, for each target the row of its hidden state in the flattened states (B·Q, D)
    targets: Tensor  # (M,) int64, the items to predict
    rating_ids: Tensor | None = None  # (B, T) int64, half stars of the tokens, 0 for none, see `side.to_rating_ids`
    attribute_ids: Tensor | None = None  # (B, 3) int64, ids of gender, age and occupation, see `side.PersonVectors`
    # (B, I) int16: the first of the Q columns at which the softmax excludes an item. It also excludes the item at all
    # later columns, because the user has watched it before. NEVER_EXCLUDED: at no column. None: no item is excluded.
    excluded_from: Tensor | None = None

    @classmethod
    def from_numpy(
        cls, tokens: np.ndarray, positions: np.ndarray | None, n_targets: np.ndarray, targets: np.ndarray
    ) -> Self:
        """Return a batch in which row b has targets at its first `n_targets[b]` of the Q positions.

        Args:
            tokens: Padded sequences, (B, T).
            positions: See `Batch.positions`.
            n_targets: The number of targets of each row, (B,).
            targets: The items to predict, row after row, (M,).
        """
        width = (tokens if positions is None else positions).shape[1]
        return cls(
            torch.from_numpy(tokens),
            None if positions is None else torch.from_numpy(positions),
            torch.from_numpy(np.flatnonzero(np.arange(width) < n_targets[:, None])),
            torch.from_numpy(targets),
        )

    @property
    def inputs(self) -> tuple[Tensor | None, ...]:
        """The arguments of the module's forward pass."""
        if self.rating_ids is None and self.attribute_ids is None:
            return self.tokens, self.positions
        return self.tokens, self.positions, self.rating_ids, self.attribute_ids

    @property
    def loss_cells(self) -> tuple[Tensor, Tensor]:
        """Row and column of each loss in the (B, Q) table of hidden states, (M,) each."""
        width = (self.tokens if self.positions is None else self.positions).shape[1]
        return self.loss_index // width, self.loss_index % width

    def excluded_items(self, losses: slice) -> Tensor:
        """Return the mask (m, I) of a slice of the M losses, True where the softmax excludes an item."""
        assert self.excluded_from is not None
        row, column = self.loss_cells
        # int16 as `excluded_from`: two types would be converted to the larger one, which takes three times as long
        return self.excluded_from[row[losses]] <= column[losses, None].short()

    def without_targets(self) -> Self:
        """Return a batch with the same sequences and no targets."""
        return replace(self, loss_index=self.loss_index[:0], targets=self.targets[:0])

    def to(self, device: torch.device) -> Self:
        """Return the batch on a GPU. The copy is asynchronous."""
        tensors = {name: tensor.pin_memory() for name, tensor in vars(self).items() if tensor is not None}
        return replace(self, **{name: tensor.to(device, non_blocking=True) for name, tensor in tensors.items()})


class Stream(IntEnum):
    """The streams of `CounterRNG`, one per random decision. Other values would change the result of each seed."""

    MASK = 0  # BERT4Rec: whether an item is masked
    MASK_ONE = 1  # BERT4Rec: the item to mask in a sequence without a mask
    LAST_ITEM_ONLY = 2  # BERT4Rec: whether only the last item is masked
    REPLACE_OR_KEEP = 3  # the 80/10/10 rule of BERT: whether a masked item becomes [mask], a random item or stays
    RANDOM_ITEM = 4  # the 80/10/10 rule of BERT: the random item
    RANDOM_END = 5  # `CounterRNG.crop`: the random end of a sample
    HAS_RANDOM_END = 6  # `CounterRNG.crop`: whether a sample has a random end
    NO_RATINGS = 7  # side information: whether the ratings of a sample are removed
    NO_PERSON = 8  # side information: whether the user attributes of a sample are removed
    TIE_ORDER = 9  # the order of items with equal timestamps
    SEGMENT_SIZE = 10  # `CounterRNG.crop`: the random number of items of a segment


Crop = Literal["newest", "windows", "prefixes", "segments"]  # see `CounterRNG.crop`


@dataclass(frozen=True)
class CounterRNG:
    """Counter-based random numbers: each number is a function of seed, epoch, stream, sequence and position.

    So the numbers of a sequence depend neither on its batch nor on the number of processes.
    """

    seed: int
    epoch: int

    def key(self, stream: int) -> int:
        """Return a hash below 2⁶⁴ of seed, epoch and stream."""
        return int(np.random.SeedSequence([self.seed, self.epoch, stream]).generate_state(1, np.uint64)[0])

    def uniform(self, stream: int, sequence: np.ndarray, position: np.ndarray | int = 0) -> np.ndarray:
        """Return numbers in [0, 1), one per pair of a sequence (a row number) and a position below 2³²."""
        key = np.uint64(self.key(stream))
        x = mix(np.asarray(sequence).astype(np.uint64) ^ key)
        x = mix(x + np.asarray(position).astype(np.uint64) * GOLDEN_GAMMA)
        return (x >> np.uint64(11)) * 2.0**-53  # the highest 53 bits, which a float64 holds exactly

    def integers(
        self, stream: int, high: np.ndarray, sequence: np.ndarray, position: np.ndarray | int = 0
    ) -> np.ndarray:
        """Return int64 numbers in [0, high). See `uniform` for the other arguments."""
        return (self.uniform(stream, sequence, position) * high).astype(np.int64)

    def crop(self, histories: Sequence[np.ndarray], rows: np.ndarray, length: int, kind: Crop) -> list[np.ndarray]:
        """Return at most `length` consecutive items of each of the histories `rows` (B,).

        "newest" returns the newest items. With each other kind, a random half of the samples has the newest items, and
        the other half ends at a random item:

        - "windows": `length` items, or the whole history if it is shorter.
        - "prefixes": all items up to the end, at least two, and at most `length`.
        - "segments": a log-uniform number of items, between 1 and the number of items up to the end.
        """
        ends = np.array([len(histories[row]) for row in rows])
        sizes = np.full(len(rows), length)
        if kind != "newest":
            is_random = self.uniform(Stream.HAS_RANDOM_END, rows) < 0.5
            earliest = np.minimum({"windows": length, "prefixes": 2, "segments": 1}[kind], ends)
            random_ends = earliest + self.integers(Stream.RANDOM_END, ends + 1 - earliest, rows)
            ends = np.where(is_random, random_ends, ends)
            if kind == "segments":
                random_sizes = ((ends + 1.0) ** self.uniform(Stream.SEGMENT_SIZE, rows)).astype(int)
                sizes = np.where(is_random, np.minimum(random_sizes, length), length)
        parts = zip(rows, ends, sizes, strict=True)
        return [histories[row][max(0, end - size) : end] for row, end, size in parts]


def bucketed_batches(lengths: np.ndarray, batch_size: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Split n sequences into random batches of similar length, and return their row numbers, (batch_size,) each.

    The sequences are shuffled and cut into buckets. Each bucket is sorted by length (n,) and cut into batches. The last
    batch may have fewer rows.
    """
    order = rng.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), BUCKET_BATCHES * batch_size):
        bucket = order[start : start + BUCKET_BATCHES * batch_size]
        batches += [bucket[indices] for indices in by_length(lengths[bucket], batch_size)]
    return [batches[i] for i in rng.permutation(len(batches))]


def by_length(lengths: np.ndarray, batch_size: int) -> Iterator[np.ndarray]:
    """Yield batches of indices (b,) into `lengths` (n,), from short to long sequences."""
    order = np.argsort(lengths, kind="stable")
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]


def pad(values: np.ndarray, lengths: np.ndarray, padding: int) -> np.ndarray:
    """Return rows (B, T) int64, padded at their ends, from the values of all rows, row after row.

    T is the longest of the lengths (B,), rounded up to WIDTH_MULTIPLE.
    """
    width = max(1, math.ceil(lengths.max(initial=0) / WIDTH_MULTIPLE)) * WIDTH_MULTIPLE
    padded = np.full((len(lengths), width), padding, np.int64)
    padded[np.arange(width) < lengths[:, None]] = values
    return padded


def prefetch(batches: Iterator[Batch], device: torch.device) -> Iterator[Batch]:
    """Yield the batches on a device. For a GPU, a thread prepares and copies the next batch during each step."""
    if device.type == "cpu":
        yield from batches
        return
    batches_on_gpu = (batch.to(device) for batch in batches)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(next, batches_on_gpu, None)
        while (batch := future.result()) is not None:
            future = pool.submit(next, batches_on_gpu, None)
            yield batch
