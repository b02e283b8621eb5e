"""The memory of this process: how the C library manages it, and the peak so far."""

import contextlib
import ctypes
import sys
from pathlib import Path

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4  # from malloc.h
TRIM_THRESHOLD_BYTES, TOP_PAD_BYTES = 1 << 30, 64 << 20


def tune_malloc() -> None:
    """Make glibc reuse freed blocks instead of returning them to the kernel; do nothing under another C library.

    A training step frees and allocates the same few megabytes again and again. Fetching these pages from the kernel
    takes a tenth of the step, and more on virtual machines.
    """
    if not sys.platform.startswith("linux"):
        return
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return
    mallopt(M_MMAP_MAX, 0)
    mallopt(M_TRIM_THRESHOLD, TRIM_THRESHOLD_BYTES)
    mallopt(M_TOP_PAD, TOP_PAD_BYTES)


def peak_memory_mb() -> float:
    """Return the peak memory of this process so far, in MB (10⁶ bytes)."""
    with contextlib.suppress(OSError):  # Linux, where getrusage includes the memory of the parent before the fork
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6
    import resource  # here, because Windows has none

    unit_bytes = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit_bytes / 1e6
