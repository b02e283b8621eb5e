"""How a fit is carried out, apart from what is fitted: device, seed, checkpoints, progress. Loads no torch."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


def ignore(event: dict[str, Any]) -> None:
    """Report to nobody."""


@dataclass(frozen=True)
class Run:
    """Settings of one training run that do not change what is learnt (but for `seed`)."""

    seed: int = 0
    device: str = "auto"  # auto, cpu, cuda, cuda:1 …
    folder: Path | None = None  # where the run keeps its resumable state; None: nowhere
    resume: bool = False  # go on from the state in `folder`, if there is one
    report: Callable[[dict[str, Any]], None] = ignore  # called with one event (a dict that JSON can hold) per interval
    save_every: float = 60.0  # seconds between two states kept in `folder`: what a kill can cost
    precision: str = "auto"  # of matrix products: fp32, bf16 (sums stay fp32), auto: bf16 where the hardware has it
    compile: bool = False  # hand the encoder to torch.compile, where there is a compiler
