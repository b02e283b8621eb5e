"""Training for a given time, judged by the ranks of hidden films as everywhere here. Needs NumPy alone.

Time is that of the processor, so that neighbours do not matter, and only training counts. Now and then the system ranks
some people's validation film; the weights that did so best rank everybody's test film in the end.

Shapes: B people, I films.
"""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recsys.ranking.metrics import ndcg, target_ranks
from recsys.runtime import peak_memory_mb

AT_ONCE = 64  # histories scored together
TOP = 10  # films of the list that counts

Score = Callable[[list[np.ndarray]], np.ndarray]  # histories, oldest film first → (B, I) scores


@dataclass(frozen=True)
class Limits:
    """The same for everyone."""

    minutes: float = 120.0  # of training
    looks: int = 12  # times that validation is looked at, evenly spread
    asked: int = 1000  # people who are asked then
    threads: int = 1
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Task:
    """Films 0…I-1; a person's validation film follows their training films, the test film follows that."""

    limits: Limits
    n_items: int
    train: list[np.ndarray]  # B histories, whole
    valid: np.ndarray  # (B,)
    test: np.ndarray  # (B,)


def save(task: Task, folder: Path) -> None:
    """Write a task to a folder."""
    (folder / "limits.json").write_text(json.dumps(asdict(task.limits) | {"n_items": task.n_items}))
    ends = np.cumsum([len(films) for films in task.train])
    np.savez(folder / "films.npz", train=np.concatenate(task.train), ends=ends, valid=task.valid, test=task.test)


def load(folder: Path) -> Task:
    """The inverse of `save`."""
    limits = json.loads((folder / "limits.json").read_text())
    n_items = limits.pop("n_items")
    with np.load(folder / "films.npz", allow_pickle=False) as arrays:
        train = np.split(arrays["train"], arrays["ends"][:-1])
        return Task(Limits(**limits), n_items, train, arrays["valid"], arrays["test"])


class Course:
    """One system's training: the clock, the looks at validation, and what came of it."""

    def __init__(self, task: Task, score: Score, weights: Callable[[], Any], load: Callable[[Any], None]) -> None:
        """weights: a copy of the model's; load: puts such a copy back."""
        self.task, self._score, self._weights, self._load = task, score, weights, load
        drawn = np.random.default_rng(task.limits.seed).permutation(len(task.train))[: task.limits.asked]
        self.people = np.sort(drawn)
        self.seconds, self.sequences = 0.0, 0
        self.looks: list[dict[str, float]] = []
        self._best: Any = None
        self._began = time.process_time()

    def begin(self) -> None:
        """Training goes on from here."""
        self._began = time.process_time()

    def batch_done(self, sequences: int) -> bool:
        """Whether the time is over, after a batch of so many sequences; looks at validation when it is due."""
        self.sequences += sequences
        limit = 60 * self.task.limits.minutes
        seconds = self.seconds + time.process_time() - self._began
        due = (len(self.looks) + 1) * limit / self.task.limits.looks
        if seconds >= due:
            self.seconds = seconds
            self._look()
            self.begin()
        return len(self.looks) >= self.task.limits.looks

    def result(self, name: str, an_epoch: int, settings: dict[str, Any], ranks: Path) -> dict[str, Any]:
        """Rank everybody's test film with the best weights, write the ranks (B,), and tell how the training went.

        an_epoch: sequences in one.
        """
        self._load(self._best)
        everyone = np.arange(len(self.task.train))
        np.save(ranks, self._ranks(everyone, self.task.test, [self.task.valid]))
        return {
            "system": name,
            "settings": settings,
            "epochs": round(self.sequences / an_epoch, 2),
            "train_seconds": round(self.seconds, 1),
            "sequences_per_second": round(self.sequences / self.seconds, 2),
            "looks": self.looks,
            "memory_mb": round(peak_memory_mb(), 1),
        }

    def _look(self) -> None:
        """Rank the validation films of those who are asked; keep the weights if it was never better."""
        found = ndcg(self._ranks(self.people, self.task.valid, []), TOP)
        if found > max((look["ndcg@10"] for look in self.looks), default=-1.0):
            self._best = self._weights()
        self.looks.append({"seconds": round(self.seconds, 1), "sequences": self.sequences, "ndcg@10": round(found, 6)})
        print(json.dumps(self.looks[-1]), flush=True)

    def _ranks(self, people: np.ndarray, targets: np.ndarray, later: list[np.ndarray]) -> np.ndarray:
        """Ranks of the targets (all people's) of some people; later: films (B,) that follow the training films."""
        found = np.zeros(len(people), np.int64)
        for start in range(0, len(people), AT_ONCE):
            rows = people[start : start + AT_ONCE]
            histories = [np.append(self.task.train[row], [films[row] for films in later]) for row in rows]
            histories = [history.astype(np.int64) for history in histories]
            scores = self._score(histories)
            if scores.shape != (len(rows), self.task.n_items):
                raise ValueError(f"scores are {scores.shape}, not {(len(rows), self.task.n_items)}")
            found[start : start + AT_ONCE] = target_ranks(scores, targets[rows], histories)
        return found
