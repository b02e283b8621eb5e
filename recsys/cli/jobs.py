"""The command `jobs`: training jobs that were started in the app."""

from collections.abc import Sequence
from typing import Annotated

from recsys.cli.options import Call, conf, group
from recsys.jobs import queue

Id = Annotated[str, conf.Positional, conf.arg(help="Id of the job: the first word of its line in `jobs list`.")]


def list_jobs() -> None:
    """List all training jobs in the order of the queue."""
    lines = []
    for job in queue.jobs():
        title = f"{job.variant} on {job.dataset}" if job.variant else ""  # a damaged job has none
        progress = queue.progress(job)
        epochs = f"epoch {progress.n_epochs} of {progress.max_epochs}" if progress.max_epochs else ""
        cells = (job.id, job.state.value, title, epochs, str(job.reason))
        lines.append("  ".join(filter(None, cells)))
    print("\n".join(lines) or "no training was started in the app")


def stop(id: Id) -> None:
    """Stop a job. It can be resumed."""
    queue.stop(id)


def resume(id: Id) -> None:
    """Resume a job that was stopped, was interrupted or failed."""
    queue.resume(id)


def remove(id: Id) -> None:
    """Remove a job that is not active from the list. Its checkpoint stays."""
    queue.remove(id)


def jobs(arguments: Sequence[str]) -> Call:
    """Parse the arguments of `jobs`. Without arguments, list the jobs."""
    return group("jobs", {"list": list_jobs, "stop": stop, "resume": resume, "remove": remove})(arguments or ["list"])
