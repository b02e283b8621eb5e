"""The runner, a process that runs waiting jobs. For each job, it runs the command `train` in a process of its own."""

import os
import signal
import sys
import time
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from subprocess import DEVNULL, Popen, TimeoutExpired

from filelock import FileLock, Timeout

from recsys import machine, paths
from recsys.errors import Message
from recsys.jobs import queue
from recsys.jobs.queue import OUTPUT, PROGRESS, Job, State

POLL_SECONDS = 0.2  # between two checks whether the user has stopped the job
STOP_TIMEOUT_SECONDS = 10.0  # between SIGTERM and SIGKILL
MAX_REASON_BYTES = 1 << 12  # read from the end of the output of a failed training
NICENESS = 5  # of a training, so that the pages stay fast
# exit codes of a training that handled SIGTERM, and of a training that ended before it could handle the signal
SIGTERM_EXIT_CODES = (143, -signal.SIGTERM)


def run() -> None:
    """Run waiting jobs one after the other. Return at once if `queue.max_running` runners are active."""
    # The condition is checked again after the slot is released, because a job may have been added after `_run_next`.
    while any(job.state is State.WAITING for job in queue.jobs()):
        slot = _lock_slot()
        if slot is None:
            return
        with slot:
            while _run_next():
                pass


def _lock_slot() -> AbstractContextManager[object] | None:
    """Lock one of the `queue.max_running` slot files and return the lock, or None if other runners hold all slots."""
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
        if code == 0:
            queue.end(job, State.DONE)
        elif queue.is_stopping(job) or code in SIGTERM_EXIT_CODES:
            queue.end(job, State.STOPPED)
        else:
            queue.end(job, State.FAILED, _reason(code, job.folder / OUTPUT))
        return True


def _train(job: Job) -> int:
    """Train in a new process and return its exit code.

    When the user stops the job, the process gets SIGTERM, and SIGKILL after STOP_TIMEOUT_SECONDS.
    """
    mode = "ab" if job.resume else "wb"
    with (job.folder / PROGRESS).open(mode) as events, (job.folder / OUTPUT).open("wb") as output:
        training = Popen(
            command(job), cwd=paths.REPOSITORY, stdin=DEVNULL, stdout=events, stderr=output, preexec_fn=_prepare_process
        )
    kill_time: float | None = None  # when the process is killed; None: SIGTERM was not sent
    while True:
        with suppress(TimeoutExpired):
            return training.wait(POLL_SECONDS)
        if kill_time is None and queue.is_stopping(job):
            training.terminate()
            kill_time = time.monotonic() + STOP_TIMEOUT_SECONDS
        elif kill_time is not None and time.monotonic() > kill_time:
            training.kill()


def command(job: Job) -> list[str]:
    """Return the command line that trains a job."""
    options = ["--dataset", job.dataset, "--protocol", job.protocol, "--seed", str(job.seed), "--device", job.device]
    if job.resume and (job.checkpoint / paths.STATE).exists():
        options.append("--resume")
    for setting, value in job.changes.items():
        name = setting.replace("_", "-")
        if isinstance(value, bool):
            options.append(f"--{name}" if value else f"--no-{name}")
        else:
            options.append(f"--{name}={value}")
    return [sys.executable, "-m", "recsys", "train", job.variant, *options, "--json"]


def _prepare_process() -> None:
    """Lower the priority of the new process, and end it when the runner ends (Linux)."""
    os.nice(NICENESS)
    machine.terminate_with_parent()


def _reason(code: int, output: Path) -> Message:
    """Return why a training failed: a signal, or the last line of its output."""
    if code < 0:  # a signal ended the process
        text = "the signal {signal} ended it, perhaps because memory ran out"
        return Message(text, signal=signal.Signals(-code).name)
    with output.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - MAX_REASON_BYTES))
        lines = file.read().decode("utf-8", errors="replace").strip().split("\n")
    last_line = lines[-1].strip()
    return Message.literal(last_line) if last_line else Message("it ended with exit code {code}", code=code)
