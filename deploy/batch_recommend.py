"""The lists of everybody in a data set, by Ray: on all cores of one machine, or of many.

    pip install ray==2.60.0
    python -m deploy.batch_recommend --dataset ml-1m --model sasrec-softmax --out lists --workers 2

Nothing else of NextReel needs Ray. Each worker is a process that loads the recommender once and calls `recommend_many`
for a part of the people after another, so no process ever holds more than one part. A part is a file, written whole:
the same line goes on where a run was cut off, and a part whose worker dies is done by another one. With one worker all
is done in this process, without Ray. On several machines start Ray on each (docs.ray.io: `ray start`), have RECSYS_HOME
and the folder of the parts on a disk that they share, and give the address of the first one: --address auto.
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from recsys.data import datasets
from recsys.errors import MissingLibraryError
from recsys.serving import people, predictor
from recsys.serving.filters import Filters

PART = 10_000  # people in a file
RETRIES = 3  # of a part whose worker died


class Worker:
    """A recommender that is loaded once, for part after part."""

    def __init__(self, dataset: str, model: str, k: int, folder: Path) -> None:
        self.ready = predictor.load(model, datasets.load(dataset))
        self.k, self.folder = k, folder

    def make(self, part: range) -> int:
        """Write the lists of some people; how many people these are."""
        table = people.everybody(self.ready, self.k, Filters(), rows=part)
        people.write(table, place(self.folder, part))
        return len(part)


def place(folder: Path, part: range) -> Path:
    """The file of a part."""
    return folder / f"people-{part.start:09d}.parquet"


def parts(n: int, size: int) -> list[range]:
    """The rows of n people, so many in each part."""
    return [range(start, min(start + size, n)) for start in range(0, n, size)]


def on_ray(make: partial[Worker], todo: Sequence[range], options: argparse.Namespace) -> Iterator[int]:
    """Have so many processes make the parts; the people of each part that is done."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anybody
    try:
        import ray
        from ray.util import ActorPool
    except ImportError as error:
        raise MissingLibraryError("more than one worker", "ray==2.60.0") from error
    # Alone on a machine Ray listens to this machine only; in a cluster, to whom its own start was told to.
    here = {} if options.address else {"num_cpus": options.workers, "_node_ip_address": "127.0.0.1"}
    ray.init(address=options.address, include_dashboard=False, log_to_driver=False, **here)
    remote = ray.remote(num_cpus=1, max_restarts=RETRIES, max_task_retries=RETRIES)(Worker)
    pool = ActorPool([remote.remote(*make.args) for _ in range(options.workers)])
    try:
        yield from pool.map_unordered(lambda worker, part: worker.make.remote(part), todo)
    finally:
        ray.shutdown()


def main(argv: Sequence[str] | None = None) -> int:
    """Make the parts that are missing; returns 0."""
    options = parser().parse_args(argv)
    folder = options.out.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    n = datasets.load(options.dataset).n_users
    todo = [part for part in parts(n, options.part) if not place(folder, part).exists()]
    make = partial(Worker, options.dataset, options.model, options.k, folder)
    done = n - sum(map(len, todo))
    if todo:
        for made in map(make().make, todo) if options.workers == 1 else on_ray(make, todo, options):
            done += made
            print(f"{done:,} of {n:,} people", flush=True)
    return 0


def parser() -> argparse.ArgumentParser:
    """The options."""
    read = argparse.ArgumentParser(description="The lists of everybody in a data set, on many processes or machines.")
    read.add_argument("--dataset", default="ml-latest-sample")
    read.add_argument("--model", default="sasrec-softmax")
    read.add_argument("-k", type=int, default=10, help="films in a list")
    read.add_argument("--out", type=Path, required=True, help="the folder of the parts, parquet files")
    read.add_argument("--workers", type=int, default=2)
    read.add_argument("--part", type=int, default=PART, help="people in a file; keep it where a run goes on")
    read.add_argument("--address", help="of a Ray cluster that runs; auto: of this machine's")
    return read


if __name__ == "__main__":
    raise SystemExit(main())
