"""Measuring recommenders on a data set of the visitor's own: in a thread, which goes on when the page is left."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import streamlit as st

from pages.ui import cache, errors, format, recommenders, tasks
from pages.ui.i18n import _
from pages.ui.recommenders import State
from recsys import paths
from recsys.data import datasets
from recsys.data.dataset import DataError
from recsys.errors import RecsysError
from recsys.progress import ProgressCallback

FIRST = ("popular", "item-knn")  # measured before the others, so that there is something to see at once


def show(dataset: str, protocol: str, measured: Sequence[str]) -> None:
    """Show a button that measures what was not measured yet, or the progress. measured: names of recommenders."""
    if dataset in datasets.SETS or protocol != datasets.serving_split(dataset).protocol or paths.is_public():
        return
    task = tasks.find(_task_name(dataset))
    if task and not task.is_finished:
        _watch(dataset, task.event.get("done", 0))
        return
    if task and isinstance(task.error, RecsysError):
        errors.show_error(task.error)
    elif task and task.error:
        tasks.forget(_task_name(dataset))
        raise task.error
    if names := _to_measure(dataset, measured):
        st.button(
            _("Evaluate") if not measured else _("Evaluate {n} more", n=len(names)),
            key=f"evaluate-{dataset}",
            icon=":material/play_arrow:",
            help=_(
                "The last film of each person is hidden, and each recommender that is ready within seconds "
                "has to find it. The evaluation goes on when you leave the page."
            ),
            type="secondary" if measured else "primary",
            on_click=_begin,
            args=(dataset, protocol, names),
        )


def _to_measure(dataset: str, measured: Sequence[str]) -> list[str]:
    """The names of the recommenders that can answer within seconds and were not measured yet."""
    names = dict.fromkeys([*FIRST, *cache.all_recommenders()])
    with suppress(DataError):
        return [
            name
            for name in names
            if name not in measured and recommenders.state(name, dataset) in (State.READY, State.QUICK)
        ]
    return []


def _begin(dataset: str, protocol: str, names: list[str]) -> None:
    """Start to measure the recommenders, one after the other."""
    try:
        data = cache.dataset(dataset)
    except DataError:  # deleted meanwhile: the page says so
        return

    def task(report: ProgressCallback) -> None:
        from recsys.evaluation.evaluate import evaluate  # loads torch

        failed: list[RecsysError] = []
        for number, name in enumerate(names):
            event = {"stage": "evaluate", "done": number, "total": len(names), "name": name}
            report(event)
            try:
                evaluate(name, data, protocol, report=_always(report, event))
            except RecsysError as error:
                failed.append(error)
        if len(failed) == len(names):
            raise failed[0]

    tasks.forget(_task_name(dataset))
    tasks.start(_task_name(dataset), task)


def _always(report: ProgressCallback, event: dict[str, Any]) -> ProgressCallback:
    """Return a report that repeats one event: the bar counts recommenders, and a cancelled evaluation still stops."""

    def repeat(_: dict[str, Any]) -> None:
        report(event)

    return repeat


@st.fragment(run_every=tasks.POLL_SECONDS)
def _watch(dataset: str, done: int) -> None:
    """Show the progress and a way to stop it. The page is drawn again when `done` recommenders have become more."""
    task = tasks.find(_task_name(dataset))
    if task is None or task.is_finished or task.event.get("done", 0) != done:
        st.rerun()
    name = task.event.get("name", "")
    title = cache.recommender_title(cache.all_recommenders()[name]) if name else ""
    text = _("Stopping") if task.is_cancelled else _("Evaluating {model}", model=title)
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        st.progress(task.progress, format.escape_markdown(text))
        if not task.is_cancelled:
            key = f"stop-evaluating-{dataset}"
            st.button(_("Cancel *evaluating*"), key=key, icon=":material/close:", on_click=task.cancel)


def _task_name(dataset: str) -> str:
    return f"evaluate/{dataset}"
