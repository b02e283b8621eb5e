"""How a fit is carried out, apart from what is fitted, and what is remembered of it. Loads no torch."""

import platform
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from recsys.config import NonNegative, Seed, config_class
from recsys.progress import Report, ignore


@config_class
class Run:
    """Settings of one training run that do not change what is learnt (but for `seed`)."""

    seed: Seed = 0
    device: str = "auto"  # auto, cpu, cuda, cuda:1 …
    folder: Path | None = None  # where the run keeps its log and its resumable state; None: nowhere
    resume: bool = False  # go on from the state in `folder`, if there is one
    report: Report = ignore  # called with one event per epoch, or per step of a fit without epochs
    save_every: NonNegative = 60.0  # seconds between two states kept in `folder`: the most work that a kill can lose
    precision: str = "auto"  # of matrix products: fp32, bf16 (sums stay fp32), auto: bf16 where the hardware has it
    compile: bool = False  # hand the encoder to torch.compile, where there is a compiler


@dataclass(frozen=True)
class TrainingSummary:
    """What a training run came to, as the trainer itself counted it."""

    best_epoch: int  # the epoch, from 1, whose weights were kept: the first of equally good ones; else the last
    epochs: int  # epochs trained, of all parts of a resumed run
    seconds: float  # time spent, of all parts of a resumed run
    validation: dict[str, float]  # metrics of the best epoch, by name; empty without validation
    device: str = ""  # where it computed: "cpu", "cuda"

    def notes(self) -> dict[str, Any]:
        """The summary with versions and today's date, as plain JSON: what a checkpoint remembers of its making."""
        return {
            "validation": self.validation,
            "best_epoch": self.best_epoch,
            "epochs": self.epochs,
            "seconds": round(self.seconds, 4),
            "device": self.device,
            "versions": {"python": platform.python_version(), "torch": version("torch")},
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
        }
