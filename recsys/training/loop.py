"""The training loop of every neural recommender: warm-up, linear decay, weight averaging, early stopping, resume.

A model supplies its module, its batches, its loss and its validation; the loop knows nothing of recommenders.
"""

import math
import os
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

from recsys import files, progress
from recsys.config import Count, Decay, Fraction, NonNegativeInt, Rate, Size, config_class
from recsys.errors import RecsysError
from recsys.paths import LOG
from recsys.progress import Cancelled
from recsys.training import device as devices
from recsys.training import distributed, resume, stopping
from recsys.training.batches import Batch, ahead
from recsys.training.run import Run, TrainingSummary

METRIC = "ndcg@10"  # what early stopping watches
PROGRESS = ("step", "misses", "best_epoch", "best_metrics", "seconds")  # of a Trainer: kept as they are, for resuming
NEW_LOG = f"{LOG}.new"  # beside the log of the run before, whose weights still count


class TrainingError(RecsysError):
    """A run that cannot go on."""


@config_class
class Schedule:
    """How long and how fast to learn; the config of every neural model has one."""

    epochs: Count = 90  # passes over the training histories; the learning rate reaches zero at the end of the last
    batch_size: Size = 32  # sequences per step
    lr: Rate = 2e-3  # highest learning rate of AdamW
    warmup_steps: NonNegativeInt = 300  # steps over which the learning rate rises from zero
    weight_decay: Fraction = 0.0  # AdamW's
    ema_decay: Decay = 0.999  # decay per step of the moving average of the weights, which is validated and kept
    validate_every: Count = 10  # epochs between two validations
    patience: Count = 5  # validations without a new best before stopping


@dataclass(frozen=True)
class Task:
    """What a model supplies. Under `torchrun` each process has its own part of every batch; the rest is the same."""

    module: nn.Module
    steps: int  # batches in an epoch
    batches: Callable[[int], Iterator[Batch]]  # epoch → its batches; the same epoch always gives the same ones
    loss: Callable[[Any, Batch], Tensor]  # sum over the batch's targets, ()
    validate: Callable[[Any], dict[str, float]] | None  # metrics by name, METRIC among them
    identity: dict[str, Any]  # settings and data that a resumed run must share with the one that was cut off


def train(task: Task, schedule: Schedule, run: Run) -> TrainingSummary:
    """Fit `task.module` in place; it ends with the best weights seen in validation, else with the last.

    With a folder, which must be the run's alone (`alone.alone_in`), its state and its log stay there when it is over:
    whoever has kept the weights says so (`weights_are_kept`). Raises TrainingError where the loss or a gradient is no
    number, ResumeError where the state in the folder cannot be used, DeviceError where the device is missing, and after
    SIGTERM Cancelled, after Ctrl-C KeyboardInterrupt, once the state is kept.
    """
    device = devices.choose(run.device)
    if device.type == "cpu":
        devices.keep_freed_memory()
    with devices.repeatable(device), stopping.on_signals() as wish:
        trainer = Trainer(task, schedule, run, device, wish)
        if run.resume and run.folder:
            with resume.taken_from(run.folder):
                trainer.load_state(resume.load(run.folder, trainer.identity))
        trainer.run_to_the_end()
    task.module.load_state_dict(trainer.best or trainer.average.state_dict())
    return trainer.summary


def weights_are_kept(folder: Path) -> None:
    """The weights of the run in a folder are kept elsewhere: its log counts from now on, and its state goes."""
    if (folder / NEW_LOG).exists():
        os.replace(folder / NEW_LOG, folder / LOG)
    resume.clear(folder)


