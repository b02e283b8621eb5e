"""The training loop of all neural models, with weight averaging, early stopping and resume.

A model supplies a `Task`: its module, batches, loss and validation.
"""

import io
import math
import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from copy import deepcopy
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils import get_total_norm
from torch.optim.swa_utils import get_ema_multi_avg_fn

from recsys import paths, progress, runtime, storage
from recsys.errors import Message, RecsysError
from recsys.paths import LOG
from recsys.progress import Cancelled
from recsys.runtime import StopRequest
from recsys.training import device as devices
from recsys.training import distributed
from recsys.training.batches import Batch, prefetch
from recsys.training.options import RunOptions, TrainConfig, TrainingSummary

METRIC = "ndcg@10"  # the validation metric for early stopping; higher is better
STATE_VERSION = 2  # format of the saved state
STATE_DICTS = ("module", "average", "optimizer")  # attributes of `Trainer` whose `state_dict` is saved
STATE_VALUES = (  # attributes of `Trainer` that are saved as they are
    "step", "sequences", "epoch_start_seconds", "stale_validations", "best", "best_epoch", "best_metrics", "events",
)  # fmt: skip
STOP_CHECK_STEPS = 20  # steps between two checks of `stop_votes` on several GPUs, because a check waits for the GPU


class TrainingError(RecsysError):
    """The training cannot start or continue."""


@dataclass(frozen=True)
class Task:
    """The model-specific part of a training. Under torchrun, `batches` yields the shard of this process."""

    module: nn.Module
    steps: int  # batches per epoch
    batches: Callable[[int], Iterator[Batch]]  # number of an epoch, from 0 → its batches, equal in every call
    loss: Callable[[Any, Batch], Tensor]  # module, batch → the sum of the losses of all targets, ()
    validate: Callable[[Any], dict[str, float]] | None  # module → metrics with METRIC; None: no validation data
    identity: dict[str, Any]  # config and data fingerprint; a run resumes only from a state with an equal identity


