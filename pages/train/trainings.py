"""The list on the right of Train: running, waiting and finished trainings.

A training is a job of the queue in `recsys.jobs`. Visitors read "training run".
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal

import streamlit as st

from pages.train import curves
from pages.train.form import SETTINGS
from pages.ui import cache, errors, format, session
from pages.ui.i18n import N_, _, localize, ngettext, number
from pages.ui.page import WATCH_PAGE
from recsys.jobs import queue
from recsys.jobs.queue import Job, Progress, State

REFRESH_SECONDS = 2.0
MAX_FINISHED = 12  # finished trainings in the list
BADGES: dict[State, tuple[str, str, Literal["gray", "blue", "orange", "red", "green"]]] = {  # label, icon, colour
    State.WAITING: (N_("Waiting"), "hourglass_empty", "gray"),
    State.RUNNING: (N_("Running"), "model_training", "blue"),
    State.STOPPING: (N_("Stopping"), "hourglass_empty", "gray"),
    State.STOPPED: (N_("Stopped"), "pause", "orange"),
    State.INTERRUPTED: (N_("Interrupted"), "power_off", "orange"),
    State.FAILED: (N_("Failed"), "error", "red"),
    State.DONE: (N_("Done"), "check", "green"),
    State.DAMAGED: (N_("Damaged"), "broken_image", "red"),
}
STATUS_TEXTS = {  # `status_text` has the texts of the other states
    State.WAITING: N_("Starts when earlier training runs are finished."),
    State.STOPPING: N_("Saving progress."),
    State.STOPPED: N_("Stopped after epoch {n}. Resume to continue from there."),
    State.INTERRUPTED: N_(
        "The computer was restarted, or the training needed too much memory. Resume to continue from the last epoch."
    ),
    State.DAMAGED: N_("The file of this training run is damaged. You can only remove it."),
}


def show() -> None:
    """Show all trainings. Active trainings are refreshed every REFRESH_SECONDS."""
    st.header(_("Training runs"))
    queue.start_runner()
    jobs = queue.jobs()
    if not jobs:
        text = _(
            "There are no training runs yet. A run that you start appears here and continues even if you close the "
            "page."
        )
        st.info(text, icon=":material/model_training:")
    if any(job.state in queue.ACTIVE for job in jobs):
        show_active({job.id: job.state for job in jobs})
    finished = [job for job in reversed(jobs) if job.state not in queue.ACTIVE]
    for job in finished[:MAX_FINISHED]:
        show_job(job)
    if n_hidden := len(finished[MAX_FINISHED:]):
        text = ngettext(
            "{n} older training run is hidden. Remove a run above to see it.",
            "{n} older training runs are hidden. Remove runs above to see them.",
            n_hidden,
        )
        st.caption(text)


@st.fragment(run_every=REFRESH_SECONDS)
def show_active(previous_states: dict[str, State]) -> None:
    """Show active trainings. When a state changes, the whole page reruns. previous_states: ID → state, of all jobs."""
    jobs = queue.jobs()
    if {job.id: job.state for job in jobs} != previous_states:
        st.rerun()
    for job in jobs:
        if job.state in queue.ACTIVE:
            show_job(job)


def show_job(job: Job) -> None:
    """Show a training: title, state, settings, progress, curves and buttons."""
    progress, model_title = queue.progress(job), recommender_title(job)
    label, icon, colour = BADGES[job.state]
    with st.container(border=True, gap="small", key=f"run-{job.id}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if job.variant:  # empty if the file of the job is damaged
                dataset_title = format.escape_markdown(cache.dataset_title(job.dataset))
                text = _("**{model}** for {data}", model=format.escape_markdown(model_title), data=dataset_title)
                st.markdown(text, width="content")
            st.badge(_(label), icon=f":material/{icon}:", color=colour)
        if job.variant:
            st.caption(describe_settings(job))
        if job.state is State.RUNNING:
            show_progress(progress)
        if status := status_text(job, progress):
            st.caption(format.escape_markdown(status))
        if progress.events and job.state in (State.RUNNING, State.STOPPING):
            curves.show(progress, model_title, job.id)
        elif progress.events:
            expander_title, key = _("Training curves"), f"curves-{job.id}"
            with st.expander(expander_title, icon=":material/show_chart:", key=key, on_change="rerun") as expander:
                if expander.open:
                    curves.show(progress, model_title, job.id)
        show_buttons(job, format.escape_markdown(model_title))


def recommender_title(job: Job) -> str:
    """Return the title of a job's recommender, its name if it has no title, or the ID of a damaged job."""
    recommender = cache.all_recommenders().get(job.variant)
    return cache.recommender_title(recommender) if recommender else job.variant or job.id