class LossModule(nn.Module):
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

    Nothing in a step waits for the device. Random numbers of a step are seeded by the run's seed, the step and the
    process, so that a run resumes at any step without any state of a random generator.
    """

    def __init__(
        self, task: Task, schedule: Schedule, run: Run, device: torch.device, wish: stopping.Wish | None = None
    ) -> None:
        self.task, self.schedule, self.run, self.device = task, schedule, run, device
        self.wish = wish or stopping.Wish()
        self.bf16 = run.precision == "bf16" or (run.precision == "auto" and devices.has_fast_bf16(device))
        self.identity = task.identity | {"schedule": asdict(schedule), "seed": run.seed, "bf16": self.bf16}
        self.module = task.module.to(device)
        compiled = run.compile and devices.can_compile(device)
        if run.compile and not compiled:
            warnings.warn("found no compiler (Triton, g++), so training goes on without --compile", stacklevel=3)
        self.loss = distributed.parallel(LossModule(task, compiled))
        self.average = deepcopy(self.module) if schedule.ema_decay else self.module
        self.optimizer = torch.optim.AdamW(
            self.module.parameters(), lr=schedule.lr, weight_decay=schedule.weight_decay, fused=True
        )
        self.step = self.ended = self.misses = 0  # steps taken, epochs reported, validations since the best
        # 1 once a loss or a gradient was no number. The optimiser reads it on the device and from then on does nothing:
        # weights stay as they were without anybody waiting for a GPU.
        self.broken, self.unchanged = torch.zeros((), device=device), torch.ones((), device=device)
        self.optimizer.found_inf = self.broken  # type: ignore[attr-defined]  # as torch's GradScaler does
        self.best: dict[str, Tensor] | None = None  # weights of the best validation so far
        self.best_epoch, self.best_metrics = 0, {METRIC: -math.inf}
        self.sums = torch.zeros(2, device=device)  # losses and targets of this epoch, over all processes
        self.seconds = 0.0  # spent on the whole run, before it was resumed too
        self.clock = self.saved = time.perf_counter()  # when `seconds` was last brought up to date; when last saved
        self.sequences, self.since = 0, 0.0  # sequences seen since `seconds` was at `since`

    @property
    def epoch(self) -> int:
        """Epochs completed."""
        return self.step // self.task.steps

    @property
    def done(self) -> bool:
        """Whether all epochs have ended, or validation has stopped improving."""
        return self.ended >= self.schedule.epochs or self.misses >= self.schedule.patience

    @property
    def can_look(self) -> bool:
        """Whether a number on the device may be looked at in each step: a GPU would have to be waited for."""
        return self.device.type == "cpu"

    @property
    def summary(self) -> TrainingSummary:
        """What the run has come to so far."""
        if self.best is None:
            return TrainingSummary(self.epoch, self.epoch, self.seconds, {}, self.device.type)
        return TrainingSummary(self.best_epoch, self.epoch, self.seconds, self.best_metrics, self.device.type)

    def run_to_the_end(self) -> None:
        """Epoch after epoch; a resumed run enters its first one where it was cut off. Leaves when somebody wishes."""
        if self.ended < self.epoch:  # it was cut off while it validated
            self.end_epoch()
        while not self.done:
            batches = islice(self.task.batches(self.epoch), self.step % self.task.steps, None)
            for batch in ahead(batches, self.device):
                self.update(batch)
                if self.step % self.task.steps == 0:
                    self.end_epoch()
                if self.done or self.wish.heard or time.perf_counter() - self.saved > self.run.save_every:
                    self.save()
                if self.wish.heard and not self.done:
                    self.wish.leave()

    def update(self, batch: Batch) -> None:
        """One optimiser step."""
        seeds = np.random.SeedSequence([self.run.seed, self.step, distributed.rank()])
        torch.manual_seed(int(seeds.generate_state(1)[0]))
        self.set_rate(self.step / (self.task.steps * self.schedule.epochs))
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
            loss = self.loss(batch)
        totals = distributed.total(torch.stack([loss.detach(), torch.full_like(loss, len(batch.targets))]))
        self.optimizer.zero_grad(set_to_none=True)
        # The mean over all processes' targets; DistributedDataParallel divides by the number of processes, hence the
        # factor. A batch may have no targets at all: its gradient is 0, not 0 / 0.
        (loss * (distributed.world() / totals[1].clamp(min=1))).backward()
        self.look_for_what_is_no_number(totals)
        self.sums += totals
        self.optimizer.step()
        self.step += 1
        self.sequences += len(batch.tokens)
        if self.average is not self.module:
            decay = min(self.schedule.ema_decay, self.step / (self.step + 10))  # at first the weights change quickly
            with torch.no_grad():
                torch._foreach_lerp_(list(self.average.parameters()), list(self.module.parameters()), 1 - decay)

    def look_for_what_is_no_number(self, totals: Tensor) -> None:
        """Mark the run as broken where the loss or a gradient is NaN or infinite; on a CPU, raise at once.

        A GPU is asked when it is waited for anyway: at the end of an epoch and before a state is kept.
        """
        found = [weights.grad for weights in self.module.parameters() if weights.grad is not None]
        torch._amp_foreach_non_finite_check_and_unscale_([*found, totals], self.broken, self.unchanged)
        if self.can_look and self.broken:
            self.broken.zero_()  # this step was not taken: the state before it is whole
            self.save()
            raise self.no_number()

    def no_number(self) -> TrainingError:
        """Why the run ends."""
        what = f"the loss or a gradient is no longer a finite number in epoch {self.ended + 1}"
        kept = ", and what was trained before is left as it was" if self.run.folder else ""
        return TrainingError(f"{what}, so this run ends{kept}; train again with a lower --lr")

    def set_rate(self, progress: float) -> None:
        """Warm up linearly, and decay linearly to zero; `progress` is the share of the run's steps already taken."""
        rate = self.schedule.lr * min(1, (self.step + 1) / max(1, self.schedule.warmup_steps)) * (1 - progress)
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    def end_epoch(self) -> None:
        """Validate after every `validate_every` epochs, and after the last; then report the epoch."""
        loss = self.mean_loss()
        self.tick()
        speed = self.sequences * distributed.world() / (self.seconds - self.since)
        event = {"epoch": self.epoch, "epochs": self.schedule.epochs, "loss": loss, "sequences_per_second": speed}
        interval_ends = self.epoch % self.schedule.validate_every == 0 or self.epoch == self.schedule.epochs
        if interval_ends and self.task.validate:
            event |= self.validate()
            self.tick()
        self.report(event)
        self.ended = self.epoch
        self.sums.zero_()
        self.sequences, self.since = 0, self.seconds

    def mean_loss(self) -> float:
        """The mean loss of the epoch so far. Raises TrainingError where the run is broken."""
        losses, targets = self.sums.tolist()
        if self.broken:
            raise self.no_number()
        return losses / max(1, targets)

    def tick(self) -> None:
        """Bring `seconds` up to date."""
        now = time.perf_counter()
        self.seconds, self.clock = self.seconds + now - self.clock, now

    def validate(self) -> dict[str, float]:
        """Metrics of the averaged weights; remembers both where they are the best so far. A tie is no improvement."""
        assert self.task.validate is not None
        try:
            with self.wish.obeyed_at_once():
                metrics = {name: float(value) for name, value in self.task.validate(self.average).items()}
        except (Cancelled, KeyboardInterrupt):
            self.save()  # as before this validation, with which a resumed run begins
            raise
        self.module.train()  # validation switches dropout off, and without averaging in the very module that learns
        if metrics[METRIC] > self.best_metrics[METRIC]:
            self.best_epoch, self.best_metrics, self.misses = self.epoch, metrics, 0
            self.best = {name: value.detach().cpu().clone() for name, value in self.average.state_dict().items()}
        else:
            self.misses += 1
        return metrics

    def report(self, event: dict[str, Any]) -> None:
        """Hand the event, rounded to four digits, to `run.report`, and append it to the run's log."""
        if distributed.rank():
            return
        left = self.seconds / self.epoch * (self.schedule.epochs - self.epoch)
        event |= {
            "best": self.best_metrics[METRIC] if self.best else None,
            "seconds": self.seconds,
            "seconds_left": left,
        }
        event |= {"memory_mb": devices.peak_memory_mb(self.device), "device": self.device.type}
        event = {name: round(value, 4) if isinstance(value, float) else value for name, value in event.items()}
        if self.run.folder:
            write_log(self.run.folder / NEW_LOG, event)
        self.run.report(event)

    def save(self) -> None:
        """Keep what a run cut off here needs to go on bit for bit."""
        self.mean_loss()  # raises for weights that are no numbers: a state with them would be of no use
        self.tick()
        self.saved = self.clock
        if distributed.rank() == 0 and self.run.folder:
            resume.save(self.run.folder, self.state())

    def state(self) -> dict[str, Any]:
        """Everything that changes from step to step; batches and random numbers follow from the number of the step."""
        return {
            "run": self.identity,
            "module": self.module.state_dict(),
            "average": self.average.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "best": self.best,
            "sums": self.sums,
            "ended": self.ended,
            **{name: getattr(self, name) for name in PROGRESS},
        }

    def load_state(self, state: dict[str, Any] | None) -> None:
        """Go on from what `state` returned; None: from the beginning."""
        step = float(state["step"]) if state else 0.0
        if distributed.total(torch.tensor(step, device=self.device)) != step * distributed.world():
            raise TrainingError("the processes see different states of the run; keep RECSYS_HOME on a disk they share")
        if state is None:
            return
        if state["best"] is not None:
            self.module.load_state_dict(state["best"])  # to see now, not after the last epoch, whether they fit
        self.module.load_state_dict(state["module"])
        self.average.load_state_dict(state["average"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.best = state["best"]
        self.sums.copy_(state["sums"])
        for name in PROGRESS:
            setattr(self, name, state[name])
        self.ended = state.get("ended", self.epoch)  # states that say nothing of it were never kept in a validation
        self.since = self.seconds
        if self.run.folder and not distributed.rank():
            trim_log(self.run.folder, self.ended)


def write_log(path: Path, event: dict[str, Any]) -> None:
    """Append one event to a run's log as a line of JSON; the first epoch begins a new log."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w" if event["epoch"] == 1 else "a", encoding="utf-8") as file:
        file.write(progress.line(event) + "\n")


def read_log(path: Path) -> list[dict[str, Any]]:
    """The epochs of a run's log, [] when there is no log. Lines that are damaged, or cut short by a kill, are left out.

    path: the log, or the folder of a checkpoint.
    """
    path = path / LOG if path.is_dir() else path
    events = progress.read(path) if path.exists() else ()
    return [event for event in events if isinstance(event.get("epoch"), int)]


def trim_log(folder: Path, epoch: int) -> None:
    """Drop the events after `epoch` from the log of a run that is not over: the resumed run writes them again."""
    written = folder / NEW_LOG if (folder / NEW_LOG).exists() else folder / LOG
    kept = [event for event in read_log(written) if event["epoch"] <= epoch]
    files.write(folder / NEW_LOG, "".join(progress.line(event) + "\n" for event in kept).encode())
