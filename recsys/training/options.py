"""Config, options and summary of a training run. Does not import torch."""

import platform
import time
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from recsys.config import Count, Decay, Fraction, NonNegative, NonNegativeInt, Rate, Seed, Size, config_class
from recsys.progress import ProgressCallback, no_progress


@config_class
class TrainConfig:
    """Length and learning rate of a training. The config of every neural model contains one."""

    epochs: Count = 90  # passes over the training histories; the learning rate reaches zero at the end of the last
    batch_size: Size = 32  # sequences per step
    lr: Rate = 2e-3  # highest learning rate of AdamW
    warmup_steps: NonNegativeInt = 300  # steps over which the learning rate rises from zero
    weight_decay: Fraction = 0.0  # weight decay of AdamW
    ema_decay: Decay = 0.999  # decay per step of the moving average of the weights, which is validated and kept
    validate_every: Count = 10  # epochs between two validations
    patience: Count = 5  # the training stops after this many validations without a new best


@config_class
class RunOptions:
    """Options of a training run. Only `seed`, `count_configs` and `count_data` change results by more than rounding."""

    seed: Seed = 0
    device: str = "auto"  # auto, cpu, cuda, cuda:1 …
    folder: Path | None = None  # for the log and the resumable state; None: neither is written
    resume: bool = False  # continue from the state in `folder`, if any
    report: ProgressCallback = no_progress  # called with an event per epoch, or per step of a fit without epochs
    save_every: NonNegative = 60.0  # seconds between two saved states
    precision: Literal["auto", "fp32", "bf16"] = "auto"  # of matrix products; auto: bf16 if the hardware has it
    compile: bool = False  # pass the encoder to torch.compile, if there is a compiler
    # settings of the Markov chain and EASE of a network with `memory`, see `registry.count_configs`; None: the defaults
    count_configs: Any = None
    count_data: Any = None  # the `Dataset` whose events a network with `memory` counts; None: the training data


@dataclass(frozen=True)
class TrainingSummary:
    """The outcome of a training run."""

    best_epoch: int  # the first epoch with the best validation, from 1; without validation, the last epoch
    epochs: int  # epochs trained, including the epochs before a resume
    seconds: float  # training time, including the time before a resume
    validation: dict[str, float]  # metrics of the best epoch by name; empty without validation
    device: str = ""  # "cpu", "cuda"

    def notes(self) -> dict[str, Any]:
        """Return the summary, versions and today's date in UTC as plain JSON, for the checkpoint."""
        return asdict(self) | {
            "seconds": round(self.seconds, 4),
            "versions": {"python": platform.python_version(), "torch": version("torch")},
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
        }
