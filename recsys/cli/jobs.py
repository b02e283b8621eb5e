"""`python -m recsys jobs`: the training runs that were started in the app."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from recsys.cli import options
from recsys.cli.options import conf

if TYPE_CHECKING:
    from recsys.jobs.queue import Job

Id = Annotated[str, conf.Positional]


@dataclass(frozen=True)
class List:
    """What was started, and how far it is."""

    def run(self) -> int:
        """Print every run, in the order of the queue."""
        from recsys.jobs import queue

        known = queue.jobs()
        print("\n".join(map(_row, known)) if known else "nothing was started in the app")
        return 0


@dataclass(frozen=True)
class Stop:
    """End a run; it can be resumed."""

    id: Id  # which one, by the first word of its line in the list

    def run(self) -> int:
        """Take it out of the queue, or have it keep its state and end."""
        from recsys.jobs import queue

        queue.stop(self.id)
        return 0


@dataclass(frozen=True)
class Resume:
    """Go on with a run that was stopped, was cut off or failed."""

    id: Id  # which one, by the first word of its line in the list

    def run(self) -> int:
        """Put it at the end of the queue."""
        from recsys.jobs import queue

        queue.resume(self.id)
        return 0


@dataclass(frozen=True)
class Remove:
    """Take a run that is over off the list; what it learnt stays."""

    id: Id  # which one, by the first word of its line in the list

    def run(self) -> int:
        """Forget it."""
        from recsys.jobs import queue

        queue.remove(self.id)
        return 0


Jobs = (
    Annotated[List, conf.subcommand("list")]
    | Annotated[Stop, conf.subcommand("stop")]
    | Annotated[Resume, conf.subcommand("resume")]
    | Annotated[Remove, conf.subcommand("remove")]
)


def _row(job: "Job") -> str:
    """`20261122-184128  running  bert4rec on ml-1m  epoch 3 of 60`, and why it failed."""
    from recsys.jobs import queue

    done, epochs = queue.progress(job).epochs
    far = f"epoch {done} of {epochs}" if epochs else ""
    what = f"{job.variant} on {job.dataset}" if job.variant else ""
    return "  ".join(part for part in (job.id, job.state.value, what, far, job.error) if part)


def read(arguments: Sequence[str]) -> List | Stop | Resume | Remove:
    """The options of `jobs list`, `jobs stop`, `jobs resume` or `jobs remove`; without a word, those of the list."""
    return options.read(Jobs, "jobs", arguments or ["list"])  # type: ignore[arg-type]  # a union is no type for mypy
