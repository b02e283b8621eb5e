"""The tasks that every system gets, and the measurement of the trained models. NumPy is the only library used.

A speed task trains a BERT4Rec of given sizes. Its loss is the mean cross-entropy of masked items in held-out sequences,
with a softmax over all items. The masked items are equal for all systems. A quality task trains for a given CPU time.
The weights with the best validation NDCG@10 then rank the test item of every user.

Shapes: S sequences, B users, I items, M masked items.
"""

import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from recsys.ranking.metrics import ndcg, target_ranks
from recsys.runtime import peak_memory_mb

MASK = -1  # in place of an item that must be predicted
K = 10  # items that a request returns
# sequences scored at once
SPEED_BATCH_SIZE = 32
QUALITY_BATCH_SIZE = 64
N_WARM_UP = 20  # requests before the timed requests
RANKS = "ranks.npy"  # file with the test ranks in the folder of a quality task
UNTRAINED_SCORE = -1e9  # of an item that the model does not have, because no training history has it

# sequences → scores: (M, I) for the masked items of a speed task, (B, I) for the next items of a quality task
Score = Callable[[list[np.ndarray]], np.ndarray]


@dataclass(frozen=True)
class Settings:
    """The model and the work of a speed task. Each system has its own optimiser and learning rate."""

    layers: int = 2
    heads: int = 2
    dim: int = 64
    length: int = 200  # maximum items per sequence
    mask_prob: float = 0.2
    dropout: float = 0.2  # the default of both peers
    batch_size: int = 128  # the default of RecTools
    epochs: int = 1
    threads: int = 2  # of the training; a request uses one core
    requests: int = 300
    seed: int = 0


@dataclass(frozen=True)
class SpeedTask:
    """Sequences of at most `settings.length` items, oldest first. Items are numbered from 0 to I-1."""

    settings: Settings
    n_items: int
    train: list[np.ndarray]  # S sequences
    held_out: list[np.ndarray]  # sequences of other users
    masks: list[np.ndarray]  # bool, for each held-out sequence: the items to predict

    @property
    def query(self) -> np.ndarray:
        """The history of a request: the newest items of the longest training sequence, with room for a mask."""
        return self.train[self.query_row][-(self.settings.length - 1) :]

    @property
    def query_row(self) -> int:
        """The row of the longest training sequence."""
        return int(np.argmax([len(items) for items in self.train]))

    @property
    def n_interactions(self) -> int:
        """The number of items in all training sequences."""
        return sum(map(len, self.train))


@dataclass(frozen=True)
class Limits:
    """Limits and seed of a quality task, equal for all systems."""

    minutes: float = 120.0  # CPU time of training
    validations: int = 12  # number of validations, evenly spread over the training
    validation_users: int = 1000
    threads: int = 1
    seed: int = 0


@dataclass(frozen=True, eq=False)
class QualityTask:
    """Training histories of B users, and the next two items of each user: the validation item and the test item."""

    limits: Limits
    n_items: int
    train: list[np.ndarray]
    valid: np.ndarray  # (B,)
    test: np.ndarray  # (B,)


Task = SpeedTask | QualityTask


def save(task: Task, folder: Path) -> None:
    """Write a task to task.json in a folder."""
    (folder / "task.json").write_text(json.dumps(asdict(task), default=np.ndarray.tolist))


def load(folder: Path) -> Any:
    """Read a task that `save` has written."""
    fields = json.loads((folder / "task.json").read_text())
    for name in fields.keys() & {"train", "held_out"}:
        fields[name] = [np.array(items, np.int64) for items in fields[name]]
    if "settings" in fields:
        masks = [np.array(mask, bool) for mask in fields["masks"]]
        return SpeedTask(**fields | {"settings": Settings(**fields["settings"]), "masks": masks})
    targets = {name: np.array(fields[name], np.int64) for name in ("valid", "test")}
    return QualityTask(**fields | targets | {"limits": Limits(**fields["limits"])})


def main(
    measure_speed: Callable[[SpeedTask, Path], dict[str, Any]],
    measure_quality: Callable[[QualityTask, Path, str], dict[str, Any]],
) -> None:
    """Run the script of a peer with the arguments FOLDER and, for a quality task, MODEL. Write FOLDER/result.json."""
    warnings.simplefilter("ignore")
    folder, models = Path(sys.argv[1]).resolve(), sys.argv[2:]
    sys.argv = sys.argv[:1]  # RecBole reads the command line, too
    task = load(folder)
    figures = measure_quality(task, folder, *models) if models else measure_speed(task, folder)
    (folder / "result.json").write_text(json.dumps(figures))


def cloze_loss(task: SpeedTask, score: Score) -> float:
    """Return the mean cross-entropy of the masked items. `score` returns logits (M, I)."""
    loss_sum, n_targets = 0.0, 0
    for start in range(0, len(task.held_out), SPEED_BATCH_SIZE):
        rows = slice(start, start + SPEED_BATCH_SIZE)
        pairs = list(zip(task.held_out[rows], task.masks[rows], strict=True))
        targets = np.concatenate([items[mask] for items, mask in pairs])  # (M,)
        logits = score([np.where(mask, MASK, items) for items, mask in pairs]).astype(np.float64)
        if logits.shape != (len(targets), task.n_items):
            raise ValueError(f"logits are {logits.shape}, not {(len(targets), task.n_items)}")
        highest = logits.max(1)
        log_sums = np.log(np.exp(logits - highest[:, None]).sum(1)) + highest  # log-sum-exp
        loss_sum += float((log_sums - logits[np.arange(len(targets)), targets]).sum())
        n_targets += len(targets)
    return loss_sum / n_targets


