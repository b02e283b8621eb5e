"""What Train says."""

from datetime import UTC, datetime

from pages.ui.i18n import say, speak
from recsys.jobs.queue import State

# What to train
NEW = "A new training"
MODEL_HELP = "Recommenders that learn step by step. All others are fitted in seconds when you choose them on a page."
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
SETTING_HELP = "`{name}`: {help}. At first {value}."
BY_SIZE = (
    "Nothing was tuned for {data}. These settings worked for a data set of a similar size. Change what you like; what "
    "cannot work is said before it starts."
)
TUNED = "As tuned for {data}. Change what you like; what cannot work is said before it starts."
MORE = "More settings"
DEVICE = "Compute on"
DEVICES = {"cuda": "GPU ({name})", "cpu": "CPU ({name})"}
CPU_ONLY = "It will learn on the CPU ({name}); this machine has no GPU that PyTorch can use."
BEFORE = "The one that is there now took {time} for {n} epochs on a {device}. Other settings take another time."
NO_TIME = "Nobody has timed it yet: minutes to hours. After the first epoch this page knows better."
KIND = {"cuda": "GPU", "cpu": "CPU"}
REPLACES = "{model} is trained for {data} already. The new one takes its place on every page once it is done."
ANEW = "A training of it was stopped and can be resumed. A new one begins from nothing, and that one is lost."
START, ADD = "Start training", "Add to the queue"

# Trainings
RUNS = "Trainings"
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
AS_SUGGESTED = "With the suggested settings."
AS_TUNED, CHANGED, SETTING = "As tuned.", "Changed: {settings}.", "{name} {value}"
WHEN = "Begun {date} UTC."
PREPARING = "Getting ready, then the first epoch"
EPOCH, EPOCH_LEFT = "Epoch {n} of {all}", "Epoch {n} of {all}, {time} left at most"
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
STOPPED_EARLY = "It was stopped before the first epoch was over."
BEST = "Best validation so far: NDCG@10 {value} after epoch {n}."
DONE = "It learnt for {n} epochs. Kept is what it knew after epoch {best}, the best in validation: NDCG@10 {value}."
DONE_UNVALIDATED = "It learnt for {n} epochs."
OLDER = "{n} older ones are not shown; remove some of these to see them."
STOP, WITHDRAW, RESUME, REMOVE = "Stop *{model}*", "Do not train *{model}*", "Resume *{model}*", "Remove *{model}*"
USE = "Use it *: {model}*"
CURVES = "How it learnt"
LOSS, VALIDATION = "Loss", "Validation NDCG@10"
BY_EPOCH = "Epoch"
LOSS_ALT = "Loss of {model} in each epoch: {last} in epoch {n}"
VALIDATION_ALT = "NDCG@10 of {model} on films kept aside for validation: {last} after epoch {n}"
CURVES_HELP = (
    "The loss is what learning makes smaller. Validation asks for a film of each person that is kept aside: where it "
    "falls again, the recommender learns by heart."
)


def begun(seconds: float) -> str:
    """When a training was started: "Begun 2026-11-22, 18:41 UTC."."""
    return say(WHEN).format(date=f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d, %H:%M}")


speak(__name__)
