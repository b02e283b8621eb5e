"""What a training run in the app may set, what it computes on, and how long it took whoever did it before."""

from dataclasses import dataclass
from functools import cache

from recsys import checkpoints, machine
from recsys.data.datasets import serving_split
from recsys.models import registry

FIRST = ("epochs", "lr", "dim", "length", "layers", "heads")  # what is asked first, where a recommender has it
MORE = ("batch_size", "hidden", "dropout", "mask_prob", "negatives", "validate_every", "patience", "weight_decay")


@dataclass(frozen=True)
class Setting:
    """One number that may be set."""

    name: str  # as in the config: "batch_size"
    value: int | float  # as tuned for the data set


@dataclass(frozen=True)
class Before:
    """A training that is over."""

    seconds: float
    epochs: int
    device: str  # "cpu", "cuda"


def settings(variant: str, dataset: str, names: tuple[str, ...]) -> list[Setting]:
    """Those of the names that a recommender has and that are numbers, with what is tuned for a data set."""
    config = registry.get(variant).preset(dataset)
    schedule = getattr(config, "schedule", config)
    values = vars(schedule) | vars(config)
    numbers = {name for name, value in values.items() if type(value) in (int, float)}
    return [Setting(name, values[name]) for name in names if name in numbers]


def before(variant: str, dataset: str) -> Before | None:
    """How the one took that is there now, here or where it was shipped; None where nobody knows."""
    notes = checkpoints.notes(variant, dataset, serving_split(dataset))
    if not {"seconds", "epochs", "device"} <= notes.keys():
        return None
    return Before(notes["seconds"], notes["epochs"], notes["device"])


@cache
def devices() -> dict[str, str]:
    """What this machine can train on, the best first, and what that is: {"cuda": "NVIDIA H100", "cpu": "16 cores"}."""
    from recsys.training import device  # here, because it loads torch

    cpu = {"cpu": f"{machine.cores()} cores"}
    return {"cuda": machine.gpu()} | cpu if device.choose("auto").type == "cuda" else cpu