def latency(task: SpeedTask, request: Callable[[], Sequence[int]]) -> dict[str, float]:
    """Return milliseconds of a request on one core. `request` returns the top K items outside `task.query`."""
    items = list(request())
    if len(set(items)) != K or set(items) & set(task.query.tolist()):
        raise ValueError(f"{items} are not {K} unseen items")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    wall, cpu = [], []
    for _ in range(N_WARM_UP + task.settings.requests):
        start, cpu_start = time.perf_counter(), time.process_time()
        request()
        cpu.append(1e3 * (time.process_time() - cpu_start))
        wall.append(1e3 * (time.perf_counter() - start))
    p50, p99 = np.percentile(wall[N_WARM_UP:], (50, 99)).tolist()
    return {"p50": round(p50, 3), "p99": round(p99, 3), "cpu_p50": round(float(np.median(cpu[N_WARM_UP:])), 3)}


def speed_result(
    task: SpeedTask,
    seconds: float,
    fit_seconds: float,
    score: Score,
    request: Callable[[], Sequence[int]],
    package: str = "",
) -> dict[str, Any]:
    """Measure loss and latency of a trained model, and return all figures of the speed task.

    Args:
        task: The task.
        seconds: Wall time of the epochs.
        fit_seconds: Wall time of the epochs and the preparation.
        score: Argument of `cloze_loss`.
        request: Argument of `latency`.
        package: Package of the peer, whose version is part of the figures.
    """
    memory_mb = peak_memory_mb()  # before the following measurements, which need memory
    return {
        "sequences_per_second": round(len(task.train) * task.settings.epochs / seconds, 2),
        "seconds": round(seconds, 3),
        "fit_seconds": round(fit_seconds, 3),
        "memory_mb": round(memory_mb, 1),
        "cloze_loss": round(cloze_loss(task, score), 5),
        "latency_ms": latency(task, request),
        "versions": {name: metadata.version(name) for name in ("torch", "numpy", package) if name},
    }


class TimedTraining:
    """Validate during the training of a quality task, and keep the best weights.

    CPU time is counted, because it is independent of other processes. The time of validations is not counted.
    """

    def __init__(self, task: QualityTask, score: Score, network: Callable[[], Any]) -> None:
        """Prepare a training. `network` returns the PyTorch module, which may be built after the start."""
        self.task, self._score, self._network = task, score, network
        users = np.random.default_rng(task.limits.seed).permutation(len(task.train))[: task.limits.validation_users]
        self._validation_users = np.sort(users)
        self.seconds, self.sequences = 0.0, 0  # CPU time until the last validation, and sequences trained on
        self.validations: list[dict[str, float]] = []
        self._best: Any = None
        self._start = time.process_time()

    def start(self) -> None:
        """Start the clock."""
        self._start = time.process_time()

    @property
    def is_over(self) -> bool:
        """Whether all validations are done."""
        return len(self.validations) >= self.task.limits.validations

    def count_batch(self, n_sequences: int) -> None:
        """Count the sequences of a batch, and validate if a validation is due."""
        self.sequences += n_sequences
        seconds = self.seconds + time.process_time() - self._start
        interval = 60 * self.task.limits.minutes / self.task.limits.validations
        if seconds >= (len(self.validations) + 1) * interval:
            self.seconds = seconds
            self._validate()
            self.start()

    def result(self, name: str, sequences_per_epoch: int, settings: dict[str, Any], folder: Path) -> dict[str, Any]:
        """Rank the test items with the best weights, write the ranks (B,) to the folder, and describe the training."""
        self._network().load_state_dict(self._best)
        np.save(folder / RANKS, self._ranks(np.arange(len(self.task.train)), self.task.test, [self.task.valid]))
        return {
            "system": name,
            "settings": settings,
            "epochs": round(self.sequences / sequences_per_epoch, 2),
            "train_seconds": round(self.seconds, 1),
            "sequences_per_second": round(self.sequences / self.seconds, 2),
            "looks": self.validations,  # a key of stored files
            "memory_mb": round(peak_memory_mb(), 1),
        }

    def _validate(self) -> None:
        """Measure NDCG@10 of the validation users, and keep the weights if they are the best."""
        value = ndcg(self._ranks(self._validation_users, self.task.valid, []), K)
        if value > max((validation["ndcg@10"] for validation in self.validations), default=-1.0):
            self._best = deepcopy(self._network().state_dict())
        validation = {"seconds": round(self.seconds, 1), "sequences": self.sequences, "ndcg@10": round(value, 6)}
        self.validations.append(validation)
        print(json.dumps(validation), flush=True)

    def _ranks(self, users: np.ndarray, targets: np.ndarray, later_items: list[np.ndarray]) -> np.ndarray:
        """Return the ranks of the targets of `users` (n,), given the targets (B,) of all users.

        Each array (B,) of `later_items` has an item of each user that is appended to the history.
        """
        ranks = np.zeros(len(users), np.int64)
        for start in range(0, len(users), QUALITY_BATCH_SIZE):
            batch = users[start : start + QUALITY_BATCH_SIZE]
            histories = [np.append(self.task.train[user], [items[user] for items in later_items]) for user in batch]
            histories = [history.astype(np.int64) for history in histories]  # an empty list is appended as floats
            scores = self._score(histories)
            if scores.shape != (len(batch), self.task.n_items):
                raise ValueError(f"scores are {scores.shape}, not {(len(batch), self.task.n_items)}")
            ranks[start : start + QUALITY_BATCH_SIZE] = target_ranks(scores, targets[batch], histories)
        return ranks
