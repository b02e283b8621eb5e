"""Batches of sequences of similar length, with little padding, and reproducible random numbers for them.

Shapes: S sequences, B of them in a batch, E items in a batch, T positions, Q positions whose hidden states are needed,
M positions with a loss, I items.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Literal, Self

import numpy as np
import torch
from torch import Tensor

BUCKET_BATCHES = 16  # batches sorted by length together: 2–5 % padding, and still a random mix of users
WIDTH_MULTIPLE = 8  # T is a multiple of it, because some kernels are compiled once per shape
NOT_SEEN = np.iinfo(np.int16).max  # larger than any position


@dataclass(frozen=True)
class Batch:
    """Sequences padded at the end to the longest of the batch, and the positions with a loss."""

    tokens: Tensor  # (B, T) int64
    positions: Tensor | None  # (B, Q) int64, the positions whose hidden states are needed; None: all T
    loss_index: Tensor  # (M,) int64, indices of the positions with a loss in the flattened (B·Q) hidden states
    targets: Tensor  # (M,) int64, the item to predict at each of them
    stars: Tensor | None = None  # (B, T) int64, the ratings of the items, for models that read them
    person: Tensor | None = None  # (B, 3) int64, gender, age and occupation, for models that read them
    excluded_from: Tensor | None = None  # (B, I) int16, see `ExcludedItems`; None: the loss excludes no item

    @classmethod
    def from_numpy(
        cls, tokens: np.ndarray, positions: np.ndarray | None, n_targets: np.ndarray, targets: np.ndarray
    ) -> Self:
        """Return the batch in which the first positions of each row have a loss.

        Args:
            tokens: (B, T).
            positions: (B, Q), or None for all T.
            n_targets: The number of positions with a loss in each row, (B,).
            targets: The items to predict, one row after another, (M,).
        """
        width = (tokens if positions is None else positions).shape[1]
        loss_index = np.flatnonzero(np.arange(width) < n_targets[:, None])
        return cls(
            torch.from_numpy(tokens),
            None if positions is None else torch.from_numpy(positions),
            torch.from_numpy(loss_index),
            torch.from_numpy(targets),
        )

    @property
    def inputs(self) -> tuple[Tensor | None, ...]:
        """The arguments of the module's forward pass."""
        side = () if self.stars is None and self.person is None else (self.stars, self.person)
        return (self.tokens, self.positions, *side)

    @property
    def where(self) -> tuple[Tensor, Tensor]:
        """The row of each loss and its column among the Q positions of that row, (M,) each."""
        width = (self.tokens if self.positions is None else self.positions).shape[1]
        return self.loss_index // width, self.loss_index % width

    @property
    def excluded(self) -> "ExcludedItems | None":
        """The items that the loss excludes, if any."""
        return None if self.excluded_from is None else ExcludedItems(self.excluded_from, *self.where)

    def without_targets(self) -> Self:
        """Return the same sequences without targets."""
        return replace(self, loss_index=self.loss_index[:0], targets=self.targets[:0])

    def to(self, device: torch.device) -> Self:
        """Return the batch on another device, without waiting for the copy."""
        if device.type == "cpu":
            return self
        tensors = {name: value for name, value in vars(self).items() if value is not None}
        return replace(
            self, **{name: value.pin_memory().to(device, non_blocking=True) for name, value in tensors.items()}
        )


@dataclass(frozen=True)
class ExcludedItems:
    """The items that the softmax of each of M losses excludes: those that the history contains at its position."""

    excluded_from: Tensor  # (B, I) int16, the first position at which an item is excluded; NOT_SEEN: at none
    row: Tensor  # (M,) int64, the sequence of each loss
    position: Tensor  # (M,) int64, its position in that sequence

    def __getitem__(self, chunk: slice) -> Tensor:
        """Return a mask (chunk, I) for some of the losses, True where an item is excluded."""
        return self.excluded_from[self.row[chunk]] <= self.position[chunk, None]


class Stream(IntEnum):
    """The streams of random numbers. Their values are part of every seed's result."""

    MASK = 0  # BERT4Rec: whether an item is masked
    MASK_ONE = 1  # the item to mask in a sequence without a mask
    LAST_ITEM_ONLY = 2  # whether only the last item is masked
    REPLACE_OR_KEEP = 3  # BERT's rule: whether a masked item is replaced or kept
    RANDOM_ITEM = 4  # the item that replaces it
    END = 5  # `CounterRNG.crop`: the end of a sample
    OLDER = 6  # whether a sample ends before the newest item
    NO_RATINGS = 7  # side information: whether a sample is shown without ratings
    NO_PERSON = 8  # whether a sample is shown without its user
    ORDER = 9  # the order of items with the same time


