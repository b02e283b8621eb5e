"""The training loop of every neural recommender: warm-up, linear decay, weight averaging, early stopping, resume.

A model supplies its module, its batches, its loss and its validation; the loop knows nothing of films.
"""

import json
import math
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from recsys.data.schema import DataError
from recsys.paths import LOG
from recsys.training import device as devices
from recsys.training import resume
from recsys.training.batches import Batch
from recsys.training.run import Run

METRIC = "ndcg@10"  # what early stopping watches


class TrainingError(DataError):
    """A run that cannot go on."""


@dataclass(frozen=True)
class Schedule:
    """How long and how fast to learn; every neural model's Config extends this."""

    epochs: int = 90  # passes over the training histories; the learning rate reaches zero at the end of the last
    batch_size: int = 32  # sequences per step
    lr: float = 2e-3  # highest learning rate of AdamW
    warmup: int = 300  # steps over which it rises from zero
    weight_decay: float = 0.0  # AdamW's
    averaging: float = 0.999  # decay per step of the moving average of the weights, which is validated and kept
    validate_every: int = 10  # epochs between two validations
    patience: int = 5  # validations without a new best before stopping


@dataclass(frozen=True)
class Task:
    """What a model supplies."""

    module: nn.Module
    batches: Callable[[int], Iterable[Batch]]  # epoch → its batches; the same epoch always gives the same ones
    loss: Callable[[Any, Batch], Tensor]  # mean over the batch's targets, ()
    validate: Callable[[Any], dict[str, float]] | None  # metrics by name, METRIC among them
    identity: dict[str, Any]  # what a resumed run must share with the one that was cut off


def train(task: Task, schedule: Schedule, run: Run) -> None:
    """Fit `task.module` in place; it ends with the best weights seen in validation, else the last."""
    device = devices.choose(run.device)
    if device.type == "cpu":
        devices.keep_freed_memory()
    torch.manual_seed(run.seed)
    trainer = Trainer(task, schedule, run, device)
    if run.resume and run.folder and (state := resume.load(run.folder, trainer.identity)):
        trainer.load_state(state)
    while not trainer.done:
        trainer.run_epoch()
    task.module.load_state_dict(trainer.best or trainer.average.state_dict())
    if run.folder:
        resume.clear(run.folder)


