"""The training loop of every neural recommender: warm-up, linear decay, weight averaging, early stopping, resume.

A model supplies its module, its batches, its loss and its validation; the loop knows nothing of films.
"""

import json
import math
import time
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from recsys import files
from recsys.data.schema import DataError
from recsys.paths import LOG
from recsys.training import device as devices
from recsys.training import distributed, resume
from recsys.training.batches import Batch, ahead
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
    """What a model supplies. Under `torchrun` the batches are this process's share; everything else is the same."""

    module: nn.Module
    steps: int  # batches in an epoch
    batches: Callable[[int], Iterator[Batch]]  # epoch → its batches; the same epoch always gives the same ones
    loss: Callable[[Any, Batch], Tensor]  # sum over the batch's targets, ()
    validate: Callable[[Any], dict[str, float]] | None  # metrics by name, METRIC among them
    identity: dict[str, Any]  # what a resumed run must share with the one that was cut off


def train(task: Task, schedule: Schedule, run: Run) -> None:
    """Fit `task.module` in place; it ends with the best weights seen in validation, else the last.

    With a folder, the state of the run stays there when it is over: whoever has kept the weights clears it.
    """
    device = devices.choose(run.device)
    if device.type == "cpu":
        devices.keep_freed_memory()
    with devices.repeatable(device):
        trainer = Trainer(task, schedule, run, device)
        if run.resume and run.folder:
            trainer.load_state(resume.load(run.folder, trainer.identity))
        trainer.run_to_the_end()
    task.module.load_state_dict(trainer.best or trainer.average.state_dict())


class Loss(nn.Module):
    """A module and its loss in one, so that DistributedDataParallel sees the forward pass the gradients come from."""

    def __init__(self, task: Task, compiled: bool) -> None:
        super().__init__()
        self.module, self.loss = task.module, task.loss
        self.run = torch.compile(task.module, dynamic=True) if compiled else task.module

    def forward(self, batch: Batch) -> Tensor:
        """The sum of the losses of a batch, ()."""
        return self.loss(self.run, batch)