class RunFolder:
    """The files of a training run in the folder of a checkpoint: a lock, a resumable state and a log."""

    LOCK = "train.lock"
    STATE = paths.STATE

    def __init__(self, path: Path) -> None:
        self.path = path  # created by `lock` or by the first write
        self.state_path = path / self.STATE

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other trainings out of the folder. Raise TrainingError on all ranks if another one holds the lock."""
        self.path.mkdir(parents=True, exist_ok=True)
        lock = self.path / self.LOCK
        lock_context = storage.try_locked(lock) if distributed.rank() == 0 else nullcontext(True)
        with lock_context as has_lock:
            if distributed.all_reduce_array(np.array([not has_lock], np.int64)).any():
                holder = Message("another process")
                with suppress(OSError, ValueError):
                    holder = Message("process {number}", number=int(lock.read_text()))
                text = "{process} is training in {folder}; wait until it ends, or use another --seed"
                raise TrainingError(text, process=holder, folder=self.path)
            if distributed.rank() == 0:
                lock.write_text(str(os.getpid()))
            yield

    def save(self, state: dict[str, Any]) -> None:
        """Replace the saved state atomically. If the process is killed, the old state or the new one remains."""
        buffer = io.BytesIO()
        torch.save(state | {"version": STATE_VERSION}, buffer)
        storage.replace_file(self.state_path, storage.sealed_bytes(buffer.getvalue()))

    def load(self) -> dict[str, Any] | None:
        """Return the saved state, or None without one. Raise TrainingError if it is damaged or of another version."""
        path = self.state_path
        if not path.exists():
            return None
        try:
            data = storage.read_sealed_bytes(path)
            state: dict[str, Any] = torch.load(io.BytesIO(data), weights_only=True, map_location="cpu")
        except Exception as error:  # torch raises many types for a file of another version
            raise TrainingError("{path} is damaged; delete it, or train without --resume", path=path) from error
        if state.get("version") != STATE_VERSION:
            raise self.version_error()
        return state

    def version_error(self) -> TrainingError:
        """Return the error for a state of another version."""
        return TrainingError(
            "{path} was written by another version; delete it, or train without --resume", path=self.state_path
        )

    def finish(self) -> None:
        """Write the log, and delete the state and temporary files of killed runs, after the checkpoint was saved."""
        if state := self.load():
            lines = "".join(progress.to_line(event) + "\n" for event in state["events"])
            storage.replace_file(self.path / LOG, lines.encode())
        for path in (self.state_path, *self.path.glob("*.part")):
            path.unlink(missing_ok=True)


def train(task: Task, schedule: TrainConfig, run: RunOptions) -> TrainingSummary:
    """Train `task.module` in place and return a summary.

    The module ends with the weights of the best validation, or with the last weights if there is no validation. The
    state stays in `run.folder` until the caller has saved the weights and calls `RunFolder.finish`.

    Raises:
        TrainingError: If the loss or a gradient is not finite, or the run cannot resume from the saved state.
        Cancelled: After SIGTERM, or KeyboardInterrupt after Ctrl-C. The state has been saved.
    """
    device = devices.choose(run.device)
    if device.type == "cpu":
        runtime.tune_malloc_for_training()
    with devices.deterministic(device), StopRequest() as stop:
        trainer = Trainer(task, schedule, run, device, stop)
        trainer.start()
        trainer.run_epochs()
    task.module.load_state_dict(trainer.best or trainer.average.state_dict())
    best_epoch, metrics = (trainer.best_epoch, trainer.best_metrics) if trainer.best else (trainer.epoch, {})
    return TrainingSummary(best_epoch, trainer.epoch, trainer.seconds, metrics, device.type)


class Trainer:
    """The state of one training run, and the loop.

    Each step seeds torch by the seed of the run, the step and the rank. So a run resumes at any step without saved
    states of random generators. A step reads no tensor on a GPU, because that would wait for all queued work.
    """

    def __init__(
        self, task: Task, schedule: TrainConfig, run: RunOptions, device: torch.device, stop: StopRequest
    ) -> None:
        self.task, self.schedule, self.run, self.device, self.stop = task, schedule, run, device, stop
        self.folder = RunFolder(run.folder) if run.folder else None
        uses_bf16 = run.precision == "bf16" or (run.precision == "auto" and devices.has_fast_bf16(device))
        self.precision = "bf16" if uses_bf16 else "fp32"
        self.identity = task.identity | {"schedule": asdict(schedule), "seed": run.seed}
        self.module = task.module.to(device)
        self.compiled: Any = self.module  # computes the loss: the module, or with `run.compile` its compiled form
        if run.compile and devices.can_compile(device):
            self.compiled = torch.compile(self.module, dynamic=True)
        elif run.compile:
            warnings.warn("found no compiler (Triton, g++), so training goes on without --compile", stacklevel=3)
        self.average = deepcopy(self.module) if schedule.ema_decay else self.module
        for layer in self.average.modules():
            if isinstance(layer, nn.RNNBase):
                layer.flatten_parameters()  # cuDNN needs one block of memory, and deepcopy makes several
        self.optimizer = torch.optim.AdamW(
            self.module.parameters(), lr=schedule.lr, weight_decay=schedule.weight_decay, fused=True
        )
        self.step = 0  # number of steps taken
        self.sequences = 0  # number of sequences in this epoch, of this process
        self.sums = torch.zeros(2, device=device)  # total loss and number of targets in this epoch, of all processes
        self.epoch_start_seconds = 0.0  # value of `seconds` at the start of the epoch
        self.stale_validations = 0  # validations since the best validation
        self.best: dict[str, Tensor] | None = None  # weights of the best validation; None before the first validation
        self.best_epoch, self.best_metrics = 0, {METRIC: -math.inf}
        self.events: list[dict[str, Any]] = []  # one per finished epoch
        self.start_time = time.perf_counter()  # a resumed run subtracts its earlier training time
        self.last_save_seconds = 0.0  # value of `seconds` at the last save
        self.all_finite = torch.tensor(True, device=device)  # whether all losses and gradients were finite
        self.stop_votes = torch.zeros((), device=device)  # above 0 after a process has received a signal

    @property
    def seconds(self) -> float:
        """Training time, including the time before a resume."""
        return time.perf_counter() - self.start_time

    @property
    def epoch(self) -> int:
        """Number of epochs with all steps taken. The validation of the last one may be pending."""
        return self.step // self.task.steps

    @property
    def is_done(self) -> bool:
        """Whether all epochs are finished, or `patience` validations brought no new best."""
        return len(self.events) >= self.schedule.epochs or self.stale_validations >= self.schedule.patience

    @property
    def reads_each_step(self) -> bool:
        """Whether each step reads tensor values in Python. On a GPU that would wait for all queued work."""
        return self.device.type == "cpu"

    @property
    def must_stop(self) -> bool:
        """Whether a process has received a signal. All processes return the same value, so they stop together."""
        if distributed.world_size() == 1:
            return self.stop.signal is not None
        is_check_due = self.reads_each_step or self.step % STOP_CHECK_STEPS == 0
        return is_check_due and bool(self.stop_votes)

    def start(self) -> None:
        """Load the saved state if the run resumes."""
        if self.folder and self.run.resume and (state := self.folder.load()):
            self.resume(self.folder, state)
        steps = np.array([self.step])
        if (distributed.all_reduce_array(steps) != steps * distributed.world_size()).any():
            raise TrainingError("the processes see different states of the run; keep RECSYS_HOME on a disk they share")
        self.last_save_seconds = self.seconds

    def run_epochs(self) -> None:
        """Train from the current step until the run is done."""
        if len(self.events) < self.epoch:  # a signal interrupted the validation of the last epoch
            self.end_epoch()
            self.save()
        while not self.is_done:
            batches = islice(self.task.batches(self.epoch), self.step % self.task.steps, None)
            for batch in prefetch(batches, self.device):
                self.update(batch)
                if self.step % self.task.steps == 0:
                    self.end_epoch()
                must_stop = self.must_stop
                if self.is_done or must_stop or self.seconds - self.last_save_seconds > self.run.save_every:
                    self.save()
                if must_stop and not self.is_done:
                    self.stop.raise_exception()

    def update(self, batch: Batch) -> None:
        """Take one optimiser step."""
        seeds = np.random.SeedSequence([self.run.seed, self.step, distributed.rank()])
        torch.manual_seed(int(seeds.generate_state(1)[0]))
        rate = self.schedule.lr * min(1, (self.step + 1) / max(1, self.schedule.warmup_steps))  # linear warm-up
        for group in self.optimizer.param_groups:
            group["lr"] = rate * (1 - self.step / (self.task.steps * self.schedule.epochs))  # linear decay to zero
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bf16"):
            loss = self.task.loss(self.compiled, batch)
        n_targets = torch.full_like(loss, len(batch.targets))
        stop_vote = torch.full_like(loss, self.stop.signal is not None)
        totals = distributed.all_reduce(torch.stack([loss.detach(), n_targets, stop_vote]))  # (3,), of all processes
        self.optimizer.zero_grad()
        # The mean is over the targets of all processes. Without any target, the clamp avoids a division of 0 by 0.
        (loss * (1 / totals[1].clamp(min=1))).backward()
        gradients = [weights.grad for weights in self.module.parameters() if weights.grad is not None]
        distributed.sum_gradients(gradients)
        self.check_finite(totals[0], gradients)
        self.sums += totals[:2]
        self.stop_votes += totals[2]
        self.optimizer.step()
        self.step += 1
        self.sequences += len(batch.tokens)
        if self.average is not self.module:
            # `AveragedModel` calls the same function, but also reads its step counter, which waits for a GPU.
            decay = min(self.schedule.ema_decay, self.step / (self.step + 10))  # lower at first, to drop early weights
            get_ema_multi_avg_fn(decay)(list(self.average.parameters()), list(self.module.parameters()), self.step)

    def check_finite(self, loss: Tensor, gradients: list[Tensor]) -> None:
        """Record whether the loss and the gradients of this step are finite.

        If not, a run on a CPU saves the state before this step and raises TrainingError. On a GPU, the end of the epoch
        and each save raise the error, so a state with NaN is never saved.
        """
        is_finite = torch.isfinite(get_total_norm(gradients)) & torch.isfinite(loss)
        if self.reads_each_step and not is_finite:
            self.save()  # The weights have not changed yet. Once `all_finite` is False, `save` raises an error.
        self.all_finite &= is_finite
        if self.reads_each_step:
            self.raise_if_not_finite()

    def raise_if_not_finite(self) -> None:
        """Raise TrainingError if a recorded loss or gradient was not finite."""
        if not self.all_finite:
            raise TrainingError(
                "in epoch {epoch}, the loss or a gradient is no longer a finite number, so the run stops. Earlier "
                "checkpoints are unchanged; train again with a lower --lr",
                epoch=len(self.events) + 1,
            )

    def end_epoch(self) -> None:
        """Validate if `validate_every` epochs have passed or the run ends. Then log and report the epoch."""
        losses, n_targets = self.sums.tolist()
        self.raise_if_not_finite()
        speed = self.sequences * distributed.world_size() / (self.seconds - self.epoch_start_seconds)
        is_due = self.epoch % self.schedule.validate_every == 0 or self.epoch == self.schedule.epochs
        metrics = self.validate(self.task.validate) if is_due and self.task.validate else {}
        seconds, is_gpu = self.seconds, self.device.type == "cuda"
        event = {
            "epoch": self.epoch,
            "epochs": self.schedule.epochs,
            "loss": losses / max(1, n_targets),
            "sequences_per_second": speed,
            **metrics,
            "best": self.best_metrics[METRIC] if self.best else None,
            "seconds": seconds,
            "seconds_left": seconds / self.epoch * (self.schedule.epochs - self.epoch),
            "memory_mb": torch.cuda.max_memory_allocated(self.device) / 1e6 if is_gpu else runtime.peak_memory_mb(),
            "device": self.device.type,
        }
        event = {name: round(value, 4) if isinstance(value, float) else value for name, value in event.items()}
        self.events.append(event)
        if distributed.rank() == 0:
            self.run.report(event)
        self.sums.zero_()
        self.sequences, self.epoch_start_seconds = 0, self.seconds

    def validate(self, compute_metrics: Callable[[Any], dict[str, float]]) -> dict[str, float]:
        """Return the metrics of the averaged weights, and keep a copy of the weights if METRIC is a new best.

        A signal interrupts the validation of a single process at once. Several processes finish it together, because
        they sum their results.
        """
        try:
            with self.stop.immediate() if distributed.world_size() == 1 else nullcontext():
                metrics = {name: float(value) for name, value in compute_metrics(self.average).items()}
        except (Cancelled, KeyboardInterrupt):
            self.save()  # the resumed run starts with this validation
            raise
        self.module.train()  # if `average` is `module`, the validation has switched it to evaluation mode
        if metrics[METRIC] > self.best_metrics[METRIC]:
            self.best_epoch, self.best_metrics, self.stale_validations = self.epoch, metrics, 0
            self.best = {name: value.detach().cpu().clone() for name, value in self.average.state_dict().items()}
        else:
            self.stale_validations += 1
        return metrics

    def save(self) -> None:
        """Save the state of the run, if it has a folder. A resumed run continues bit for bit."""
        self.raise_if_not_finite()
        self.last_save_seconds = self.seconds
        if self.folder and distributed.rank() == 0:
            self.folder.save(self.state())

    def state(self) -> dict[str, Any]:
        """Return everything that changes during a run. Batches and random numbers are functions of the step."""
        return {
            "run": self.identity,
            "precision": self.precision,
            "sums": self.sums,
            "seconds": self.seconds,
            **{name: getattr(self, name) for name in STATE_VALUES},
            **{name: getattr(self, name).state_dict() for name in STATE_DICTS},
        }

    def resume(self, folder: RunFolder, state: dict[str, Any]) -> None:
        """Continue from a saved state. Raise TrainingError for another run, precision or version."""
        path, precision = folder.state_path, state.get("precision")
        if state.get("run") != self.identity:
            raise TrainingError(
                "{path} belongs to a run with other settings or data; train without --resume to start again", path=path
            )
        if precision != self.precision:
            text = "{path} was trained in {precision}, but this run uses {run_precision}; add --precision {precision}"
            raise TrainingError(text, path=path, precision=precision, run_precision=self.precision)
        try:
            for name in STATE_DICTS:
                getattr(self, name).load_state_dict(state[name])
            for name in STATE_VALUES:
                setattr(self, name, state[name])
            self.sums.copy_(state["sums"])
            self.start_time -= state["seconds"]
        except (KeyError, ValueError, RuntimeError) as error:  # the network has changed since the state was saved
            raise folder.version_error() from error
