"""The left side of Train: which recommender, with which settings, on what.

Session state: `recommenders.TO_TRAIN` (the recommender) · train-<data>-<recommender>-<setting> (a number each).
"""

from typing import Any

import streamlit as st

from pages.train import words
from pages.ui import cache, errors, format, recommenders
from pages.ui.i18n import _, localize, ngettext, number
from recsys.data.dataset import Dataset
from recsys.errors import RecsysError
from recsys.jobs import options as numbers
from recsys.jobs import queue
from recsys.jobs.queue import State
from recsys.serving import predictor as serving
from recsys.serving.predictor import Recommender


def show(dataset: Dataset) -> None:
    """Everything that is to be chosen, what is to be known before, and the button that starts it."""
    st.header(_("A new training"))
    variant, data = choose(dataset.name), dataset.name
    changes = ask_for_settings(variant, data)
    device = choose_device()
    say_before(variant, data)
    with errors.show_errors():
        start(variant, data, changes, device, works=can_work(variant, data, changes))


def choose(data: str) -> Recommender:
    """The recommender, among those that learn step by step."""
    known, labels = cache.all_recommenders(), recommenders.menu(data)
    names = [name for name in labels if known[name].needs_training]
    recommenders.preserve_widget_value(recommenders.TO_TRAIN)
    name = st.selectbox(
        _("Recommender"),
        names,
        index=names.index(cache.DEFAULT_MODEL) if cache.DEFAULT_MODEL in names else 0,
        format_func=labels.__getitem__,
        key=recommenders.TO_TRAIN,
        help=_(
            "Recommenders that learn step by step. All others are fitted in seconds when you choose them on a page."
        ),
        persist_state="session",
    )
    return known[name]


def ask_for_settings(variant: Recommender, data: str) -> dict[str, Any]:
    """Numbers to be changed; returns those that were."""
    text = (
        _("As tuned for {data}. Change what you like; what cannot work is said before it starts.")
        if variant.is_tuned_for(data)
        else _(
            "Nothing was tuned for {data}. These settings worked for a data set of a similar size. "
            "Change what you like; what cannot work is said before it starts."
        )
    )
    st.caption(text.format(data=format.escape_markdown(cache.dataset_title(data))))
    lists = numbers.MAIN_SETTINGS, numbers.MORE_SETTINGS
    main, more = (numbers.settings(variant.name, data, names) for names in lists)
    with st.grid(2, min_column_width=140):
        asked = {name: ask(name, value, variant.name, data) for name, value in main.items()}
    with st.expander(_("More settings"), icon=":material/tune:"), st.grid(2, min_column_width=140):
        asked |= {name: ask(name, value, variant.name, data) for name, value in more.items()}
    return {name: value for name, value in asked.items() if value != (main | more)[name]}


def ask(name: str, preset: int | float, variant: str, data: str) -> int | float:
    """Show the input of a number, at first as tuned."""
    whole = isinstance(preset, int)
    help_text = _(
        "`{name}`: {help}. At first {value}.", name=name, help=words.SETTING_HELPS[name], value=number(preset, ",")
    )
    return st.number_input(
        words.SETTINGS[name],
        value=preset,
        step=1 if whole else preset / 10 or 0.01,
        format="%d" if whole else "%g",
        key=f"train-{data}-{variant}-{name}",
        help=help_text,
        persist_state="session",
    )


def choose_device() -> str:
    """What to compute on: chosen where there is a GPU, else said."""
    found = numbers.devices()
    if len(found) == 1:
        st.caption(
            _(
                "It will learn on the CPU ({name}); this machine has no GPU that PyTorch can use.",
                name=format.escape_markdown(localize(found["cpu"])),
            )
        )
        return "cpu"
    return st.segmented_control(
        _("Compute on"),
        list(found),
        default=next(iter(found)),
        required=True,
        format_func=lambda name: words.DEVICES[name].format(name=localize(found[name])),
        key="train_device",
        persist_state="session",
    )


def say_before(variant: Recommender, data: str) -> None:
    """How long it may take, and what a new one takes the place of."""
    said = {
        "model": format.escape_markdown(cache.recommender_title(variant)),
        "data": format.escape_markdown(cache.dataset_title(data)),
    }
    known = numbers.previous_training(variant.name, data)
    if known:
        time, device = format.format_duration(known.seconds), words.KIND.get(known.device, known.device)
        st.caption(
            ngettext(
                "The one that is there now took {time} for {n} epoch on a {device}. Other settings take another time.",
                "The one that is there now took {time} for {n} epochs on a {device}. Other settings take another time.",
                known.epochs,
                time=time,
                device=device,
            )
        )
    else:
        st.caption(_("Nobody has timed it yet: minutes to hours. After the first epoch this page knows better."))
    if serving.is_there(variant.name, data):
        st.warning(
            _(
                "{model} is trained for {data} already. The new one takes its place on every page once it is done.",
                **said,
            ),
            icon=":material/swap_horiz:",
        )
    half_done = [job for job in queue.jobs() if job.state in (State.STOPPED, State.INTERRUPTED)]
    if any((job.variant, job.dataset) == (variant.name, data) for job in half_done):
        st.warning(
            _(
                "A training of it was stopped and can be resumed. A new one begins from nothing, and that one is lost.",
                **said,
            ),
            icon=":material/restart_alt:",
        )


def can_work(variant: Recommender, data: str, changes: dict[str, Any]) -> bool:
    """Whether a training can be made with these settings; if not, the page says why."""
    try:
        queue.check(variant.name, data, changes)
    except RecsysError as error:
        errors.show_error(error)
        return False
    return True


def start(variant: Recommender, data: str, changes: dict[str, Any], device: str, works: bool) -> None:
    """The button that puts it into the queue."""
    busy = any(job.state in queue.ACTIVE for job in queue.jobs())
    icon = ":material/playlist_add:" if busy else ":material/play_arrow:"
    if st.button(
        _("Add to the queue") if busy else _("Start training"),
        key="train-start",
        icon=icon,
        type="primary",
        disabled=not works,
    ):
        queue.add(variant.name, data, changes=changes, device=device)
        st.rerun()
