"""Tune the memory allocator of this process, measure its peak memory, and record signals that stop a training."""

import contextlib
import ctypes
import resource
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from recsys.progress import Cancelled

# parameters of mallopt, from malloc.h
M_TRIM_THRESHOLD = -1  # free bytes at the end of the heap that glibc keeps
M_TOP_PAD = -2  # bytes by which the heap grows more than necessary
M_MMAP_MAX = -4  # number of blocks outside the heap, which are returned to the kernel when they are freed
M_ARENA_MAX = -8  # number of heaps

TRAINING_TRIM_BYTES = 1 << 30
SERVING_TRIM_BYTES = 128 << 10  # the default of glibc; when it is set, glibc does not raise it
TOP_PAD_BYTES = 64 << 20


def tune_malloc_for_training() -> None:
    """Make glibc reuse freed blocks instead of returning them to the kernel.

    Each training step frees and allocates a few megabytes. Fetching these pages from the kernel takes a tenth of the
    step, and more on virtual machines.
    """
    _set_malloc_options({M_MMAP_MAX: 0, M_TRIM_THRESHOLD: TRAINING_TRIM_BYTES, M_TOP_PAD: TOP_PAD_BYTES})


def tune_malloc_for_serving() -> None:
    """Make glibc return large freed blocks to the kernel, and keep two heaps for all threads instead of one per thread.

    Each page run has its own thread. With the defaults of glibc, a server with the default recommender needs 80 MB
    more.
    """
    _set_malloc_options({M_ARENA_MAX: 2, M_TRIM_THRESHOLD: SERVING_TRIM_BYTES})


def _set_malloc_options(values: Mapping[int, int]) -> None:
    """Set parameters of mallopt. Without glibc, nothing changes."""
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            mallopt = ctypes.CDLL("libc.so.6").mallopt
            for parameter, value in values.items():
                mallopt(parameter, value)


def peak_memory_mb() -> float:
    """Return the peak memory of this process so far, in MB (10⁶ bytes)."""
    with contextlib.suppress(OSError, IndexError):  # IndexError: the kernel does not list VmHWM
        # on Linux, getrusage includes the memory of the parent before the fork
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6
    unit_bytes = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit_bytes / 1e6


class StopRequest:
    """Record SIGTERM or SIGINT so that the training loop can stop after the current step.

    Use it in a `with` block. Only the main thread gets signals, so a block in another thread records none.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self.raises_immediately = False
        self.previous_handlers: dict[int, Any] = {}

    def __enter__(self) -> Self:
        """Install the handlers."""
        if threading.current_thread() is threading.main_thread():
            signals = (signal.SIGTERM, signal.SIGINT)
            self.previous_handlers = {number: signal.signal(number, self.handle) for number in signals}
        return self

    def __exit__(self, *_: object) -> None:
        """Restore the previous handlers."""
        for number, handler in self.previous_handlers.items():
            signal.signal(number, handler or signal.SIG_DFL)  # None: the handler was not installed from Python

    def handle(self, number: int, *_: Any) -> None:
        """Record a signal. A second Ctrl-C, or any signal in a block of `immediate`, raises an exception at once."""
        self.signal = number
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if self.raises_immediately:
            self.raise_exception()

    def raise_exception(self) -> None:
        """Raise KeyboardInterrupt after SIGINT, and Cancelled otherwise."""
        raise KeyboardInterrupt if self.signal == signal.SIGINT else Cancelled

    @contextlib.contextmanager
    def immediate(self) -> Iterator[None]:
        """Let a signal interrupt the block at any point. The block must not have side effects."""
        self.raises_immediately = True
        try:
            if self.signal is not None:
                self.raise_exception()
            yield
        finally:
            self.raises_immediately = False
