"""The right side of Train: what is being trained, what waits, and what came of those before."""

from collections.abc import Callable
from typing import Literal

import streamlit as st

from pages.train import curves, words
from pages.ui import cache, errors, format, session, url
from pages.ui.i18n import _, localize, ngettext, number
from pages.ui.page import WATCH_PAGE
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
    st.header(_("Trainings"))
    queue.start_runner()
    known = queue.jobs()
    if not known:
        st.info(
            _("Nothing has been trained here yet. What you start appears here, and goes on when you close the page."),
            icon=":material/model_training:",
        )
    active = [job for job in known if job.state in queue.ACTIVE]
    over = [job for job in reversed(known) if job.state not in queue.ACTIVE]
    if active:
        watch([(job.id, job.state) for job in known])
    for job in over[:MOST_SHOWN]:
        card(job)
    if older := over[MOST_SHOWN:]:
        st.caption(
            ngettext(
                "{n} older one is not shown; remove one of these to see it.",
                "{n} older ones are not shown; remove some of these to see them.",
                len(older),
            )
        )


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
            st.caption(format.escape_markdown(sentence))
        drawn(job, progress)
        actions(job)


def head(job: Job) -> None:
    """What is trained, and its state."""
    label, (icon, colour) = words.STATES[job.state], LOOKS[job.state]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if job.variant:
            data = format.escape_markdown(cache.dataset_title(job.dataset))
            st.markdown(
                _("**{model}** for {data}", model=format.escape_markdown(title(job)), data=data), width="content"
            )
        st.badge(label, icon=f":material/{icon}:", color=colour)
    if job.variant:
        st.caption(" ".join(details(job)))


def title(job: Job) -> str:
    """The recommender's name for people, its own where no such recommender is left."""
    known = cache.all_recommenders().get(job.variant)
    return cache.recommender_title(known) if known else job.variant or job.id


def details(job: Job) -> list[str]:
    """The settings that were changed, and when it was begun."""
    values = {name: value if isinstance(value, str) else number(value, ",") for name, value in job.changes.items()}
    changed = [_("{name} {value}", name=words.SETTINGS.get(name, name), value=value) for name, value in values.items()]
    variant = cache.all_recommenders().get(job.variant)
    unchanged = _("As tuned.") if variant and variant.is_tuned_for(job.dataset) else _("With the suggested settings.")
    settings = _("Changed: {settings}.", settings=format.listed(changed)) if changed else unchanged
    return [settings, *([words.begun(job.started)] if job.started else [])]


def far(progress: Progress) -> None:
    """How far a training is, and how long it still takes."""
    n, every = progress.epochs
    text = _("Epoch {n} of {all}", n=n, all=every) if every else _("Getting ready, then the first epoch")
    if progress.seconds_left is not None:
        text = _(
            "Epoch {n} of {all}, {time} left at most",
            n=n,
            all=every,
            time=format.format_duration(progress.seconds_left),
        )
    st.progress(progress.share, text)


def said(job: Job, progress: Progress) -> str:
    """What there is to say of a training in its state."""
    (n, _unused), best = progress.epochs, progress.best
    if job.state is State.RUNNING:
        return (
            _("Best validation so far: NDCG@10 {value} after epoch {n}.", n=best[0], value=format.metric(best[1]))
            if best
            else ""
        )
    if job.state is State.DONE:
        if not best:
            return ngettext("It learnt for {n} epoch.", "It learnt for {n} epochs.", n)
        return ngettext(
            "It learnt for {n} epoch. Kept is what it knew after epoch {best}, the best in validation: NDCG@10 {value}.",
            "It learnt for {n} epochs. Kept is what it knew after epoch {best}, the best in validation: NDCG@10 {value}.",
            n,
            best=best[0],
            value=format.metric(best[1]),
        )
    if job.state is State.STOPPED and not n:
        return _("It was stopped before the first epoch was over.")
    return words.SAID[job.state].format(n=n, error=localize(job.reason))


def drawn(job: Job, progress: Progress) -> None:
    """The curves: of a training that goes on at once, of one that is over when somebody opens them."""
    if not progress.events:
        return
    if job.state in (State.RUNNING, State.STOPPING):
        curves.show(progress, title(job), job.id)
        return
    panel = st.expander(_("How it learnt"), icon=":material/show_chart:", key=f"curves-{job.id}", on_change="rerun")
    if panel.open:
        with panel:
            curves.show(progress, title(job), job.id)


def actions(job: Job) -> None:
    """Buttons: what can be done with a training in its state."""
    model = format.escape_markdown(title(job))
    with st.container(horizontal=True, gap="small"):
        if job.state is State.DONE:
            use(job)
        if job.state is State.RUNNING:
            pressed(_("Stop *{model}*", model=model), "stop", job, lambda: queue.stop(job.id))
        if job.state is State.WAITING:
            pressed(_("Do not train *{model}*", model=model), "close", job, lambda: queue.stop(job.id))
        if job.state in queue.RESUMABLE:
            pressed(_("Resume *{model}*", model=model), "play_arrow", job, lambda: queue.resume(job.id))
        if job.state not in queue.ACTIVE:
            pressed(_("Remove *{model}*", model=model), "delete", job, lambda: queue.remove(job.id))


def use(job: Job) -> None:
    """A button to Watch next, with this recommender and its data set."""
    text = _("Use it *: {model}*", model=format.escape_markdown(title(job)))
    key, icon = f"use-{job.id}", ":material/arrow_forward:"
    if st.button(text, key=key, icon=icon, type="primary", on_click=choose_it, args=(job,)):
        st.switch_page(WATCH_PAGE)


def choose_it(job: Job) -> None:
    """Choose it for the pages that follow; a callback, because this page has a selector of the data set too."""
    url.set_value("model", job.variant)
    session.open_dataset(job.dataset)


def pressed(text: str, icon: str, job: Job, act: Callable[[], None]) -> None:
    """A button that does something with a training; the page then begins anew."""
    if st.button(text, key=f"{icon}-{job.id}", icon=f":material/{icon}:"):
        with errors.show_errors():
            act()
            st.rerun()
