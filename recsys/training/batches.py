"""Batches of sequences of similar length, so that little is computed for padding.

Shapes: S sequences, B of them in a batch, E items in those, T positions, Q positions whose states are wanted, M of them
with a loss.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from torch import Tensor

POOL = 16  # batches sorted by length together: enough to leave 2–5 % padding, few enough to mix users
NEVER = np.iinfo(np.int16).max  # beyond every position
STEP = 8  # widths are multiples of it: some kernels are compiled once per shape, so there should be few shapes


@dataclass(frozen=True)
class Batch:
    """Sequences padded at the end to the longest of the batch, and where a loss falls."""

    tokens: Tensor  # (B, T) int64
    at: Tensor | None  # (B, Q) int64, the positions whose hidden states are wanted; None: all T
    picked: Tensor  # (M,) int64, indices into the flattened (B·Q) hidden states: those that have a loss
    targets: Tensor  # (M,) int64, the item to be predicted from each
    stars: Tensor | None = None  # (B, T) int64, what was thought of the items, for models that read it
    person: Tensor | None = None  # (B, 3) int64, what is known of the people, likewise
    since: Tensor | None = None  # (B, I) int16, see `Seen`; None: a loss compares with all items

    @property
    def inputs(self) -> tuple[Tensor | None, ...]:
        """What the module is given."""
        side = () if self.stars is None and self.person is None else (self.stars, self.person)
        return (self.tokens, self.at, *side)

    @property
    def where(self) -> tuple[Tensor, Tensor]:
        """(M,) the row of each loss, and its column among the Q positions of that row."""
        width = (self.tokens if self.at is None else self.at).shape[1]
        return self.picked // width, self.picked % width

    @property
    def seen(self) -> "Seen | None":
        """What must not be compared with the targets, if anything."""
        return None if self.since is None else Seen(self.since, *self.where)

    def without_loss(self) -> Self:
        """The same sequences with nothing to learn from."""
        return replace(self, picked=self.picked[:0], targets=self.targets[:0])

    def to(self, device: torch.device) -> Self:
        """The same batch on another device, without waiting for the copy."""
        if device.type == "cpu":
            return self
        moved = {
            name: value.pin_memory().to(device, non_blocking=True)
            for name, value in vars(self).items()
            if value is not None
        }
        return replace(self, **moved)


@dataclass(frozen=True)
class Seen:
    """Which items the histories hold already, where each of M losses falls."""

    since: Tensor  # (B, I) int16, the position from which on an item is in what was read; NEVER
    row: Tensor  # (M,) int64, the sequence of each loss
    position: Tensor  # (M,) int64, its position there

    def __getitem__(self, chunk: slice) -> Tensor:
        """(chunk, I) bool, of some of the losses."""
        return self.since[self.row[chunk]] <= self.position[chunk, None]


END, OLDER = 5, 6  # what `Draws.cut` draws for; models number their own purposes


@dataclass(frozen=True)
class Draws:
    """Random numbers that depend on nothing but seed, epoch, sequence and position.

    Each process can draw the numbers of its own sequences, in any order, and they are those that a single process would
    have drawn.
    """

    seed: int
    epoch: int

    def key(self, purpose: int) -> int:
        """A number below 2^64, of seed, epoch and purpose."""
        return int(np.random.SeedSequence([self.seed, self.epoch, purpose]).generate_state(1, np.uint64)[0])

    def uniform(self, purpose: int, sequence: np.ndarray, position: np.ndarray | int = 0) -> np.ndarray:
        """Numbers in [0, 1) of the shape of `sequence`, `position` broadcast to it; each `purpose` has its own stream.

        The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), applied twice to a counter. Positions must be
        below 2³².
        """
        key = np.uint64(self.key(purpose))
        x = _mix(np.asarray(sequence).astype(np.uint64) ^ key)
        x = _mix(x + np.asarray(position).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
        return (x >> np.uint64(11)) * 2.0**-53

    def integers(
        self, purpose: int, high: np.ndarray, sequence: np.ndarray, position: np.ndarray | int = 0
    ) -> np.ndarray:
        """int64 from 0 to below `high`, drawn as by `uniform`."""
        return (self.uniform(purpose, sequence, position) * high).astype(np.int64)

    def cut(
        self, histories: list[np.ndarray], rows: np.ndarray, length: int, windows: bool, prefixes: bool
    ) -> list[np.ndarray]:
        """At most `length` items of each of the histories `rows` (B,).

        They are the newest, unless half of the samples are to be older ones. Those end anywhere: of `prefixes` two
        items or more are left, of `windows` as many as would be without.
        """
        ends = np.array([len(histories[row]) for row in rows])
        if windows or prefixes:
            first = np.minimum(2 if prefixes else length, ends)
            random_ends = first + self.integers(END, ends + 1 - first, rows)
            ends = np.where(self.uniform(OLDER, rows) < 0.5, random_ends, ends)
        return [histories[row][max(0, end - length) : end] for row, end in zip(rows, ends, strict=True)]


def _mix(x: np.ndarray) -> np.ndarray:
    """SplitMix64's finaliser: uint64 → uint64, every bit of the result depends on every bit of `x`."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def buckets(lengths: np.ndarray, batch_size: int, rng: np.random.Generator) -> list[np.ndarray]:
    """All S sequences in batches (arrays of row numbers) of similar length, from their lengths (S,).

    Which sequences share a batch is random, and so is the order of the batches.
    """
    order = rng.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), POOL * batch_size):
        pool = order[start : start + POOL * batch_size]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += np.split(pool, range(batch_size, len(pool), batch_size))
    return [batches[i] for i in rng.permutation(len(batches))]


def pad(values: np.ndarray, lengths: np.ndarray, padding: int) -> np.ndarray:
    """(B, T) int64: the values (E,) of B rows, one row after another, with lengths (B,), each padded at its end.

    T is the longest row's length, rounded up to a multiple of STEP.
    """
    width = max(1, -(-lengths.max(initial=0) // STEP)) * STEP
    padded = np.full((len(lengths), width), padding, np.int64)
    padded[np.arange(padded.shape[1]) < lengths[:, None]] = values
    return padded


def by_length(lengths: np.ndarray, batch_size: int) -> Iterator[np.ndarray]:
    """Row numbers of all sequences from short to long, a batch at a time: for scoring, where order does not matter."""
    order = np.argsort(lengths, kind="stable")
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]


def ahead(batches: Iterator[Batch], device: torch.device) -> Iterator[Batch]:
    """The batches on a device; for a GPU each is made and copied while the one before is computed."""
    if device.type == "cpu":
        yield from batches
        return

    def prepare() -> Batch | None:
        batch = next(batches, None)
        return batch and batch.to(device)

    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(prepare)
        while (batch := coming.result()) is not None:
            coming = pool.submit(prepare)
            yield batch
