"""The queue of training jobs on disk. The pages, the command line and the runner share it.

`paths.jobs()` has a folder per job: job.json (a `Job` as a document with its SHA-256), progress.jsonl (events of the
training, one per line) and output.txt (stderr of the training). All changes are made under the queue lock. The runner
of a job holds the lock of the job. The operating system releases this lock when the runner ends, even by a kill. The
models are imported inside functions, so that `jobs list` is fast.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from filelock import FileLock
from pydantic import Field

from recsys import paths, storage
from recsys.config import Seed, config_class, from_document, replace_settings
from recsys.errors import N_, Message, RecsysError, disk_errors
from recsys.progress import read_epochs

ProtocolName = Literal[  # as in evaluation.protocols.PROTOCOLS, in the same order; a test compares them
    "full", "untied", "short-1", "short-2", "short-3", "short-5", "short-10", "favourites-1", "favourites-2",
    "favourites-3", "favourites-5", "favourites-10", "popularity-100", "uniform-100", "time",
]  # fmt: skip
Changes = Mapping[str, bool | int | float | str]  # setting → value that differs from the preset
Seconds = Annotated[float, Field(ge=0, lt=253_402_300_800)]  # since 1970, before the year 10000, as `datetime` needs

MAX_RUNNING_VARIABLE = "NEXTREEL_TRAININGS"  # environment variable: jobs that run at the same time
MAX_ACTIVE_JOBS = 20
MAX_JOB_FILE_BYTES = 1 << 20
# files in the folder of a job
JOB_FILE = "job.json"
PROGRESS = "progress.jsonl"
OUTPUT = "output.txt"
RUNNER_LOCK = "runner.lock"
# files in the folder of all jobs
QUEUE_LOCK = "queue.lock"
RUNNER_LOG = "runner.log"  # output of the runners


class JobError(RecsysError):
    """A job cannot be added or changed."""


class State(StrEnum):
    """The state of a job. The values are stored in job.json."""

    WAITING = N_("waiting")
    RUNNING = N_("running")
    STOPPING = N_("stopping")  # the training saves its state and ends
    STOPPED = N_("stopped")
    INTERRUPTED = N_("interrupted")  # the runner ended unexpectedly, for example by a restart of the computer
    FAILED = N_("failed")
    DONE = N_("done")
    DAMAGED = N_("damaged")  # job.json cannot be read


ACTIVE = (State.WAITING, State.RUNNING, State.STOPPING)
RESUMABLE = (State.STOPPED, State.INTERRUPTED, State.FAILED)


@config_class
class Job:
    """A training job and its state. Times are in seconds since 1970."""

    id: str
    variant: str = ""
    dataset: str = ""
    protocol: ProtocolName = "full"
    seed: Seed = 0
    changes: Changes = field(default_factory=dict)
    device: str = "auto"
    state: State = State.WAITING
    resume: bool = False  # continue from the saved state of the training
    queued: Seconds = 0.0  # when the job was last appended to the queue
    started: Seconds | None = None  # the latest start
    ended: Seconds | None = None
    error: str | dict[str, Any] = ""  # reason of a failure: a `Message` as a dict; text from older versions

    @property
    def reason(self) -> Message | str:
        """The reason of a failure. Raises ValueError if it is damaged."""
        return Message.from_document(self.error) if isinstance(self.error, dict) else self.error

    @property
    def folder(self) -> Path:
        """The folder with the files of the job."""
        return paths.jobs() / self.id

    @property
    def checkpoint(self) -> Path:
        """The folder of the checkpoint that the training writes."""
        from recsys.evaluation import protocols

        return paths.checkpoint(self.dataset, protocols.get(self.protocol).splitting.name, self.variant, self.seed)


@dataclass(frozen=True)
class Progress:
    """The progress of a training."""

    events: list[dict[str, Any]]  # one per finished epoch: epoch, epochs (the maximum), loss, ndcg@10 if validated …
    seconds_left: float | None  # upper limit, because validation may stop a training early; None: unknown

    @property
    def n_epochs(self) -> int:
        """The number of finished epochs."""
        return int(self.events[-1]["epoch"]) if self.events else 0

    @property
    def max_epochs(self) -> int:
        """The maximum number of epochs, 0 before the first epoch has ended."""
        return int(self.events[-1]["epochs"]) if self.events else 0

    @property
    def share(self) -> float:
        """The share of the epochs that is finished, 0 to 1."""
        return min(1.0, max(0.0, self.n_epochs / self.max_epochs)) if self.max_epochs else 0.0

    @property
    def best(self) -> tuple[int, float] | None:
        """The epoch with the highest validation NDCG@10, and that NDCG@10; None before the first validation."""
        validations = [(int(event["epoch"]), float(event["ndcg@10"])) for event in self.events if "ndcg@10" in event]
        return max(validations, key=lambda validation: validation[1], default=None)


def jobs() -> list[Job]:
    """Return all jobs in queue order. Jobs that have ended keep their position."""
    if not paths.jobs().is_dir():
        return []
    with suppress(OSError), FileLock(paths.jobs() / QUEUE_LOCK):
        return _read_jobs()
    return _read_jobs()  # on a read-only disk there is no lock, but no process changes the queue


def add(
    variant: str, dataset: str, protocol: str = "", seed: int = 0, changes: Changes | None = None, device: str = "auto"
) -> Job:
    """Append a job to the queue, start a runner if necessary, and return the job.

    Without `protocol`, the job uses the protocol with the training part of the app's recommenders, see
    `datasets.serving_splitting`. Raises UnknownModelError, ConfigError for a setting that is not allowed, DataError if
    the data set is missing, and JobError if the queue does not accept the job.
    """
    from recsys.data import datasets

    _check_not_public()
    check_changes(variant, dataset, changes or {})
    datasets.ensure(dataset)
    job_protocol: Any = protocol or datasets.serving_splitting(dataset).protocol  # `Job` validates it
    with _locked_queue() as all_jobs:
        created = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        job_id, number = created, 1
        while (paths.jobs() / job_id).exists():  # another job of the same second
            number += 1
            job_id = f"{created}-{number}"
        job = Job(
            id=job_id,
            variant=variant,
            dataset=dataset,
            protocol=job_protocol,
            seed=seed,
            changes=changes or {},
            device=device,
            queued=time.time(),
        )
        _check_can_queue(job, all_jobs)
        _write(job)
    start_runner()
    return job


def check_changes(variant: str, dataset: str, changes: Changes) -> None:
    """Raise UnknownModelError or ConfigError if a recommender cannot be trained with these changes of its preset."""
    from recsys.models import registry

    replace_settings(registry.get(variant).preset(dataset), changes)


def check_idle(dataset: str) -> None:
    """Raise JobError if a training for a data set waits or runs, in the app or on the command line."""
    has_job = any(job.dataset == dataset and job.state in ACTIVE for job in jobs())
    # trainings on the command line and trials lock a file in these folders
    lock_files = (file for folder in paths.dataset_folders(dataset) for file in folder.rglob("*.lock"))
    if has_job or any(is_locked(file) for file in lock_files):
        text = "a recommender is being trained for {dataset}; stop the training first, or wait until it ends"
        raise JobError(text, dataset=dataset)


def is_locked(path: Path) -> bool:
    """Return whether a process holds a lock file. Returns False on a read-only disk."""
    with suppress(OSError), storage.try_locked(path) as is_free:
        return not is_free
    return False


def stop(job_id: str) -> None:
    """Remove a waiting job from the queue, or make a running training save its state and end."""
    with _locked_job(job_id) as (job, _):
        if job.state is State.WAITING:
            _write(replace(job, state=State.STOPPED, ended=time.time()))
        elif job.state is State.RUNNING:
            _write(replace(job, state=State.STOPPING))  # the runner polls this state


def resume(job_id: str) -> None:
    """Append a job that ended early to the queue again. It continues from its saved state, if any."""
    with _locked_job(job_id) as (job, all_jobs):
        if job.state not in RESUMABLE:
            text = "training run {id} cannot be resumed: its state is “{state}”"
            raise JobError(text, id=job.id, state=Message(job.state))
        _check_can_queue(job, all_jobs)
        _write(replace(job, state=State.WAITING, resume=True, queued=time.time(), started=None, ended=None, error=""))
    start_runner()


def remove(job_id: str) -> None:
    """Delete a job that is not active. Its checkpoint stays."""
    with _locked_job(job_id) as (job, _):
        if job.state in ACTIVE:
            text = "the state of training run {id} is “{state}”; stop it before you remove it"
            raise JobError(text, id=job.id, state=Message(job.state))
        shutil.rmtree(job.folder)


def progress(job: Job) -> Progress:
    """Return the progress of a job, without events if its training has not finished an epoch."""
    path = job.folder / PROGRESS
    seconds_left = None
    events: list[dict[str, Any]] = []
    with suppress(OSError):  # not started, or removed
        events = [event for event in read_epochs(path) if "epochs" in event]
        last_event_time = path.stat().st_mtime
        # False if the last event comes from an earlier run of the job
        is_current = job.state is State.RUNNING and last_event_time >= (job.started or 0)
        if is_current and events and "seconds_left" in events[-1]:
            seconds_left = max(0.0, events[-1]["seconds_left"] - (time.time() - last_event_time))
    return Progress(events, seconds_left)


def start_runner() -> None:
    """Start a runner if jobs wait and fewer than `max_running` run. The runner does not end with the app."""
    states = [job.state for job in jobs()]
    n_running = sum(state in (State.RUNNING, State.STOPPING) for state in states)
    if State.WAITING not in states or n_running >= max_running() or paths.is_public():
        return
    command = [sys.executable, "-m", "recsys.jobs"]
    with disk_errors(paths.jobs(), JobError), (paths.jobs() / RUNNER_LOG).open("ab") as log:
        subprocess.Popen(
            command, cwd=paths.REPOSITORY, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )


def max_running() -> int:
    """Return how many jobs may run at the same time."""
    value = os.environ.get(MAX_RUNNING_VARIABLE, "1")
    return max(1, int(value)) if value.isdecimal() else 1


@contextmanager
def claim_next() -> Iterator[Job | None]:
    """Yield the job that has waited longest, marked as running, or None. The job is locked during the block."""
    with ExitStack() as stack:  # keeps the lock of the job after the queue is unlocked
        with _locked_queue() as all_jobs:
            job = next((job for job in all_jobs if job.state is State.WAITING), None)
            if job:
                stack.enter_context(FileLock(job.folder / RUNNER_LOCK))
                job = replace(job, state=State.RUNNING, started=time.time())
                _write(job)
        yield job


def end(job: Job, state: State, reason: Message | None = None) -> None:
    """Store the state in which a job ended, and the reason of a failure, if any."""
    with _locked_queue():
        _write(replace(job, state=state, ended=time.time(), error=asdict(reason) if reason else ""))


def is_stopping(job: Job) -> bool:
    """Return whether `stop` was called for a running job, whose state in `job` may be older."""
    return _read(job.folder).state is State.STOPPING


def _read_jobs() -> list[Job]:
    """Return all jobs in queue order. A job whose runner has ended is interrupted or stopped."""
    all_jobs = []
    for folder in paths.jobs().iterdir():
        if folder.is_dir():
            job = _read(folder)
            if job.state in (State.RUNNING, State.STOPPING) and not is_locked(folder / RUNNER_LOCK):
                job = replace(job, state=State.STOPPED if job.state is State.STOPPING else State.INTERRUPTED)
            all_jobs.append(job)
    return sorted(all_jobs, key=lambda job: (job.queued, job.id))


def _read(folder: Path) -> Job:
    """Return the job of a folder. A job that cannot be read has the state DAMAGED."""
    path = folder / JOB_FILE
    with suppress(OSError, storage.DamagedFileError, ValueError):
        if path.stat().st_size <= MAX_JOB_FILE_BYTES:
            document = storage.read_document(path)
            names = {job_field.name for job_field in fields(Job)} & document.keys()  # old versions had other fields
            if "state" in names:  # the default state is WAITING, so a damaged job without a state would be started
                job = from_document(Job, {name: document[name] for name in names} | {"id": folder.name})
                str(job.reason)  # raises ValueError if the reason is damaged
                return job
    return Job(id=folder.name, state=State.DAMAGED)


def _write(job: Job) -> None:
    """Write job.json. The caller holds the queue lock."""
    storage.replace_file(job.folder / JOB_FILE, storage.sign_document(asdict(job)))


@contextmanager
def _locked_queue() -> Iterator[list[Job]]:
    """Hold the queue lock and yield all jobs. Disk errors in the block become JobError."""
    with disk_errors(paths.jobs(), JobError):
        paths.jobs().mkdir(parents=True, exist_ok=True)
        with FileLock(paths.jobs() / QUEUE_LOCK):
            yield _read_jobs()


@contextmanager
def _locked_job(job_id: str) -> Iterator[tuple[Job, list[Job]]]:
    """Hold the queue lock and yield a job and all jobs. Raise JobError if no job has this id."""
    _check_not_public()
    with _locked_queue() as all_jobs:
        jobs_by_id = {job.id: job for job in all_jobs}
        if job_id not in jobs_by_id:
            text = "there is no training run {job_id}; the training runs are: {jobs}"
            raise JobError(text, job_id=job_id, jobs=", ".join(jobs_by_id) or "none")
        yield jobs_by_id[job_id], all_jobs


def _check_not_public() -> None:
    """Raise JobError on a public server, on which visitors cannot train."""
    if paths.is_public():
        text = "training in the app is switched off on this server; unset {public} to switch it on"
        raise JobError(text, public=paths.PUBLIC)


def _check_can_queue(job: Job, all_jobs: list[Job]) -> None:
    """Raise JobError if an active job writes the same checkpoint, or if the queue is full."""
    from recsys.models import registry

    active = [other for other in all_jobs if other.state in ACTIVE]
    if job.checkpoint in [other.checkpoint for other in active]:
        title = registry.get(job.variant).title
        text = "{title} is already being trained for {dataset}; stop the training first, or wait until it ends"
        raise JobError(text, title=Message(title), dataset=job.dataset)
    if len(active) >= MAX_ACTIVE_JOBS:
        text = "{active} training runs are waiting or running, which is the maximum; add this one when some are done"
        raise JobError(text, active=len(active))
