"""The machine on which a figure was measured, the memory that it took, and what only its system can do."""

import contextlib
import ctypes
import os
import platform
import signal
import subprocess
import sys
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from recsys import paths

MEMORY = Path("/proc/meminfo")
GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")
PR_SET_PDEATHSIG = 1  # from sys/prctl.h
PACKAGES = ("torch", "numpy", "pandas", "scipy", "implicit")


def describe() -> dict[str, Any]:
    """Everything that moves a figure apart from the code, as JSON."""
    return {
        "cpu": _cpu(),
        "cores": cores(),
        "threads": os.environ.get("OMP_NUM_THREADS", "all"),
        "load": round(os.getloadavg()[0], 1),  # processes running or waiting in the last minute, ours included
        "gpu": gpu() or None,
        "system": f"{platform.system()} {platform.machine()}",
        **versions(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
    }


def line(machine: dict[str, Any]) -> str:
    """A described machine in one line."""
    hardware = f"{machine['cores']} cores of {machine['cpu']}" + (f", {machine['gpu']}" if machine["gpu"] else "")
    versions = ", ".join(f"{name} {machine[name]}" for name in ("python", *PACKAGES) if name in machine)
    return f"{hardware}, load {machine['load']}; {versions}; {machine['date']}, commit {machine['commit'] or 'unknown'}"


def free_memory() -> float:
    """Bytes that this process can still allocate: what is left on the machine, or in its control group if less.

    inf where neither is known.
    """
    left = [float("inf")]
    with contextlib.suppress(OSError, IndexError, ValueError):
        left.append(int(MEMORY.read_text().partition("MemAvailable:")[2].split()[0]) * 1024)
    for group in _memory_groups():
        left += [_left_in(group, "memory.max", "memory.current")]
        left += [_left_in(group, "memory.limit_in_bytes", "memory.usage_in_bytes")]  # version 1
    return min(left)


def _memory_groups() -> list[Path]:
    """Folders that may hold our limit: the roots (in a container, its own group) and those that the kernel names."""
    found = [GROUPS, GROUPS / "memory"]
    with contextlib.suppress(OSError):
        for row in OWN_GROUPS.read_text().splitlines():  # "4:memory:/a/b", in version 2 "0::/a/b"
            _, kinds, path = row.split(":", 2)
            if "memory" in kinds.split(",") or not kinds:
                found.append(GROUPS / kinds / path.strip("/"))
    return found


def _left_in(group: Path, limit: str, used: str) -> float:
    """Bytes left in a control group, file pages counted as free; inf where it sets no limit ("max")."""
    with contextlib.suppress(OSError, ValueError):
        statistics = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        pages = int(statistics.get("total_inactive_file", statistics.get("inactive_file", 0)))
        return max(int((group / limit).read_text()) - int((group / used).read_text()) + pages, 0)
    return float("inf")


def _cpu() -> str:
    """The processor's name."""
    with contextlib.suppress(OSError):
        for row in Path("/proc/cpuinfo").read_text().splitlines():
            if row.startswith("model name"):
                return row.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def gpu() -> str:
    """The name of the first GPU, "" where the driver knows none."""
    return _first_line("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")


def end_with_parent() -> None:
    """In a new process: have Linux tell it to end when its parent is gone, even if that was killed (man 2 prctl)."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def versions() -> dict[str, str]:
    """The versions of Python and of the installed packages that may move a figure."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found


def commit() -> str:
    """The commit of this code, "-dirty" with changes on top; "" where there is no repository.

    Results and trials that were shipped since are no changes: they are what the code measured, not a part of it.
    """
    repository = str(paths.REPOSITORY)
    code = ("--", ".", *(f":!{folder}" for folder in paths.MEASURED))
    head = _first_line("git", "-C", repository, "rev-parse", "--short=12", "HEAD")
    changed = _first_line("git", "-C", repository, "status", "--porcelain", "--untracked-files=no", *code)
    return f"{head}-dirty" if changed else head


def _first_line(*command: str) -> str:
    """The first line that a program prints, "" where it is missing or fails."""
    try:
        printed = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
    return printed.partition("\n")[0].strip()
