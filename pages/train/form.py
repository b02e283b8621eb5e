"""The form on the left of Train: recommender, settings and device of a new training.

Session state:
    recommenders.TRAIN_MENU_KEY: Name of the recommender.
    train-<data set>-<recommender>-<setting>: Value of a setting.
    train_device: "cuda" or "cpu".
"""

from functools import partial
from typing import Any

import streamlit as st

from pages.ui import cache, errors, format, recommenders
from pages.ui.i18n import N_, _, localize, ngettext, number
from pages.ui.widgets import segmented_control, selectbox
from recsys.data.dataset import Dataset
from recsys.jobs import options, queue
from recsys.serving import predictor as predictors
from recsys.serving.predictor import Recommender

SETTINGS = {  # name of a setting → title, help
    "epochs": (N_("Epochs"), N_("Passes over the training histories")),
    "lr": (N_("Learning rate (lr)"), N_("Highest learning rate of AdamW")),
    "dim": (N_("Dimensions (dim)"), N_("Length of a film's embedding")),
    "length": (N_("Films read (length)"), N_("Number of most recent films that the model reads")),
    "layers": (N_("Layers"), N_("Number of layers of the network")),
    "heads": (N_("Heads"), N_("Attention heads in each layer")),
    "batch_size": (N_("Batch size"), N_("Histories per training step")),
    "hidden": (N_("Hidden units"), N_("Units of the recurrent layer")),
    "dropout": (N_("Dropout"), N_("Share of values set to zero during training")),
    "mask_prob": (N_("Share masked"), N_("Probability that a film is masked during training")),
    "negatives": (N_("Negatives"), N_("Films that each target is compared with")),
    "validate_every": (N_("Validate every"), N_("Epochs between two validations")),
    "patience": (N_("Patience"), N_("Validations without improvement before training stops")),
    "weight_decay": (N_("Weight decay"), N_("Weight decay of AdamW")),
}
DEVICES = {"cuda": "GPU", "cpu": "CPU"}


def show(dataset: Dataset) -> None:
    """Show the menu of recommenders, the settings, the menu of devices, notes and the start button."""
    st.header(_("New training run"))
    recommender = select_recommender(dataset.name)
    changes = ask_for_settings(recommender, dataset.name)
    device = select_device()
    show_notes(recommender, dataset.name)
    with errors.show_errors():
        show_start_button(recommender, dataset.name, changes, device)


def select_recommender(dataset_name: str) -> Recommender:
    """Show the menu of recommenders that need training. Return the chosen one."""
    by_name, labels = cache.all_recommenders(), recommenders.menu_labels(dataset_name)
    trainable = {name: label for name, label in labels.items() if by_name[name].needs_training}
    recommenders.preserve_widget_value(recommenders.TRAIN_MENU_KEY)
    name = selectbox(
        _("Recommender"),
        trainable,
        recommenders.TRAIN_MENU_KEY,
        default=cache.DEFAULT_MODEL if cache.DEFAULT_MODEL in trainable else None,
        help=_("Other recommenders need no training. They are ready within seconds when you select them."),
    )
    return by_name[name]


def ask_for_settings(recommender: Recommender, dataset_name: str) -> dict[str, Any]:
    """Show the inputs of the settings. Return the settings that the user changed."""
    dataset_title = format.escape_markdown(cache.dataset_title(dataset_name))
    tuned = N_("These settings were tuned for {data}. You can change them.")
    untuned = N_("There are no tuned settings for {data}. These are a starting point. You can change them.")
    st.caption(_(tuned if recommender.has_tuned_preset(dataset_name) else untuned, data=dataset_title))
    main_presets = options.settings(recommender.name, dataset_name, options.MAIN_SETTINGS)
    more_presets = options.settings(recommender.name, dataset_name, options.MORE_SETTINGS)
    ask = partial(ask_for_number, recommender.name, dataset_name)
    with st.grid(2, min_column_width=140):
        values = {name: ask(name, preset) for name, preset in main_presets.items()}
    with st.expander(_("More settings"), icon=":material/tune:"), st.grid(2, min_column_width=140):
        values |= {name: ask(name, preset) for name, preset in more_presets.items()}
    presets = main_presets | more_presets
    return {name: value for name, value in values.items() if value != presets[name]}


def ask_for_number(recommender_name: str, dataset_name: str, name: str, preset: int | float) -> int | float:
    """Show the input of a setting. Return its value. preset: Default value. Its type is the type of the setting."""
    title, help_text = SETTINGS[name]
    is_integer = isinstance(preset, int)
    return st.number_input(
        _(title),
        value=preset,
        step=1 if is_integer else (preset / 10 or 0.01),
        format="%d" if is_integer else "%g",
        key=f"train-{dataset_name}-{recommender_name}-{name}",
        help=_("`{name}`: {help}. Default: {value}.", name=name, help=_(help_text), value=number(preset, ",")),
        persist_state="session",
    )


def select_device() -> str:
    """Show the menu of devices or, without a GPU, a note. Return "cuda" or "cpu"."""
    devices = options.devices()
    if len(devices) == 1:
        cpu = format.escape_markdown(localize(devices["cpu"]))
        st.caption(_("Training uses the CPU ({name}), because PyTorch found no GPU on this computer.", name=cpu))
        return "cpu"
    labels = {name: f"{DEVICES[name]} ({localize(hardware)})" for name, hardware in devices.items()}
    return segmented_control(_("Device"), labels, "train_device")


def show_notes(recommender: Recommender, dataset_name: str) -> None:
    """Show the duration of the previous training. Warn if a new one replaces a checkpoint or a resumable training."""
    if previous := options.previous_training(recommender.name, dataset_name):
        text = ngettext(
            "Training the current model took {time} for {n} epoch on a {device}. With other settings, the time will be "
            "different.",
            "Training the current model took {time} for {n} epochs on a {device}. With other settings, the time will "
            "be different.",
            previous.epochs,
            time=format.format_duration(previous.seconds),
            device=DEVICES.get(previous.device, previous.device),
        )
    else:
        text = _("Training time is not known yet (minutes to hours). You will see an estimate after the first epoch.")
    st.caption(text)
    if predictors.is_ready(recommender.name, dataset_name):
        text = _(
            "{model} is already trained for {data}. The new training run will replace it on every page.",
            model=format.escape_markdown(cache.recommender_title(recommender)),
            data=format.escape_markdown(cache.dataset_title(dataset_name)),
        )
        st.warning(text, icon=":material/swap_horiz:")
    resumable_jobs = [job for job in queue.jobs() if job.state in queue.RESUMABLE]
    if any((job.variant, job.dataset) == (recommender.name, dataset_name) for job in resumable_jobs):
        text = _("You can resume a stopped training run of this recommender. A new run will delete its progress.")
        st.warning(text, icon=":material/restart_alt:")


def show_start_button(recommender: Recommender, dataset_name: str, changes: dict[str, Any], device: str) -> None:
    """Show the button that adds a training to the queue. If the settings are invalid, show why and disable it."""
    is_valid = False
    with errors.show_errors():
        queue.check_changes(recommender.name, dataset_name, changes)
        is_valid = True
    is_busy = any(job.state in queue.ACTIVE for job in queue.jobs())
    if st.button(
        _("Add to the queue") if is_busy else _("Start training"),
        key="train-start",
        icon=":material/playlist_add:" if is_busy else ":material/play_arrow:",
        type="primary",
        disabled=not is_valid,
    ):
        queue.add(recommender.name, dataset_name, changes=changes, device=device)
        st.rerun()
