"""Background tasks that take seconds or minutes. All visitors share them.

A task runs in a thread, so that it continues after the page run, which ends with the next click of the visitor.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitDuplicateElementKey

from pages.ui.errors import show_error
from pages.ui.format import escape_markdown
from pages.ui.i18n import _
from pages.ui.widgets import button
from recsys.errors import RecsysError
from recsys.progress import Cancelled, ProgressCallback

# its argument is called with progress events, and raises Cancelled after `BackgroundTask.cancel`
TaskFunction = Callable[[ProgressCallback], object]
POLL_SECONDS = 0.5  # between two updates of a progress bar
_LOCK = threading.Lock()


class BackgroundTask:
    """A function that runs in its own thread, from the creation of the task."""

    def __init__(self, function: TaskFunction) -> None:
        self.event: dict[str, Any] = {}  # the latest progress event, {} before the first event
        self.error: BaseException | None = None  # None: no error so far, or cancelled
        self.is_cancelled = False
        self._thread = threading.Thread(target=self._run, args=(function,), daemon=True)
        self._thread.start()

    @property
    def is_finished(self) -> bool:
        """Whether the function returned, failed or was cancelled."""
        return not self._thread.is_alive()

    def wait(self, seconds: float) -> bool:
        """Wait for the end of the task. Return whether it is finished."""
        self._thread.join(seconds)
        return self.is_finished

    def cancel(self) -> None:
        """Stop the task at its next progress event."""
        self.is_cancelled = True

    def _run(self, function: TaskFunction) -> None:
        try:
            function(self._report)
        except Cancelled:
            pass
        except BaseException as error:  # noqa: BLE001 - pages show or raise it
            self.error = error

    def _report(self, event: dict[str, Any]) -> None:
        if self.is_cancelled:
            raise Cancelled
        if event.get("stage") != "wait":  # this event has no counts, so the latest counts stay
            self.event = event


def completed_share(event: dict[str, Any]) -> float:
    """Return the completed share after a progress event, 0…1. It is 0 for an event without a total."""
    total = event.get("total") or 0
    return min(event.get("done", 0) / total, 1.0) if total else 0.0


def start(name: str, function: TaskFunction) -> BackgroundTask:
    """Start a task, or return the running task of that name."""
    with _LOCK:
        task = _tasks().get(name)
        if task is None or task.is_finished:
            _tasks()[name] = task = BackgroundTask(function)
        return task


def find(name: str) -> BackgroundTask | None:
    """Return the running or finished task of that name, or None."""
    return _tasks().get(name)


def is_running(name: str) -> bool:
    """Return whether a task of that name is running."""
    task = find(name)
    return task is not None and not task.is_finished


def remove(name: str) -> None:
    """Remove a task from the registry if it is finished."""
    with _LOCK:
        if (task := _tasks().get(name)) and task.is_finished:
            del _tasks()[name]


@st.fragment(run_every=POLL_SECONDS)
def show_progress(
    name: str, format_event: Callable[[dict[str, Any]], str], cancel_label: str, key: str, n_done: int | None = None
) -> None:
    """Show the progress of a task and a cancel button. When the task ends, the page reruns.

    Args:
        name: Name of the task.
        format_event: Returns a plain text for a progress event.
        cancel_label: Markdown label of the button.
        key: Widget key of the button. If several sections show the task, only the first has the button.
        n_done: Number of completed steps that the page shows. If given, the page also reruns after the next step.
    """
    task = find(name)
    if task is None or task.is_finished or (n_done is not None and task.event.get("done", 0) != n_done):
        st.rerun()
    label = _("Stopping") if task.is_cancelled else format_event(task.event)
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        st.progress(completed_share(task.event), escape_markdown(label))
        with suppress(StreamlitDuplicateElementKey):
            button(cancel_label, key, "close", task.cancel, disabled=task.is_cancelled)


def show_failure(name: str, error: BaseException, key: str, retry: Callable[[], Any]) -> None:
    """Show a RecsysError of a task, and a button that calls `retry`. Any other error is raised again."""
    if not isinstance(error, RecsysError):
        remove(name)
        raise error
    show_error(error)
    with suppress(StreamlitDuplicateElementKey):
        button(_("Try again"), key, "refresh", retry)


@cache
def _tasks() -> dict[str, BackgroundTask]:
    """Return the registry of tasks by name."""
    return {}
