"""Measure how long it takes to parse a ratings archive into sorted sequences, and to open these sequences again.

Each of the two loads runs in a fresh process. Both use the same temporary home folder, which is deleted afterwards.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

from recsys import paths
from recsys.cli.options import conf
from recsys.config import config_class
from recsys.data import datasets
from recsys.errors import RecsysError, python
from recsys.runtime import peak_memory_mb

RECSYS_ERROR_EXIT_CODE = 3  # of the process of a load that ended with a RecsysError
COSTS = ("seconds", "process_seconds", "cpu_seconds", "memory_mb")  # of a load; the others are sizes


@config_class
class Options:
    """The archive, and the data set that has the same layout."""

    source: Annotated[Path, conf.arg(name="from", metavar="FILE.zip")]  # the archive
    dataset: str = "ml-20m"  # the data set whose archive has the same layout


def measure(options: Options) -> dict[str, Any]:
    """Return the size of the archive, and time and peak memory of the "first" load, which parses it, and the "second".

    Raises:
        RecsysError: The archive does not exist or cannot be loaded.
    """
    source = options.source.resolve()
    if not source.is_file():
        command = f"{python()} -m benchmarks.generate_movielens --out {shlex.quote(str(source))}"
        raise RecsysError(f"there is no file {source}; one of ML-20M's size can be written", command)
    with tempfile.TemporaryDirectory(prefix="nextreel-load-") as home:
        first_load = _run_process(Path(home), options.dataset, str(source))
        second_load = _run_process(Path(home), options.dataset)
    archive = {"dataset": options.dataset, "archive": source.name, "archive_mb": round(source.stat().st_size / 1e6, 1)}
    sizes = {name: value for name, value in first_load.items() if name not in COSTS}
    loads = {"first": first_load, "second": second_load}
    return archive | sizes | {load: {name: values[name] for name in COSTS} for load, values in loads.items()}


def lines(result: dict[str, Any]) -> list[str]:
    """Format a result of `measure` for the terminal."""
    size = f"{result['ratings']:,} ratings, {result['users']:,} users, {result['films']:,} films"
    printed = [f"{result['archive']} ({result['archive_mb']:,.0f} MB) as {result['dataset']}: {size}"]
    for load, task in (("first", "file to sorted sequences"), ("second", "opened again, a history read")):
        costs = result[load]
        printed.append(
            f"{load:>6} load: {costs['seconds']:7.3f} s, {costs['memory_mb']:6,.0f} MB at most: {task}"
            f" ({costs['cpu_seconds']:.2f} s of CPU; {costs['process_seconds']:.2f} s with Python's start)"
        )
    return printed


def _run_process(home: Path, *arguments: str) -> dict[str, Any]:
    """Run `_measure_load` in a fresh process, and add process_seconds, which include Python's start and imports."""
    environment = os.environ | {"RECSYS_HOME": str(home), "PYTHONPATH": str(paths.REPOSITORY)}
    command = [sys.executable, "-m", "benchmarks.bench_load", *arguments]
    start = time.perf_counter()
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if process.returncode:
        error_class = RecsysError if process.returncode == RECSYS_ERROR_EXIT_CODE else RuntimeError
        raise error_class(process.stderr.strip())
    return json.loads(process.stdout) | {"process_seconds": round(seconds, 3)}


def _measure_load(name: str, source: str = "") -> dict[str, Any]:
    """Parse an archive or, without one, open the stored data set. Read a history, because files are read on access."""
    start, cpu_start = time.perf_counter(), time.process_time()
    dataset = datasets.get(name, Path(source)) if source else datasets.load(name)
    int(dataset.history(dataset.n_users // 2).sum())
    return {
        "seconds": round(time.perf_counter() - start, 3),
        "cpu_seconds": round(time.process_time() - cpu_start, 3),
        "memory_mb": round(peak_memory_mb(), 1),
        "users": dataset.n_users,
        "films": dataset.n_items,
        "ratings": len(dataset.interactions),
    }


if __name__ == "__main__":
    try:
        print(json.dumps(_measure_load(*sys.argv[1:])))
    except RecsysError as error:
        print(error, file=sys.stderr)
        sys.exit(RECSYS_ERROR_EXIT_CODE)