Crop = Literal["newest", "windows", "prefixes"]  # the part of a longer history that a sample shows


@dataclass(frozen=True)
class CounterRNG:
    """Counter-based random numbers: each is a function of seed, epoch, stream, sequence and position.

    Every process can draw the numbers of its own sequences, and they equal those of a single process.
    """

    seed: int
    epoch: int

    def key(self, stream: int) -> int:
        """Return a number below 2⁶⁴ that depends on seed, epoch and stream."""
        return int(np.random.SeedSequence([self.seed, self.epoch, stream]).generate_state(1, np.uint64)[0])

    def uniform(self, stream: int, sequence: np.ndarray, position: np.ndarray | int = 0) -> np.ndarray:
        """Return numbers in [0, 1) of the shape of `sequence`.

        Args:
            stream: Number of the stream. Two streams are independent.
            sequence: Row numbers of sequences.
            position: Positions below 2³², broadcast to `sequence`.

        Reference: the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), applied twice.
        """
        key = np.uint64(self.key(stream))
        x = _mix(np.asarray(sequence).astype(np.uint64) ^ key)
        x = _mix(x + np.asarray(position).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
        return (x >> np.uint64(11)) * 2.0**-53

    def integers(
        self, stream: int, high: np.ndarray, sequence: np.ndarray, position: np.ndarray | int = 0
    ) -> np.ndarray:
        """Return int64 from 0 to below `high`, drawn like the numbers of `uniform`."""
        return (self.uniform(stream, sequence, position) * high).astype(np.int64)

    def crop(self, histories: Sequence[np.ndarray], rows: np.ndarray, length: int, how: Crop) -> list[np.ndarray]:
        """Return at most `length` consecutive items of each of the histories `rows` (B,).

        "newest" keeps the newest items. With "windows" and "prefixes", half of the samples end at a random item. A
        prefix keeps at least two items. A window keeps at least `length` items of a history that has them.
        """
        ends = np.array([len(histories[row]) for row in rows])
        if how != "newest":
            earliest = np.minimum(2 if how == "prefixes" else length, ends)
            random_ends = earliest + self.integers(Stream.END, ends + 1 - earliest, rows)
            ends = np.where(self.uniform(Stream.OLDER, rows) < 0.5, random_ends, ends)
        return [histories[row][max(0, end - length) : end] for row, end in zip(rows, ends, strict=True)]


def _mix(x: np.ndarray) -> np.ndarray:
    """Return SplitMix64's finaliser of uint64 numbers: every bit of the result depends on every bit of `x`."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def bucketed_batches(lengths: np.ndarray, batch_size: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return the row numbers of S sequences in random batches of similar length, from the lengths (S,)."""
    order = rng.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), BUCKET_BATCHES * batch_size):
        bucket = order[start : start + BUCKET_BATCHES * batch_size]
        bucket = bucket[np.argsort(lengths[bucket], kind="stable")]
        batches += np.split(bucket, range(batch_size, len(bucket), batch_size))
    return [batches[i] for i in rng.permutation(len(batches))]


def pad(values: np.ndarray, lengths: np.ndarray, padding: int) -> np.ndarray:
    """Return rows (B, T) int64, padded at their ends. T is the longest length, rounded up to WIDTH_MULTIPLE.

    Args:
        values: The values of all rows, one row after another, (E,).
        lengths: The length of each row, (B,).
        padding: The value that fills a row.
    """
    width = max(1, -(-lengths.max(initial=0) // WIDTH_MULTIPLE)) * WIDTH_MULTIPLE
    padded = np.full((len(lengths), width), padding, np.int64)
    padded[np.arange(padded.shape[1]) < lengths[:, None]] = values
    return padded


def by_length(lengths: np.ndarray, batch_size: int) -> Iterator[np.ndarray]:
    """Yield batches of row numbers from short to long sequences, for scoring."""
    order = np.argsort(lengths, kind="stable")
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]


def prefetch(batches: Iterator[Batch], device: torch.device) -> Iterator[Batch]:
    """Yield the batches on a device. For a GPU, a thread makes and copies the next one during each step."""
    if device.type == "cpu":
        yield from batches
        return

    def next_batch() -> Batch | None:
        batch = next(batches, None)
        return batch and batch.to(device)

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(next_batch)
        while (batch := future.result()) is not None:
            future = pool.submit(next_batch)
            yield batch
