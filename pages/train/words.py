"""What Train says."""

from datetime import UTC, datetime

from pages.ui.i18n import _, speak
from recsys.jobs.queue import State

# What to train
SETTINGS = {
    "epochs": "Epochs",
    "lr": "Learning rate (lr)",
    "dim": "Dimensions (dim)",
    "length": "Films read (length)",
    "layers": "Layers",
    "heads": "Heads",
    "batch_size": "Batch size",
    "hidden": "Hidden units",
    "dropout": "Dropout",
    "mask_prob": "Share masked",
    "negatives": "Negatives",
    "validate_every": "Validate every",
    "patience": "Patience",
    "weight_decay": "Weight decay",
}
SETTING_HELPS = {
    "epochs": "Passes over the training histories",
    "lr": "Highest learning rate of AdamW",
    "dim": "Size of a film's vector",
    "length": "Number of most recent films that the model reads",
    "layers": "Number of layers of the network",
    "heads": "Attention heads of each layer",
    "batch_size": "Histories of each training step",
    "hidden": "Units of the recurrent layer",
    "dropout": "Share of values set to zero during training",
    "mask_prob": "Probability that a film is masked during training",
    "negatives": "Films that each target is compared with",
    "validate_every": "Epochs between two validations",
    "patience": "Validations without improvement before training stops",
    "weight_decay": "Weight decay of AdamW",
}
DEVICES = {"cuda": "GPU ({name})", "cpu": "CPU ({name})"}
KIND = {"cuda": "GPU", "cpu": "CPU"}
REPLACES = "{model} is trained for {data} already. The new one takes its place on every page once it is done."

# Trainings
NONE = "Nothing has been trained here yet. What you start appears here, and goes on when you close the page."
TITLE = "**{model}** for {data}"
STATES = {
    State.WAITING: "Waiting",
    State.RUNNING: "Learning",
    State.STOPPING: "Stopping",
    State.STOPPED: "Stopped",
    State.INTERRUPTED: "Cut off",
    State.FAILED: "Failed",
    State.DONE: "Done",
    State.DAMAGED: "Damaged",
}
SAID = {
    State.WAITING: "It begins when those before it are over.",
    State.STOPPING: "What it has learnt is being kept.",
    State.STOPPED: "It was stopped after epoch {n}. Resumed, it goes on from there.",
    State.INTERRUPTED: (
        "Its process is gone: the machine was restarted, or it took too much memory. Resumed, it goes on."
    ),
    State.FAILED: "{error}",
    State.DAMAGED: "What is known of this training cannot be read any more. It can only be removed.",
}
DONE = "It learnt for {n} epochs. Kept is what it knew after epoch {best}, the best in validation: NDCG@10 {value}."
USE = "Use it *: {model}*"
CURVES = "How it learnt"


def begun(seconds: float) -> str:
    """When a training was started: "Begun 2026-11-22, 18:41 UTC."."""
    return _("Begun {date} UTC.", date=f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d, %H:%M}")


speak(__name__)
