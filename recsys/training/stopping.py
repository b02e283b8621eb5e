"""SIGTERM while a network learns: the step at hand is finished and its state kept before the program leaves."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def on_sigterm() -> Iterator[Callable[[], bool]]:
    """Take note of SIGTERM instead of dying of it; yields whether it has come.

    Only the main thread hears signals: in another one this changes nothing, and it never comes.
    """
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return
    before = signal.signal(signal.SIGTERM, lambda *_: asked.set())
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)  # None: one that Python does not know