class Trainer:
    """One run: everything that changes from step to step."""

    def __init__(self, task: Task, schedule: Schedule, run: Run, device: torch.device) -> None:
        self.task, self.schedule, self.run, self.device = task, schedule, run, device
        self.identity = task.identity | {"schedule": asdict(schedule), "seed": run.seed}
        self.bf16 = run.precision == "bf16" or (run.precision == "auto" and devices.has_fast_bf16(device))
        self.module = task.module.to(device)
        self.average = deepcopy(self.module) if schedule.averaging else self.module
        self.optimizer = torch.optim.AdamW(
            self.module.parameters(), lr=schedule.lr, weight_decay=schedule.weight_decay, fused=True
        )
        self.epoch = self.step = self.misses = 0
        self.seconds = 0.0
        self.best: dict[str, Tensor] | None = None
        self.best_metric = -math.inf

    @property
    def done(self) -> bool:
        """Whether all epochs are over, or validation has stopped getting better."""
        return self.epoch >= self.schedule.epochs or self.misses >= self.schedule.patience

    def run_epoch(self) -> None:
        """One pass over the data; then, at the end of an interval, validation and a resumable state on disk."""
        began = time.perf_counter()
        batches = list(self.task.batches(self.epoch))
        total_loss = torch.zeros((), device=self.device)  # summed where it is computed: no waiting for the device
        self.module.train()
        for index, batch in enumerate(batches):
            total_loss += self.update(batch.to(self.device), (self.epoch + index / len(batches)) / self.schedule.epochs)
        loss = float(total_loss) / len(batches)
        self.epoch += 1
        elapsed = time.perf_counter() - began
        self.seconds += elapsed
        if not math.isfinite(loss):
            raise TrainingError(f"the loss became {loss} in epoch {self.epoch}; train again with a lower --lr")
        speed = sum(len(batch.tokens) for batch in batches) / elapsed
        event = {"epoch": self.epoch, "epochs": self.schedule.epochs, "loss": loss, "sequences_per_second": speed}
        interval_ends = self.epoch % self.schedule.validate_every == 0 or self.epoch == self.schedule.epochs
        if interval_ends and self.task.validate:
            event |= self.validate()
        self.report(event)
        if interval_ends and self.run.folder:
            resume.save(self.run.folder, self.state())

    def update(self, batch: Batch, progress: float) -> Tensor:
        """One optimiser step; `progress` is the share of the run that is over. The loss, (), on the device."""
        rate = self.schedule.lr * min(1, (self.step + 1) / max(1, self.schedule.warmup)) * (1 - progress)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        with self.precision():
            loss = self.task.loss(self.module, batch)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        self.step += 1
        if self.average is not self.module:
            decay = min(self.schedule.averaging, self.step / (self.step + 10))  # short memory while all is new
            with torch.no_grad():
                torch._foreach_lerp_(list(self.average.parameters()), list(self.module.parameters()), 1 - decay)
        return loss.detach()

    def precision(self) -> AbstractContextManager:
        """bf16 products where the hardware has them; weights and sums stay fp32."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16)

    def validate(self) -> dict[str, float]:
        """Metrics of the averaged weights; remembers them when they are the best so far."""
        assert self.task.validate is not None
        began = time.perf_counter()
        metrics = self.task.validate(self.average)
        self.seconds += time.perf_counter() - began
        if metrics[METRIC] > self.best_metric:
            self.best_metric, self.misses = metrics[METRIC], 0
            self.best = {name: value.detach().cpu().clone() for name, value in self.average.state_dict().items()}
        else:
            self.misses += 1
        return metrics

    def report(self, event: dict[str, Any]) -> None:
        """Tell whoever watches, and keep the line in the run's log."""
        left = self.seconds / self.epoch * (self.schedule.epochs - self.epoch)
        event |= {"best": self.best_metric if self.best else None, "seconds": self.seconds, "seconds_left": left}
        event = {name: round(value, 4) if isinstance(value, float) else value for name, value in event.items()}
        if self.run.folder:
            write_log(self.run.folder, event)
        self.run.report(event)

    def state(self) -> dict[str, Any]:
        """All that a run cut off here needs to go on bit for bit, random states included."""
        return {
            "run": self.identity,
            "module": self.module.state_dict(),
            "average": self.average.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "best": self.best,
            "progress": [self.epoch, self.step, self.misses, self.seconds, self.best_metric],
            "random": [torch.get_rng_state(), torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []],
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on from what `state` returned."""
        self.module.load_state_dict(state["module"])
        self.average.load_state_dict(state["average"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.best = state["best"]
        self.epoch, self.step, self.misses, self.seconds, self.best_metric = state["progress"]
        cpu, gpus = state["random"]
        torch.set_rng_state(cpu)
        if gpus and torch.cuda.is_available():
            torch.cuda.set_rng_state_all(gpus)
        if self.run.folder:
            trim_log(self.run.folder, self.epoch)


def write_log(folder: Path, event: dict[str, Any]) -> None:
    """Add one event to the run's log, a line of JSON; the first epoch begins a new log."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOG).open("w" if event["epoch"] == 1 else "a", encoding="utf-8") as file:
        file.write(json.dumps(event) + "\n")


def read_log(folder: Path) -> list[dict[str, Any]]:
    """The events of a run's log; none when there is no log."""
    path = folder / LOG
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def trim_log(folder: Path, epoch: int) -> None:
    """Drop the events after `epoch`: they will be written again."""
    kept = [event for event in read_log(folder) if event["epoch"] <= epoch]
    (folder / LOG).write_text("".join(json.dumps(event) + "\n" for event in kept), encoding="utf-8")
