"""Batches of sequences of similar length, so that next to nothing is computed for padding.

Shapes: S sequences, B of them in a batch, T positions, M positions with a loss.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
import torch
from torch import Tensor

POOL = 16  # batches that are sorted by length together: enough to leave 2–5 % padding, few enough to mix users


@dataclass(frozen=True)
class Batch:
    """Sequences padded at the end to the longest of the batch, and where a loss falls."""

    tokens: Tensor  # (B, T) int64
    at: Tensor  # (M,) int64, places in the flattened (B·T) tokens
    targets: Tensor  # (M,) int64, the items that belong there

    def to(self, device: torch.device) -> Self:
        """The same batch on another device, without waiting for the copy."""
        return type(self)(*(getattr(self, field.name).to(device, non_blocking=True) for field in fields(self)))


def buckets(lengths: np.ndarray, batch_size: int, rng: np.random.Generator) -> list[np.ndarray]:
    """All S sequences, cut into batches (arrays of rows) of similar length; both in random order."""
    order = rng.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), POOL * batch_size):
        pool = order[start : start + POOL * batch_size]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += np.split(pool, range(batch_size, len(pool), batch_size))
    return [batches[i] for i in rng.permutation(len(batches))]


def pad(sequences: Sequence[np.ndarray], padding: int) -> np.ndarray:
    """(B, T) int64: the sequences, each filled up at its end with `padding`."""
    lengths = np.array([len(sequence) for sequence in sequences])
    padded = np.full((len(sequences), lengths.max(initial=1)), padding, np.int64)
    padded[np.arange(padded.shape[1]) < lengths[:, None]] = np.concatenate(sequences)
    return padded


def by_length(lengths: np.ndarray, batch_size: int) -> Iterator[np.ndarray]:
    """Rows of all sequences from short to long, a batch at a time: for scoring, where order does not matter."""
    order = np.argsort(lengths, kind="stable")
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]
