"""What every system gets (a task folder), and how it is measured. Needs NumPy alone: it runs in any environment.

Cloze loss: the mean cross-entropy, over the whole catalogue, of films hidden from sequences that no system trained on.
The films hidden are drawn once and are the same for all. Shapes: S sequences, I films, M hidden films.
"""

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from recsys.runtime import peak_memory_mb

HIDDEN = -1  # stands for a film that is to be predicted
AT_ONCE = 32  # sequences scored together
WARM_UP = 20  # requests that are not counted
TOP = 10  # films of an answer

Score = Callable[[list[np.ndarray]], np.ndarray]  # sequences with HIDDEN in them → (M, I) logits, in the order of M


@dataclass(frozen=True)
class Settings:
    """The same model and work for everyone; the learning rate is each system's own."""

    layers: int = 2  # L
    heads: int = 2  # h
    dim: int = 64  # d
    length: int = 200  # N, films per sequence
    mask_prob: float = 0.2  # ρ
    dropout: float = 0.2  # the default of both peers
    batch_size: int = 128  # RecTools' default
    epochs: int = 1  # passes over the training sequences
    threads: int = 2  # in training; a request has one core
    requests: int = 300  # one after another
    seed: int = 0


@dataclass(frozen=True)
class Task:
    """Sequences of films 0…I-1, oldest first, of at most `length` films each."""

    settings: Settings
    n_items: int
    train: list[np.ndarray]  # S sequences to learn from
    held_out: list[np.ndarray]  # of other people
    hidden: list[np.ndarray]  # for each of those, which films are to be predicted: bool

    @property
    def query(self) -> np.ndarray:
        """The history of a request: the newest films of the longest training sequence, with room for a mask."""
        return self.train[self.query_row][-(self.settings.length - 1) :]

    @property
    def query_row(self) -> int:
        """Whose sequence it is."""
        return max(range(len(self.train)), key=lambda row: len(self.train[row]))

    @property
    def films(self) -> int:
        """Films in all training sequences."""
        return sum(map(len, self.train))


def save(task: Task, folder: Path) -> None:
    """Write a task to a folder."""
    (folder / "settings.json").write_text(json.dumps(asdict(task.settings) | {"n_items": task.n_items}))
    parts = {"train": task.train, "held_out": task.held_out, "hidden": task.hidden}
    arrays = {name: np.concatenate(part) for name, part in parts.items()}
    ends = {f"{name}_ends": np.cumsum([len(row) for row in part]) for name, part in parts.items()}
    np.savez(folder / "sequences.npz", **arrays, **ends)


def load(folder: Path) -> Task:
    """The inverse of `save`."""
    settings = json.loads((folder / "settings.json").read_text())
    n_items = settings.pop("n_items")
    with np.load(folder / "sequences.npz", allow_pickle=False) as arrays:
        parts = [np.split(arrays[name], arrays[f"{name}_ends"][:-1]) for name in ("train", "held_out", "hidden")]
    return Task(Settings(**settings), n_items, *parts)


def cloze_loss(task: Task, score: Score) -> float:
    """The mean cross-entropy of the hidden films; logits are turned into probabilities here, alike for all."""
    total, count = 0.0, 0
    for start in range(0, len(task.held_out), AT_ONCE):
        sequences, hidden = task.held_out[start : start + AT_ONCE], task.hidden[start : start + AT_ONCE]
        seen = [np.where(away, HIDDEN, films) for films, away in zip(sequences, hidden, strict=True)]
        targets = np.concatenate([films[away] for films, away in zip(sequences, hidden, strict=True)])  # (M,)
        logits = score(seen).astype(np.float64)
        if logits.shape != (len(targets), task.n_items):
            raise ValueError(f"logits are {logits.shape}, not {(len(targets), task.n_items)}")
        highest = logits.max(1)
        sums = np.log(np.exp(logits - highest[:, None]).sum(1)) + highest
        total += float((sums - logits[np.arange(len(targets)), targets]).sum())
        count += len(targets)
    return total / count


def latency(task: Task, request: Callable[[], Sequence[int]]) -> dict[str, float]:
    """Milliseconds of one request after another, on one core: a history in, its TOP films out, those seen hidden."""
    found = list(request())
    if len(set(found)) != TOP or set(found) & set(task.query.tolist()):
        raise ValueError(f"{found} are no {TOP} films that were not seen")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    wall, cpu = [], []
    for _ in range(WARM_UP + task.settings.requests):
        began, began_cpu = time.perf_counter(), time.process_time()
        request()
        cpu.append(1e3 * (time.process_time() - began_cpu))
        wall.append(1e3 * (time.perf_counter() - began))
    p50, p99 = np.percentile(wall[WARM_UP:], (50, 99)).tolist()
    cpu_p50 = float(np.median(cpu[WARM_UP:]))  # the same for everyone where others use the machine too
    return {"p50": round(p50, 3), "p99": round(p99, 3), "cpu_p50": round(cpu_p50, 3)}


def measured(
    task: Task, seconds: float, fit_seconds: float, score: Score, request: Callable[[], Sequence[int]], package: str
) -> dict[str, Any]:
    """What a system's script returns: seconds of the epochs alone, of all of `fit`, and what came of it."""
    memory = peak_memory_mb()  # before anything but training has needed memory
    loss = cloze_loss(task, score)
    return {
        "sequences_per_second": round(len(task.train) * task.settings.epochs / seconds, 2),
        "seconds": round(seconds, 3),
        "fit_seconds": round(fit_seconds, 3),
        "memory_mb": round(memory, 1),
        "cloze_loss": round(loss, 5),
        "latency_ms": latency(task, request),
        "versions": {name: metadata.version(name) for name in ("torch", "numpy", *([package] if package else []))},
    }
