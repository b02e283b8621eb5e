"""The queue of training runs on disk. Whoever looks at it sees the same: pages, the command line, the runner.

Under `paths.jobs()`, a folder for each: job.json (a sealed `Job`), progress.jsonl (what the training reports, an event
a line), output.txt (what else it says). All changes are made under the lock of the folder above them. Nobody asks for
the number of a process: the runner holds a lock as long as it carries a job out, and the system lets go of it when the
runner ends, however it ends.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import pandas as pd

from recsys import paths, storage
from recsys.config import Seed, replace_settings
from recsys.config import check as check_setting
from recsys.data import datasets
from recsys.errors import RecsysError
from recsys.evaluation import protocols, results
from recsys.models import registry

AT_ONCE = "NEXTREEL_TRAININGS"  # how many are carried out at the same time, 1 unless set
MOST_WAITING = 20  # jobs in the queue
MAX_FILE_BYTES = 1 << 20  # of job.json
END_OF_TIME = 253_402_300_800.0  # the year 10000, in seconds since 1970: beyond it no time can be shown
FILE, PROGRESS, OUTPUT, LOCK = "job.json", "progress.jsonl", "output.txt", "runner.lock"
RUNNER_LOG = "runner.log"  # beside the jobs: what a runner says when it fails itself


class JobError(RecsysError):
    """Something that cannot be done with a training run."""


class State(StrEnum):
    """How far a training run is."""

    WAITING = "waiting"
    RUNNING = "running"
    STOPPING = "stopping"  # told to end; its state is being kept
    STOPPED = "stopped"
    INTERRUPTED = "cut off"  # its process is gone, and nobody knows why: a restart of the machine, or too little memory
    FAILED = "failed"
    DONE = "done"
    DAMAGED = "damaged"  # job.json cannot be read


ACTIVE = (State.WAITING, State.RUNNING, State.STOPPING)
RESUMABLE = (State.STOPPED, State.INTERRUPTED, State.FAILED)


@dataclass(frozen=True)
class Job:
    """A training run: what is trained, and how far it is. Times are seconds since 1970."""

    id: str
    variant: str = ""
    dataset: str = ""
    protocol: str = "full"
    seed: int = 0
    changes: Mapping[str, Any] = field(default_factory=dict)  # settings other than those tuned for the data set
    device: str = "auto"
    state: State = State.WAITING
    resume: bool = False  # go on where it was
    queued: float = 0.0
    started: float | None = None  # for the last time
    ended: float | None = None
    error: str = ""  # why it failed, in a line

    @property
    def folder(self) -> Path:
        """Where it is kept."""
        return paths.jobs() / self.id

    @property
    def trains(self) -> tuple[Any, ...]:
        """The checkpoint that it makes: no two may make the same one at a time."""
        return self.variant, self.dataset, protocols.get(self.protocol).splitting.name, self.seed


@dataclass(frozen=True, eq=False)
class Progress:
    """How far a training is."""

    curve: pd.DataFrame  # a row per epoch so far: epoch, epochs, loss, ndcg@10 where it was validated, seconds, …
    seconds_left: float | None  # at most: validation may end it earlier; None: nobody knows yet

    @property
    def epochs(self) -> tuple[int, int]:
        """Epochs so far, and all of them at most; 0, 0 before the first has ended."""
        return (0, 0) if self.curve.empty else (int(self.curve["epoch"].iloc[-1]), int(self.curve["epochs"].iloc[-1]))

    @property
    def share(self) -> float:
        """How much is done, 0…1."""
        done, all_of_them = self.epochs
        return min(1.0, max(0.0, done / all_of_them)) if all_of_them else 0.0

    @property
    def best(self) -> tuple[int, float] | None:
        """The epoch with the best validation so far, and its NDCG@10; None before the first."""
        if "ndcg@10" not in self.curve:
            return None
        ndcg = pd.to_numeric(self.curve["ndcg@10"], errors="coerce").dropna()
        if ndcg.empty:
            return None
        return int(self.curve.loc[ndcg.idxmax(), "epoch"]), float(ndcg.max())


def allowed() -> bool:
    """Whether people may train here: unless the server is a public one, or the system has no locks."""
    return not paths.is_public() and storage.has_locks()


def jobs() -> list[Job]:
    """Every training run, in the order of the queue; those that ended keep the place they had."""
    if not paths.jobs().is_dir():
        return []
    with storage.locked(paths.jobs()):
        return _jobs()


def add(
    variant: str,
    dataset: str,
    protocol: str = "",
    seed: int = 0,
    changes: Mapping[str, Any] | None = None,
    device: str = "auto",
) -> Job:
    """Put a training run at the end of the queue, and see to it that the queue is worked off.

    protocol: what is to measure it; "": the one whose training part the app answers from.
    Raises UnknownModelError, DataError for a set that is not here, ConfigError for settings that cannot work, and
    JobError where the same recommender is being trained already, or nobody may.
    """
    _refuse()
    check_setting(Seed, seed=seed)
    check(variant, dataset, changes or {})
    datasets.ensure(dataset)
    with _plain_disk_errors():
        paths.jobs().mkdir(parents=True, exist_ok=True)
    with storage.locked(paths.jobs()):
        what = (variant, dataset, protocol or _served_by(dataset), seed, dict(changes or {}), device)
        job = Job(_new_id(), *what, queued=time.time())
        _refuse_twice(job)
        _write(job)
    start_runner()
    return job


def check(variant: str, dataset: str, changes: Mapping[str, Any]) -> None:
    """Raises UnknownModelError, and ConfigError for settings that cannot work."""
    replace_settings(registry.get(variant).preset(dataset), changes)


def check_idle(dataset: str) -> None:
    """Raise JobError while a training for a data set waits or goes on, in the app or on the command line."""
    queued = any(job.dataset == dataset and job.state in ACTIVE for job in jobs())
    if queued or any(_is_locked(lock) for folder in paths.dataset_folders(dataset) for lock in folder.rglob("*.lock")):
        raise JobError(f"a recommender is being trained for {dataset}; stop that first, or wait for its end")


def _is_locked(path: Path) -> bool:
    """Whether a process holds a lock file, as a training does in the folder of its checkpoint."""
    with storage.try_locked(path) as is_free:
        return not is_free


def stop(job_id: str) -> None:
    """Take a job out of the queue, or have its training keep its state and end, within seconds."""
    _refuse()
    with _known(job_id) as job:
        if job.state is State.WAITING:
            _write(replace(job, state=State.STOPPED, ended=time.time()))
        elif job.state is State.RUNNING:
            _write(replace(job, state=State.STOPPING))  # the runner sees it and tells the training


def resume(job_id: str) -> None:
    """Put a job that ended before its time at the end of the queue; it goes on where it was, if it can."""
    _refuse()
    with _known(job_id) as job:
        if job.state not in RESUMABLE:
            raise JobError(f"training {job.id} is {job.state}, so it cannot be resumed")
        _refuse_twice(job)
        _write(replace(job, state=State.WAITING, resume=True, queued=time.time(), started=None, ended=None, error=""))
    start_runner()


def remove(job_id: str) -> None:
    """Forget a job that is over. What it has learnt stays, finished or half-way."""
    _refuse()
    with _known(job_id) as job:
        if job.state in ACTIVE:
            raise JobError(f"training {job.id} is {job.state}; stop it before you remove it")
        with _plain_disk_errors():
            shutil.rmtree(job.folder)


def progress(job: Job) -> Progress:
    """How far a job is."""
    path = job.folder / PROGRESS
    try:
        curve, reported = results.epochs(path, ("epoch", "epochs")), path.stat().st_mtime
    except OSError:  # not begun, or removed
        return Progress(pd.DataFrame({"epoch": []}), None)
    left = pd.to_numeric(curve.get("seconds_left", pd.Series(dtype=float)), errors="coerce")
    if job.state is not State.RUNNING or left.empty or pd.isna(left.iloc[-1]) or (job.started or 0) > reported:
        return Progress(curve, None)
    return Progress(curve, max(0.0, float(left.iloc[-1]) - (time.time() - reported)))


def start_runner() -> None:
    """Start a process that works the queue off, where something waits and not enough of them are at it.

    It belongs to no page and no server, so it goes on when they end. One too many ends at once.
    """
    now = [job.state for job in jobs()]
    at_work = sum(state in (State.RUNNING, State.STOPPING) for state in now)
    if State.WAITING not in now or at_work >= at_once() or not allowed():
        return
    with _plain_disk_errors(), (paths.jobs() / RUNNER_LOG).open("ab") as log:
        subprocess.Popen(
            [sys.executable, "-m", "recsys.jobs"],
            cwd=paths.REPOSITORY,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def at_once() -> int:
    """How many jobs are carried out at the same time."""
    asked = os.environ.get(AT_ONCE, "1")
    return max(1, int(asked)) if asked.isdecimal() else 1


@contextmanager
def claim_next() -> Iterator[Job | None]:
    """For a runner: the job that has waited longest, which is running inside the block; None where none waits."""
    with ExitStack() as held:
        with storage.locked(paths.jobs()):
            job = next((job for job in _jobs() if job.state is State.WAITING), None)
            if job:
                held.enter_context(storage.try_locked(job.folder / LOCK))
                job = replace(job, state=State.RUNNING, started=time.time())
                _write(job)
        yield job


def end(job: Job, state: State, error: str = "") -> None:
    """For a runner: note how a job ended."""
    with storage.locked(paths.jobs()):
        _write(replace(job, state=state, ended=time.time(), error=error))


def is_to_stop(job: Job) -> bool:
    """For a runner: whether somebody has told a job to stop."""
    return _kept(job.folder).state is State.STOPPING


def _jobs() -> list[Job]:
    """Every job, as it is. The caller holds the lock, so that nobody takes our look at a lock for a runner."""
    known = [_read(folder) for folder in paths.jobs().iterdir() if folder.is_dir()]
    return sorted(known, key=lambda job: (job.queued, job.id))


def _read(folder: Path) -> Job:
    """A job as it is: one whose runner is gone was cut off."""
    job = _kept(folder)
    if job.state in (State.RUNNING, State.STOPPING):
        with storage.try_locked(folder / LOCK) as nobody_is_at_it:
            if nobody_is_at_it:
                return replace(job, state=State.STOPPED if job.state is State.STOPPING else State.INTERRUPTED)
    return job


def _kept(folder: Path) -> Job:
    """A job as it was written down."""
    path = folder / FILE
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            return Job(folder.name, state=State.DAMAGED)
        document = storage.read_document(path)
        known = {name: document[name] for name in (setting.name for setting in fields(Job)) if name in document}
        job = Job(**known | {"id": folder.name, "state": State(document["state"])})
        return job if _is_well_formed(job) else Job(folder.name, state=State.DAMAGED)
    except (OSError, storage.DamagedFileError, KeyError, ValueError):
        return Job(folder.name, state=State.DAMAGED)


def _is_well_formed(job: Job) -> bool:
    """Return whether every field of a job that was read has a value that the rest of the program can use."""
    times = (job.queued, *(time for time in (job.started, job.ended) if time is not None))
    return (
        all(type(text) is str for text in (job.variant, job.dataset, job.protocol, job.device, job.error))
        and job.protocol in protocols.PROTOCOLS
        and type(job.seed) is int
        and type(job.resume) is bool
        and all(type(seconds) in (int, float) and 0 <= seconds < END_OF_TIME for seconds in times)
        and isinstance(job.changes, dict)
        and all(type(value) in (bool, int, float, str) for value in job.changes.values())
    )


def _write(job: Job) -> None:
    """Keep a job. The caller holds the lock. Raises JobError where the disk refuses."""
    with _plain_disk_errors():
        storage.replace_file(job.folder / FILE, storage.sign_document(asdict(job)))


@contextmanager
def _plain_disk_errors() -> Iterator[None]:
    """Turn what the disk refuses into a JobError of one line."""
    try:
        yield
    except OSError as error:
        why = f"cannot write {paths.jobs()}: {error.strerror}"
        raise JobError(f"{why}; make room or set RECSYS_HOME to a folder elsewhere") from error


@contextmanager
def _known(job_id: str) -> Iterator[Job]:
    """The job of that name, under the lock. Raises JobError where there is none."""
    with _plain_disk_errors():
        paths.jobs().mkdir(parents=True, exist_ok=True)
    with storage.locked(paths.jobs()):
        known = {job.id: job for job in _jobs()}
        if job_id not in known:
            raise JobError(f"there is no training {job_id}; there are: {', '.join(known) or 'none'}")
        yield known[job_id]


def _served_by(dataset: str) -> str:
    """Return the protocol whose training part the app uses."""
    return datasets.serving_split(dataset).protocol


def _new_id() -> str:
    """A name that no job has: the time, and a number where two come within a second."""
    now, number = time.strftime("%Y%m%d-%H%M%S", time.gmtime()), 1
    while (paths.jobs() / (name := now if number == 1 else f"{now}-{number}")).exists():
        number += 1
    return name


def _refuse() -> None:
    if not allowed():
        raise JobError(f"training in the app is switched off on this server; without {paths.PUBLIC} it is on")


def _refuse_twice(job: Job) -> None:
    """Raises JobError for a job that would make what another one is making, and for one too many."""
    active = [other for other in _jobs() if other.state in ACTIVE]
    if any(other.trains == job.trains for other in active):
        title = registry.get(job.variant).title
        raise JobError(f"{title} is already being trained for {job.dataset}; stop that first, or wait for its end")
    if len(active) >= MOST_WAITING:
        raise JobError(f"{len(active)} trainings are waiting, which is enough for now; come back when some are done")
