"""Work that takes longer than a page should keep somebody waiting: done in a thread, watched from every page.

A run of a page ends with the next click, and what it was doing ends with it. So what takes seconds or minutes is
started here, once for all visitors, and each run looks how far it is.
"""

import threading
from collections.abc import Callable
from typing import Any

import streamlit as st

from recsys.progress import Cancelled, ProgressCallback

Task = Callable[[ProgressCallback], object]  # its report raises Cancelled when somebody called the work off
LOOK_EVERY = 0.5  # seconds between two looks of a page at work that goes on


class Work:
    """One piece of work in a thread of its own."""

    def __init__(self, task: Task) -> None:
        self.event: dict[str, Any] = {}  # the last one reported that counts or says something
        self.error: BaseException | None = None  # what ended it; None: nothing did, or somebody called it off
        self.called_off = False
        self._task = task
        self._over = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    @property
    def is_over(self) -> bool:
        """Whether it has ended, in whatever way."""
        return self._over.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait for its end, so long at most; whether it has ended."""
        return self._over.wait(seconds)

    def call_off(self) -> None:
        """Ask it to stop; it does so the next time it reports."""
        self.called_off = True

    def share(self) -> float:
        """How much is done, 0…1, as far as it is known."""
        return share(self.event)

    def _run(self) -> None:
        try:
            self._task(self._note)
        except Cancelled:
            pass
        except BaseException as error:  # noqa: BLE001 - shown by the page, which takes a RecsysError and a bug apart
            self.error = error
        finally:
            self._over.set()

    def _note(self, event: dict[str, Any]) -> None:
        if self.called_off:
            raise Cancelled
        if event.get("stage") != "wait":
            self.event = event


def share(event: dict[str, Any]) -> float:
    """How much is done by an event that counts something, 0…1; 0 by any other."""
    total = event.get("total") or 0
    return min(event.get("done", 0) / total, 1.0) if total else 0.0


def start(name: str, task: Task) -> Work:
    """Begin a piece of work, unless one of that name goes on already."""
    with _LOCK:
        known = _works().get(name)
        if known is None or known.is_over:
            _works()[name] = known = Work(task)
        return known


def find(name: str) -> Work | None:
    """The piece of work of that name: going on, or ended and not yet forgotten."""
    return _works().get(name)


def forget(name: str) -> None:
    """Drop what has ended, so that it is not shown again."""
    with _LOCK:
        if (known := _works().get(name)) and known.is_over:
            del _works()[name]


_LOCK = threading.Lock()


@st.cache_resource(show_spinner=False)
def _works() -> dict[str, Work]:
    """All there is, for all visitors."""
    return {}
