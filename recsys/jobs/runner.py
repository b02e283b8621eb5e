"""What works the queue off: for each job, a process that trains (`recsys train`), and one eye on whether to stop it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recsys import machine, paths, storage
from recsys.jobs import queue
from recsys.jobs.queue import OUTPUT, PROGRESS, Job, State

LOOK = 0.2  # seconds between two looks at whether a job is to stop
STOP_TIMEOUT_SECONDS = (
    10.0  # seconds that a training has to keep its state; then it is killed, and goes on from the state before
)
MAX_REASON_BYTES = 1 << 12  # at the end of the output of a failed training
NICE = 5  # of a training: whoever looks at a page goes first
TOLD_TO_END = (143, -signal.SIGTERM)  # exit codes of a training that heard SIGTERM while it learnt, or before


def run() -> None:
    """Carry out what waits, one job after the other; at once where others are at it already, nothing."""
    while any(job.state is State.WAITING for job in queue.jobs()):  # asked again after the slot is free for others
        with _slot() as free:
            if not free:
                return
            while _carry_out_next():
                pass


@contextmanager
def _slot() -> Iterator[bool]:
    """One of the places for runners; yields whether there is one left."""
    for number in range(queue.at_once()):
        with storage.try_locked(paths.jobs() / f"slot-{number}.lock") as free:
            if free:
                yield True
                return
    yield False


def _carry_out_next() -> bool:
    """Train what has waited longest; whether something did."""
    with queue.claim_next() as job:
        if job is None:
            return False
        code = _train(job)
        stopped = code and (queue.is_to_stop(job) or code in TOLD_TO_END)
        state = State.STOPPED if stopped else State.FAILED if code else State.DONE
        queue.end(job, state, _reason(code, job.folder / OUTPUT) if state is State.FAILED else "")
        return True


def _train(job: Job) -> int:
    """Train in a process of its own, which is told to end when somebody stops the job; its exit code."""
    with (job.folder / PROGRESS).open("ab" if job.resume else "wb") as events, (job.folder / OUTPUT).open("wb") as said:
        training = subprocess.Popen(
            command(job),
            cwd=paths.REPOSITORY,
            stdin=subprocess.DEVNULL,
            stdout=events,
            stderr=said,
            preexec_fn=_give_way,
        )
    told: float | None = None
    while True:
        try:
            return training.wait(LOOK)
        except subprocess.TimeoutExpired:
            if told is None and queue.is_to_stop(job):
                training.terminate()
                told = time.monotonic()
            elif told is not None and time.monotonic() - told > STOP_TIMEOUT_SECONDS:
                training.kill()


def command(job: Job) -> list[str]:
    """The command line that trains a job."""
    what = ["--dataset", job.dataset, "--protocol", job.protocol, "--seed", str(job.seed), "--device", job.device]
    settings = [_flag(name, value) for name, value in job.changes.items()]
    return [
        *(sys.executable, "-m", "recsys", "train", job.variant, *what, *settings, "--json"),
        *(["--resume"] if job.resume else []),
    ]


def _flag(name: str, value: object) -> str:
    """A setting on the command line."""
    flag = name.replace("_", "-")
    if isinstance(value, bool):
        return f"--{flag}" if value else f"--no-{flag}"
    return f"--{flag}={value}"


def _give_way() -> None:
    """In the process that will train: let others go first, and end when the runner does, however that ends (Linux)."""
    os.nice(NICE)
    machine.terminate_with_parent()


def _reason(code: int, output: Path) -> str:
    """Why a training failed: the last line that it said."""
    if code < 0:
        return f"it was ended from outside ({signal.Signals(-code).name}), perhaps for want of memory"
    with output.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - MAX_REASON_BYTES))
        lines = file.read().decode("utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), f"it ended with exit code {code}")
