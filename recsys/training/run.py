"""Options and summary of a training run. Does not import torch."""

import platform
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from recsys.config import NonNegative, Seed, config_class
from recsys.progress import Report, ignore


@config_class
class Run:
    """Options of a training run. Only the seed and `count_configs` change what is learnt by more than rounding."""

    seed: Seed = 0
    device: str = "auto"  # auto, cpu, cuda, cuda:1 …
    folder: Path | None = None  # for the log and the resumable state; None: neither is written
    resume: bool = False  # continue from the state in `folder`, if any
    report: Report = ignore  # called with an event per epoch, or per step of a fit without epochs
    save_every: NonNegative = 60.0  # seconds between two saved states
    precision: Literal["auto", "fp32", "bf16"] = "auto"  # of matrix products; auto: bf16 if the hardware has it
    compile: bool = False  # pass the encoder to torch.compile, if there is a compiler
    count_configs: Any = None  # `CountConfigs` of a network with memory, see `registry.count_configs`; None: defaults


@dataclass(frozen=True)
class TrainingSummary:
    """The outcome of a training run."""

    best_epoch: int  # the first epoch with the best validation, from 1; without validation, the last epoch
    epochs: int  # epochs trained, including those before a resume
    seconds: float  # training time, including the time before a resume
    validation: dict[str, float]  # metrics of the best epoch by name; empty without validation
    device: str = ""  # "cpu", "cuda"

    def notes(self) -> dict[str, Any]:
        """Return the summary, versions and today's date as plain JSON, for the checkpoint."""
        return {
            "validation": self.validation,
            "best_epoch": self.best_epoch,
            "epochs": self.epochs,
            "seconds": round(self.seconds, 4),
            "device": self.device,
            "versions": {"python": platform.python_version(), "torch": version("torch")},
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
        }
