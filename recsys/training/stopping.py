"""SIGTERM and Ctrl-C while a network learns: its state is kept before the program leaves."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from recsys.progress import Cancelled

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Wish:
    """Whether somebody wants the program to leave, and how it does so."""

    def __init__(self) -> None:
        self.heard = 0  # the signal, 0 for none yet
        self.at_once = False  # leave wherever the program is, instead of where it asks

    def hear(self, number: int, *_: Any) -> None:
        """What is done when a signal comes: note it; leave where that changes nothing, or at a second Ctrl-C.

        A second SIGTERM says nothing new: the service manager sends one, and the system when the runner is gone.
        """
        hurried = self.heard == number == signal.SIGINT
        self.heard = number
        if self.at_once or hurried:
            self.leave()

    def leave(self) -> None:
        """Raises what ends the program: Cancelled after SIGTERM, KeyboardInterrupt after Ctrl-C."""
        raise KeyboardInterrupt if self.heard == signal.SIGINT else Cancelled

    @contextmanager
    def obeyed_at_once(self) -> Iterator[None]:
        """A block that may be left anywhere, for it changes nothing; it is not entered when a signal has come."""
        if self.heard:
            self.leave()
        self.at_once = True
        try:
            yield
        finally:
            self.at_once = False


@contextmanager
def on_signals() -> Iterator[Wish]:
    """Take note of SIGTERM and Ctrl-C instead of dying of them.

    Only the main thread hears signals: in another one this changes nothing, and none ever comes.
    """
    wish = Wish()
    if threading.current_thread() is not threading.main_thread():
        yield wish
        return
    before = {number: signal.signal(number, wish.hear) for number in SIGNALS}
    try:
        yield wish
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)  # None: one that Python does not know
