"""Runs waiting jobs. Each job is a process of the command `train`, which the runner can ask to stop."""

import os
import signal
import subprocess
import sys
import time
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from recsys import machine, paths
from recsys.jobs import queue
from recsys.jobs.queue import OUTPUT, PROGRESS, Job, State

POLL_SECONDS = 0.2  # between two checks whether a job is to stop
STOP_TIMEOUT_SECONDS = 10.0  # then a training that was asked to stop is killed
MAX_REASON_BYTES = 1 << 12  # read from the end of the output of a failed training
NICENESS = 5  # of a training, so that the pages stay fast
SIGTERM_EXIT_CODES = (143, -signal.SIGTERM)  # during the training, and before it


def run() -> None:
    """Run waiting jobs one after the other. Return at once if enough runners are active."""
    while any(job.state is State.WAITING for job in queue.jobs()):  # repeated, for a job that came before the release
        slot = _take_slot()
        if slot is None:
            return
        with slot:
            while _run_next():
                pass


def _take_slot() -> AbstractContextManager[object] | None:
    """Return a free runner slot, already locked until the end of a `with` block; None if all slots are taken."""
    for number in range(queue.max_running()):
        with suppress(Timeout):
            return FileLock(paths.jobs() / f"slot-{number}.lock").acquire(blocking=False)
    return None


def _run_next() -> bool:
    """Run the job that has waited longest. Return False if no job waits."""
    with queue.claim_next() as job:
        if job is None:
            return False
        code = _train(job)
        stopped = code and (queue.is_to_stop(job) or code in SIGTERM_EXIT_CODES)
        state = State.STOPPED if stopped else State.FAILED if code else State.DONE
        queue.end(job, state, _reason(code, job.folder / OUTPUT) if state is State.FAILED else "")
        return True


def _train(job: Job) -> int:
    """Train in another process and return its exit code. It gets SIGTERM when the job is to stop, SIGKILL later."""
    mode = "ab" if job.resume else "wb"
    with (job.folder / PROGRESS).open(mode) as events, (job.folder / OUTPUT).open("wb") as output:
        training = subprocess.Popen(
            command(job),
            cwd=paths.REPOSITORY,
            stdin=subprocess.DEVNULL,
            stdout=events,
            stderr=output,
            preexec_fn=_prepare_process,
        )
    stop_time: float | None = None
    while True:
        try:
            return training.wait(POLL_SECONDS)
        except subprocess.TimeoutExpired:
            if stop_time is None and queue.is_to_stop(job):
                training.terminate()
                stop_time = time.monotonic()
            elif stop_time is not None and time.monotonic() - stop_time > STOP_TIMEOUT_SECONDS:
                training.kill()


def command(job: Job) -> list[str]:
    """Return the command line that trains a job."""
    options = ["--dataset", job.dataset, "--protocol", job.protocol, "--seed", str(job.seed), "--device", job.device]
    options += [_flag(name.replace("_", "-"), value) for name, value in job.changes.items()]
    return [sys.executable, "-m", "recsys", "train", job.variant, *options, "--json", *["--resume"] * job.resume]


def _flag(name: str, value: object) -> str:
    """Return a setting as a command-line flag."""
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no-{name}"
    return f"--{name}={value}"


def _prepare_process() -> None:
    """Lower the priority of the new process, and end it when the runner ends (Linux)."""
    os.nice(NICENESS)
    machine.terminate_with_parent()


def _reason(code: int, output: Path) -> str:
    """Return why a training failed: the last line of its output."""
    if code < 0:
        return f"it was ended from outside ({signal.Signals(-code).name}), perhaps for want of memory"
    with output.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - MAX_REASON_BYTES))
        lines = file.read().decode("utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), f"it ended with exit code {code}")
