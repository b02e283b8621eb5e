"""Recommend films to every user of a data set with Ray, on all cores of a machine or on several machines.

    pip install ray==2.60.0
    python -m deploy.batch_recommend --dataset ml-1m --model sasrec-softmax --out lists --workers 2

The users are divided into parts, and each part has a file. Each worker is a process that loads the recommender once and
then writes one part after another. The same command continues an interrupted run. If a worker
dies, its part is repeated. With one worker, Ray is not used. For several machines, start Ray on each (docs.ray.io: `ray
start`) and pass --address auto. RECSYS_HOME and the output folder must be on a disk that all machines share.
"""

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from recsys.data import datasets
from recsys.errors import MissingLibraryError, RecsysError, exit_on_error
from recsys.serving import predictor, users
from recsys.serving.filters import Filters
from recsys.storage import replace_file

PART_SIZE = 10_000  # users in a file
MAX_RETRIES = 3  # of a part whose worker died
PARAMETERS = "parameters.json"  # file in the output folder with the parameters of all parts


class Worker:
    """Load a recommender and write its recommendations for parts of the users."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.predictor = predictor.load(options.model, datasets.load(options.dataset))
        self.k, self.folder = options.k, options.out

    def write(self, part: range) -> int:
        """Write the recommendations for a part, and return its number of users."""
        table = users.recommend_for_users(self.predictor, self.k, Filters(), rows=part)
        users.write_table(table, part_path(self.folder, part))
        return len(part)


def part_path(folder: Path, part: range) -> Path:
    """Return the file of a part."""
    return folder / f"people-{part.start:09d}.parquet"


def divide(n_users: int, size: int) -> list[range]:
    """Return parts of at most `size` users, which together are the users 0 to `n_users` - 1."""
    return [range(start, min(start + size, n_users)) for start in range(0, n_users, size)]


def check_parameters(folder: Path, parameters: dict[str, str | int]) -> None:
    """Store the parameters in the folder. Raises RecsysError if the folder has parts with other parameters."""
    path = folder / PARAMETERS
    if path.exists():
        old_parameters = json.loads(path.read_text("utf-8"))
    else:  # older versions of this script stored no parameters, so the parameters of their parts are unknown
        old_parameters = {} if any(folder.glob("people-*.parquet")) else parameters
    if different := [name for name, value in parameters.items() if old_parameters.get(name) != value]:
        names = ", ".join(f"{name} {old_parameters.get(name, 'unknown')}, not {parameters[name]}" for name in different)
        text = "{folder} has lists with other parameters ({names}); choose another --out"
        raise RecsysError(text, folder=folder, names=names)
    replace_file(path, json.dumps(parameters, indent=1).encode())


def write_with_ray(missing_parts: Sequence[range], options: argparse.Namespace) -> Iterator[int]:
    """Write the missing parts in several processes, and yield the number of users of each finished part."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
        from ray.util import ActorPool
    except ImportError as error:
        raise MissingLibraryError("more than one worker", "ray==2.60.0") from error
    # without a running cluster, Ray is started here and listens only to this machine
    local_options = {} if options.address else {"num_cpus": options.workers, "_node_ip_address": "127.0.0.1"}
    ray.init(address=options.address, include_dashboard=False, log_to_driver=False, **local_options)
    remote_class = ray.remote(num_cpus=1, max_restarts=MAX_RETRIES, max_task_retries=MAX_RETRIES)(Worker)
    pool = ActorPool([remote_class.remote(options) for _ in range(options.workers)])
    try:
        yield from pool.map_unordered(lambda worker, part: worker.write.remote(part), missing_parts)
    finally:
        ray.shutdown()


@exit_on_error()
def main(argv: Sequence[str] | None = None) -> None:
    """Write the parts that the output folder does not have yet."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dataset", default=datasets.DEFAULT_DATASET)
    parser.add_argument("--model", default="sasrec-softmax")
    parser.add_argument("-k", type=int, default=10, help="films in a list")
    parser.add_argument("--out", type=Path, required=True, help="folder of the parts, which are parquet files")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--part", type=int, default=PART_SIZE, help="users in a file")
    parser.add_argument("--address", help="of a running Ray cluster; auto: the cluster of this machine")
    options = parser.parse_args(argv)
    for name in ("k", "workers", "part"):
        if getattr(options, name) < 1:
            parser.error(f"{'-' if name == 'k' else '--'}{name} must be at least 1")
    folder = options.out = options.out.resolve()  # workers may run in another folder
    n_users = datasets.load(options.dataset).n_users
    check_parameters(folder, {name: getattr(options, name) for name in ("dataset", "model", "k", "part")})
    missing_parts = [part for part in divide(n_users, options.part) if not part_path(folder, part).exists()]
    if not missing_parts:
        return
    if options.workers == 1:
        part_sizes: Iterator[int] = map(Worker(options).write, missing_parts)
    else:
        part_sizes = write_with_ray(missing_parts, options)
    n_done = n_users - sum(map(len, missing_parts))
    for part_size in part_sizes:
        n_done += part_size
        print(f"{n_done:,} of {n_users:,} people", flush=True)


if __name__ == "__main__":
    main()