def describe_settings(job: Job) -> str:
    """Return sentences about the changed settings and the start time, as Markdown."""
    changes = []
    for name, value in job.changes.items():
        setting_title = _(SETTINGS[name][0]) if name in SETTINGS else name
        changes.append(f"{setting_title} {value if isinstance(value, str) else number(value, ',')}")
    if changes:
        text = _("Changed: {settings}.", settings=format.join_escaped(changes))
    else:
        recommender = cache.all_recommenders().get(job.variant)
        is_tuned = recommender and recommender.has_tuned_preset(job.dataset)
        text = _("With tuned settings.") if is_tuned else _("With suggested settings.")
    if not job.started:
        return text
    date = datetime.fromtimestamp(job.started, UTC)
    return f"{text} " + _("Started {date} UTC.", date=f"{date:%Y-%m-%d, %H:%M}")


def show_progress(progress: Progress) -> None:
    """Show the epoch and the remaining time."""
    n, max_epochs = progress.n_epochs, progress.max_epochs
    if not n:
        text = _("Preparing the first epoch…")
    elif progress.seconds_left is None:
        text = _("Epoch {n} of {all}", n=n, all=max_epochs)
    else:
        time = format.format_duration(progress.seconds_left)
        text = _("Epoch {n} of {all}, {time} left", n=n, all=max_epochs, time=time)
    st.progress(progress.share, text)


def status_text(job: Job, progress: Progress) -> str:
    """Return sentences about the state of a training and its best epoch, "" if there is nothing to report."""
    n = progress.n_epochs
    if job.state is State.FAILED:
        return localize(job.reason)
    if job.state is State.STOPPED and not n:
        return _("Stopped before the first epoch was finished.")
    if job.state not in (State.RUNNING, State.DONE):
        return _(STATUS_TEXTS[job.state], n=n)
    text = ngettext("Trained for {n} epoch.", "Trained for {n} epochs.", n) if job.state is State.DONE else ""
    if not progress.best:
        return text
    epoch, ndcg = progress.best
    value = format.metric(ndcg)
    if job.state is State.RUNNING:
        return _("Best validation so far: NDCG@10 {value} after epoch {n}.", n=epoch, value=value)
    return f"{text} " + _("Saved the best checkpoint: epoch {n}, validation NDCG@10 {value}.", n=epoch, value=value)


def show_buttons(job: Job, model_title: str) -> None:
    """Show the buttons that fit the state of a training. model_title: Escaped for Markdown."""
    # the style sheet hides the part of a label in *…*, so that only screen readers read it
    with st.container(horizontal=True, gap="small"):
        if job.state is State.DONE:
            text, icon = _("Use *{model}*", model=model_title), ":material/arrow_forward:"
            if st.button(text, key=f"use-{job.id}", icon=icon, type="primary", on_click=select_model, args=(job,)):
                st.switch_page(WATCH_PAGE)
        if job.state is State.RUNNING:
            show_action(_("Stop *{model}*", model=model_title), "stop", job, queue.stop)
        if job.state is State.WAITING:
            show_action(_("Cancel *{model}*", model=model_title), "close", job, queue.stop)
        if job.state in queue.RESUMABLE:
            show_action(_("Resume *{model}*", model=model_title), "play_arrow", job, queue.resume)
        if job.state not in queue.ACTIVE:
            show_action(_("Remove *{model}*", model=model_title), "delete", job, queue.remove)


def select_model(job: Job) -> None:
    """Select the trained recommender and its data set on all pages.

    This is a callback, so that it runs before the menu of data sets of this page is shown.
    """
    st.session_state.model = job.variant
    session.open_dataset(job.dataset)


def show_action(label: str, icon: str, job: Job, action: Callable[[str], object]) -> None:
    """Show a button that calls `action` with the ID of a job and reruns the page. icon: Name of a Material icon."""
    if st.button(label, key=f"{icon}-{job.id}", icon=f":material/{icon}:"):
        with errors.show_errors():
            action(job.id)
            st.rerun()
