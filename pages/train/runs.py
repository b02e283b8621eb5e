"""The right side of Train: what is being trained, what waits, and what came of those before."""

from collections.abc import Callable
from typing import Literal

import streamlit as st

from pages.train import curves, words
from pages.ui import errors, getting, loaders, url
from pages.ui import words as common
from pages.ui.frame import WATCH_NEXT
from pages.ui.i18n import localize, number
from recsys.jobs import queue
from recsys.jobs.queue import Job, Progress, State

LOOK_EVERY = 2.0  # seconds between two looks at a training
MOST_SHOWN = 12  # trainings that are over
LOOKS: dict[State, tuple[str, Literal["gray", "blue", "orange", "red", "green"]]] = {  # icon and colour
    State.WAITING: ("hourglass_empty", "gray"),
    State.RUNNING: ("model_training", "blue"),
    State.STOPPING: ("hourglass_empty", "gray"),
    State.STOPPED: ("pause", "orange"),
    State.INTERRUPTED: ("power_off", "orange"),
    State.FAILED: ("error", "red"),
    State.DONE: ("check", "green"),
    State.DAMAGED: ("broken_image", "red"),
}


def show() -> None:
    """Every training; those that go on are looked at again by themselves."""
    st.header(words.RUNS)
    queue.start_runner()
    known = queue.jobs()
    if not known:
        st.info(words.NONE, icon=":material/model_training:")
    active = [job for job in known if job.state in queue.ACTIVE]
    over = [job for job in reversed(known) if job.state not in queue.ACTIVE]
    if active:
        watch([(job.id, job.state) for job in known])
    for job in over[:MOST_SHOWN]:
        card(job)
    if older := over[MOST_SHOWN:]:
        st.caption(words.OLDER.format(n=len(older)))


@st.fragment(run_every=LOOK_EVERY)
def watch(before: list[tuple[str, State]]) -> None:
    """Those that go on or wait; the page begins anew when one of them is not what it was."""
    known = queue.jobs()
    if [(job.id, job.state) for job in known] != before:
        st.rerun()
    for job in known:
        if job.state in queue.ACTIVE:
            card(job)


def card(job: Job) -> None:
    """One training: what, how far, how it learns, and what can be done with it."""
    progress = queue.progress(job)
    with st.container(border=True, gap="small", key=f"run-{job.id}"):
        head(job)
        if job.state is State.RUNNING:
            far(progress)
        if sentence := said(job, progress):
            st.caption(common.plain(sentence))
        drawn(job, progress)
        actions(job)


def head(job: Job) -> None:
    """What is trained, and its state."""
    label, (icon, colour) = words.STATES[job.state], LOOKS[job.state]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if job.variant:
            data = common.plain(loaders.data_title(job.dataset))
            st.markdown(words.TITLE.format(model=common.plain(title(job)), data=data), width="content")
        st.badge(label, icon=f":material/{icon}:", color=colour)
    if job.variant:
        st.caption(" ".join(details(job)))


def title(job: Job) -> str:
    """The recommender's name for people, its own where no such recommender is left."""
    known = loaders.recommenders().get(job.variant)
    return loaders.title(known) if known else job.variant or job.id


def details(job: Job) -> list[str]:
    """The settings that were changed, and when it was begun."""
    values = {name: value if isinstance(value, str) else number(value, ",") for name, value in job.changes.items()}
    changed = [words.SETTING.format(name=words.SETTINGS.get(name, name), value=value) for name, value in values.items()]
    variant = loaders.recommenders().get(job.variant)
    unchanged = words.AS_TUNED if variant and variant.is_tuned_for(job.dataset) else words.AS_SUGGESTED
    settings = words.CHANGED.format(settings=common.listed(changed)) if changed else unchanged
    return [settings, *([words.begun(job.started)] if job.started else [])]


def far(progress: Progress) -> None:
    """How far a training is, and how long it still takes."""
    n, every = progress.epochs
    text = words.EPOCH.format(n=n, all=every) if every else words.PREPARING
    if progress.seconds_left is not None:
        text = words.EPOCH_LEFT.format(n=n, all=every, time=common.about(progress.seconds_left))
    st.progress(progress.share, text)


def said(job: Job, progress: Progress) -> str:
    """What there is to say of a training in its state."""
    (n, _), best = progress.epochs, progress.best
    if job.state is State.RUNNING:
        return words.BEST.format(n=best[0], value=common.metric(best[1])) if best else ""
    if job.state is State.DONE:
        pattern = words.DONE if best else words.DONE_UNVALIDATED
        return pattern.format(n=n, best=best[0] if best else 0, value=common.metric(best[1]) if best else "")
    if job.state is State.STOPPED and not n:
        return words.STOPPED_EARLY
    return words.SAID[job.state].format(n=n, error=localize(job.reason))


def drawn(job: Job, progress: Progress) -> None:
    """The curves: of a training that goes on at once, of one that is over when somebody opens them."""
    if not progress.events:
        return
    if job.state in (State.RUNNING, State.STOPPING):
        curves.show(progress, title(job), job.id)
        return
    panel = st.expander(words.CURVES, icon=":material/show_chart:", key=f"curves-{job.id}", on_change="rerun")
    if panel.open:
        with panel:
            curves.show(progress, title(job), job.id)


def actions(job: Job) -> None:
    """Buttons: what can be done with a training in its state."""
    model = common.plain(title(job))
    with st.container(horizontal=True, gap="small"):
        if job.state is State.DONE:
            use(job)
        if job.state is State.RUNNING:
            pressed(words.STOP.format(model=model), "stop", job, lambda: queue.stop(job.id))
        if job.state is State.WAITING:
            pressed(words.WITHDRAW.format(model=model), "close", job, lambda: queue.stop(job.id))
        if job.state in queue.RESUMABLE:
            pressed(words.RESUME.format(model=model), "play_arrow", job, lambda: queue.resume(job.id))
        if job.state not in queue.ACTIVE:
            pressed(words.REMOVE.format(model=model), "delete", job, lambda: queue.remove(job.id))


def use(job: Job) -> None:
    """A button to Watch next, with this recommender and its data set."""
    text = words.USE.format(model=common.plain(title(job)))
    key, icon = f"use-{job.id}", ":material/arrow_forward:"
    if st.button(text, key=key, icon=icon, type="primary", on_click=choose_it, args=(job,)):
        st.switch_page(WATCH_NEXT)


def choose_it(job: Job) -> None:
    """Choose it for the pages that follow; a callback, because this page has a selector of the data set too."""
    url.choose("model", job.variant)
    getting.open_set(job.dataset)


def pressed(text: str, icon: str, job: Job, act: Callable[[], None]) -> None:
    """A button that does something with a training; the page then begins anew."""
    if st.button(text, key=f"{icon}-{job.id}", icon=f":material/{icon}:"):
        with errors.explained():
            act()
            st.rerun()