class Trainer:
    """One run: everything that changes from step to step.

    Nothing in a step waits for the device. What is random in a step is seeded by the run's seed, the step and the
    process, so a run goes on from any step without the random states of the one that was cut off.
    """

    def __init__(self, task: Task, schedule: Schedule, run: Run, device: torch.device) -> None:
        self.task, self.schedule, self.run, self.device = task, schedule, run, device
        self.bf16 = run.precision == "bf16" or (run.precision == "auto" and devices.has_fast_bf16(device))
        self.identity = task.identity | {"schedule": asdict(schedule), "seed": run.seed, "bf16": self.bf16}
        self.module = task.module.to(device)
        compiled = run.compile and devices.can_compile(device)
        if run.compile and not compiled:
            warnings.warn("there is no compiler here (Triton, g++), so training goes on without", stacklevel=3)
        self.loss = distributed.parallel(Loss(task, compiled))
        self.average = deepcopy(self.module) if schedule.averaging else self.module
        self.optimizer = torch.optim.AdamW(
            self.module.parameters(), lr=schedule.lr, weight_decay=schedule.weight_decay, fused=True
        )
        self.step = self.misses = 0
        self.best: dict[str, Tensor] | None = None
        self.best_metric = -math.inf
        self.sums = torch.zeros(2, device=device)  # losses and targets of this epoch, all processes together
        self.seconds = 0.0  # of the whole run, those before it was resumed too
        self.clock = self.saved = time.perf_counter()
        self.sequences, self.since = 0, 0.0  # seen since that many seconds: the speed

    @property
    def epoch(self) -> int:
        """Epochs that are over."""
        return self.step // self.task.steps

    @property
    def done(self) -> bool:
        """Whether all epochs are over, or validation has stopped getting better."""
        return self.epoch >= self.schedule.epochs or self.misses >= self.schedule.patience

    def run_to_the_end(self) -> None:
        """Epoch after epoch; a resumed run enters its first one where it was cut off."""
        while not self.done:
            batches = islice(self.task.batches(self.epoch), self.step % self.task.steps, None)
            for batch in ahead(batches, self.device):
                self.update(batch)
                if self.step % self.task.steps == 0:
                    self.end_epoch()
                if self.done or time.perf_counter() - self.saved > self.run.save_every:
                    self.save()

    def update(self, batch: Batch) -> None:
        """One optimiser step."""
        seeds = np.random.SeedSequence([self.run.seed, self.step, distributed.rank()])
        torch.manual_seed(int(seeds.generate_state(1)[0]))
        self.set_rate(self.step / (self.task.steps * self.schedule.epochs))
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
            loss = self.loss(batch)
        totals = distributed.total(torch.stack([loss.detach(), torch.full_like(loss, len(batch.targets))]))
        self.sums += totals
        self.optimizer.zero_grad(set_to_none=True)
        # the mean over all processes' targets; DistributedDataParallel divides by their number, hence the factor
        (loss * (distributed.world() / totals[1])).backward()
        self.optimizer.step()
        self.step += 1
        self.sequences += len(batch.tokens)
        if self.average is not self.module:
            decay = min(self.schedule.averaging, self.step / (self.step + 10))  # short memory while all is new
            with torch.no_grad():
                torch._foreach_lerp_(list(self.average.parameters()), list(self.module.parameters()), 1 - decay)

    def set_rate(self, progress: float) -> None:
        """The learning rate of this step; `progress` is the share of the run that is over."""
        rate = self.schedule.lr * min(1, (self.step + 1) / max(1, self.schedule.warmup)) * (1 - progress)
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    def end_epoch(self) -> None:
        """Add the epoch up and tell; at the end of an interval, validate."""
        loss = self.mean_loss()
        self.tick()
        speed = self.sequences * distributed.world() / (self.seconds - self.since)
        event = {"epoch": self.epoch, "epochs": self.schedule.epochs, "loss": loss, "sequences_per_second": speed}
        interval_ends = self.epoch % self.schedule.validate_every == 0 or self.epoch == self.schedule.epochs
        if interval_ends and self.task.validate:
            event |= self.validate()
            self.tick()
        self.report(event)
        self.sums.zero_()
        self.sequences, self.since = 0, self.seconds

    def mean_loss(self) -> float:
        """Of the epoch so far. Raises TrainingError where it is no number."""
        losses, targets = self.sums.tolist()
        if not math.isfinite(losses):
            raise TrainingError(f"the loss became {losses} in epoch {self.epoch + 1}; train again with a lower --lr")
        return losses / max(1, targets)

    def tick(self) -> None:
        """Add the time since the last tick to that of the run."""
        now = time.perf_counter()
        self.seconds, self.clock = self.seconds + now - self.clock, now

    def validate(self) -> dict[str, float]:
        """Metrics of the averaged weights; remembers them when they are the best so far."""
        assert self.task.validate is not None
        metrics = self.task.validate(self.average)
        if metrics[METRIC] > self.best_metric:
            self.best_metric, self.misses = metrics[METRIC], 0
            self.best = {name: value.detach().cpu().clone() for name, value in self.average.state_dict().items()}
        else:
            self.misses += 1
        return metrics

    def report(self, event: dict[str, Any]) -> None:
        """Tell whoever watches, and keep the line in the run's log."""
        if distributed.rank():
            return
        left = self.seconds / self.epoch * (self.schedule.epochs - self.epoch)
        event |= {"best": self.best_metric if self.best else None, "seconds": self.seconds, "seconds_left": left}
        event |= {"memory_mb": devices.peak_memory_mb(self.device)}
        event = {name: round(value, 4) if isinstance(value, float) else value for name, value in event.items()}
        if self.run.folder:
            write_log(self.run.folder, event)
        self.run.report(event)

    def save(self) -> None:
        """Keep what a run cut off here needs to go on bit for bit."""
        self.mean_loss()  # not a state that is beyond repair
        self.tick()
        self.saved = self.clock
        if distributed.rank() == 0 and self.run.folder:
            resume.save(self.run.folder, self.state())

    def state(self) -> dict[str, Any]:
        """Everything that changes. The place in the data is the step: its batches and random numbers follow from it."""
        return {
            "run": self.identity,
            "module": self.module.state_dict(),
            "average": self.average.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "best": self.best,
            "sums": self.sums,
            "progress": [self.step, self.misses, self.best_metric, self.seconds],
        }

    def load_state(self, state: dict[str, Any] | None) -> None:
        """Go on from what `state` returned; from None, at the beginning."""
        step = float(state["progress"][0]) if state else 0.0
        if distributed.total(torch.tensor(step, device=self.device)) != step * distributed.world():
            raise TrainingError("the processes see different states of the run; keep RECSYS_HOME on a disk they share")
        if state is None:
            return
        self.module.load_state_dict(state["module"])
        self.average.load_state_dict(state["average"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.best = state["best"]
        self.sums.copy_(state["sums"])
        self.step, self.misses, self.best_metric, self.seconds = state["progress"]
        self.since = self.seconds
        if self.run.folder and not distributed.rank():
            trim_log(self.run.folder, self.epoch)


def write_log(folder: Path, event: dict[str, Any]) -> None:
    """Add one event to the run's log, a line of JSON; the first epoch begins a new log."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOG).open("w" if event["epoch"] == 1 else "a", encoding="utf-8") as file:
        file.write(json.dumps(event) + "\n")


def read_log(folder: Path) -> list[dict[str, Any]]:
    """The events of a run's log; none when there is no log. A line that a kill cut short is none."""
    path = folder / LOG
    lines = path.read_text("utf-8").splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def trim_log(folder: Path, epoch: int) -> None:
    """Drop the events after `epoch`: they will be written again."""
    kept = [event for event in read_log(folder) if event["epoch"] <= epoch]
    files.write(folder / LOG, "".join(json.dumps(event) + "\n" for event in kept).encode())
