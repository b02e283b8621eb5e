"""Settings and devices that a user of the Train page can choose, and the duration of the previous training."""

from dataclasses import dataclass
from functools import cache

from recsys import checkpoints, machine
from recsys.data.datasets import serving_splitting
from recsys.errors import Message
from recsys.models import registry

# Settings that the Train page offers if the recommender has them
MAIN_SETTINGS = ("epochs", "lr", "dim", "length", "layers", "heads")
MORE_SETTINGS = (  # under "More settings"
    "batch_size", "hidden", "dropout", "mask_prob", "negatives", "validate_every", "patience", "weight_decay",
)  # fmt: skip


@dataclass(frozen=True)
class PreviousTraining:
    """The duration of a finished training."""

    seconds: float
    epochs: int
    device: str  # "cpu", "cuda"


def settings(variant: str, dataset: str, names: tuple[str, ...]) -> dict[str, int | float]:
    """Return the values of the settings in `names` that are numbers in a recommender's preset for a data set."""
    config = registry.get(variant).preset(dataset)
    values = vars(config)
    if hasattr(config, "schedule"):  # a network has some of its settings in a schedule
        values = vars(config.schedule) | values
    # `type` and not isinstance, because a bool is an int
    return {name: values[name] for name in names if type(values.get(name)) in (int, float)}


def previous_training(variant: str, dataset: str) -> PreviousTraining | None:
    """Return the duration of the training that made the stored checkpoint, or None if it is unknown."""
    notes = checkpoints.training_notes(variant, dataset, serving_splitting(dataset))  # {} if there is no checkpoint
    try:
        return PreviousTraining(notes["seconds"], notes["epochs"], notes["device"])
    except KeyError:
        return None


@cache
def devices() -> dict[str, str | Message]:
    """Return the devices that can train, fastest first: {"cuda": "NVIDIA H100", "cpu": "16 cores"}."""
    from recsys.training import device  # loads torch

    cpu: dict[str, str | Message] = {"cpu": Message("{n} core", plural="{n} cores", n=machine.cores())}
    return {"cuda": machine.gpu(), **cpu} if device.choose("auto").type == "cuda" else cpu
