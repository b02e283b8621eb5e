"""Describe this machine and its software for measurements, estimate free memory, and end a process with its parent."""

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

MEMORY_FILE = Path("/proc/meminfo")
CONTROL_GROUPS = Path("/sys/fs/cgroup")
OWN_CONTROL_GROUPS = Path("/proc/self/cgroup")  # the groups of this process
PR_SET_PDEATHSIG = 1  # from sys/prctl.h
PACKAGES = ("torch", "numpy", "pandas", "scipy", "implicit")


def describe() -> dict[str, Any]:
    """Return the hardware, load, versions, date and commit of a measurement, as a JSON document."""
    return {
        "cpu": _cpu(),
        "cores": cores(),
        "threads": os.environ.get("OMP_NUM_THREADS", "all"),
        "load": round(os.getloadavg()[0], 1),  # processes running or waiting in the last minute, this one included
        "gpu": gpu() or None,
        "system": f"{platform.system()} {platform.machine()}",
        **versions(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
    }


def format_description(machine: dict[str, Any]) -> str:
    """Format a result of `describe` as one line."""
    hardware = f"{machine['cores']} cores of {machine['cpu']}" + (f", {machine['gpu']}" if machine["gpu"] else "")
    software = ", ".join(f"{name} {machine[name]}" for name in ("python", *PACKAGES) if name in machine)
    return f"{hardware}, load {machine['load']}; {software}; {machine['date']}, commit {machine['commit'] or 'unknown'}"


def free_memory() -> float:
    """Return the number of bytes that this process can still allocate. Returns inf if it is unknown.

    RAM and the control groups of the process limit it.
    """
    free_bytes = [float("inf")]
    with contextlib.suppress(OSError, IndexError, ValueError):
        free_bytes.append(int(MEMORY_FILE.read_text().partition("MemAvailable:")[2].split()[0]) * 1024)
    groups = [CONTROL_GROUPS, CONTROL_GROUPS / "memory"]  # in a container, these have the limits of the container
    with contextlib.suppress(OSError):
        for row in OWN_CONTROL_GROUPS.read_text().splitlines():  # version 1: "4:memory:/a/b", version 2: "0::/a/b"
            _, controllers, path = row.split(":", 2)
            if "memory" in controllers.split(",") or not controllers:
                groups.append(CONTROL_GROUPS / controllers / path.strip("/"))
    for group in groups:
        free_bytes.append(_free_in_group(group, "memory.max", "memory.current"))  # version 2
        free_bytes.append(_free_in_group(group, "memory.limit_in_bytes", "memory.usage_in_bytes"))  # version 1
    return min(free_bytes)


def _free_in_group(group: Path, limit_file: str, usage_file: str) -> float:
    """Return the free bytes of a control group, inf if it has no limit. Cached files that are not in use are free."""
    with contextlib.suppress(OSError, ValueError):  # int("max") raises ValueError
        statistics = dict(row.split() for row in (group / "memory.stat").read_text().splitlines())
        cache_bytes = int(statistics.get("total_inactive_file", statistics.get("inactive_file", 0)))
        limit, usage = (int((group / name).read_text()) for name in (limit_file, usage_file))
        return max(limit - usage + cache_bytes, 0)
    return float("inf")


def _cpu() -> str:
    """Return the name of the processor."""
    with contextlib.suppress(OSError):
        for row in Path("/proc/cpuinfo").read_text().splitlines():
            if row.startswith("model name"):
                return row.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def gpu() -> str:
    """Return the name of the first GPU, or "" if there is none."""
    return _first_line("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")


def terminate_with_parent() -> None:
    """Make Linux send SIGTERM to this new process when its parent ends, even by SIGKILL (man 2 prctl)."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def versions() -> dict[str, str]:
    """Return name → version of Python and of the installed PACKAGES, which affect a measurement."""
    version_by_name = {"python": platform.python_version()}
    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            version_by_name[package] = metadata.version(package)
    return version_by_name


def commit() -> str:
    """Return the commit of this code, with "-dirty" if files have changed; "" if there is no repository.

    Changes to shipped results and trials do not count, because they are output of the code.
    """
    repository = str(paths.REPOSITORY)
    pathspec = ("--", ".", *(f":!{folder}" for folder in paths.RESULT_FOLDERS))  # ":!": except
    head = _first_line("git", "-C", repository, "rev-parse", "--short=12", "HEAD")
    changed = _first_line("git", "-C", repository, "status", "--porcelain", "--untracked-files=no", *pathspec)
    return f"{head}-dirty" if changed else head


def _first_line(*command: str) -> str:
    """Return the first line that a program prints, or "" if the program is missing or fails."""
    try:
        output = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
    return output.partition("\n")[0].strip()
