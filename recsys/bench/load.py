"""Measure how long it takes to parse a ratings archive into sorted sequences, and to open these sequences again.

Each of the two loads runs in a fresh process. Both use the same temporary home folder, which is deleted afterwards.
`python -m benchmarks.generate_movielens` writes an archive with the size and the layout of ML-20M.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recsys import paths
from recsys.data import datasets
from recsys.errors import RecsysError, python
from recsys.runtime import peak_memory_mb

RECSYS_ERROR_EXIT_CODE = 3  # of the process of a load that ended with a RecsysError


@dataclass(frozen=True)
class Options:
    """The archive, and the data set that has the same layout."""

    source: Path  # the archive of ratings
    dataset: str = "ml-20m"  # the data set whose archive has the same layout


def measure(options: Options) -> dict[str, Any]:
    """Measure time and peak memory of the first load, which parses the archive, and of the second load.

    Returns:
        The archive and its numbers of users, films and ratings. "first" and "second" have the costs of the loads:
        seconds of the load, seconds of the whole process, CPU seconds, and the peak memory of the process in MB.

    Raises:
        RecsysError: The archive does not exist or cannot be loaded.
    """
    source = options.source.resolve()
    if not source.is_file():
        command = f"{python()} -m benchmarks.generate_movielens --out {shlex.quote(str(source))}"
        raise RecsysError(f"there is no file {source}; one of ML-20M's size can be written", command)
    with tempfile.TemporaryDirectory(prefix="nextreel-load-") as home:
        loads = {
            "first": _run_process(Path(home), "first", options.dataset, str(source)),
            "second": _run_process(Path(home), "second", options.dataset),
        }
    archive = {"dataset": options.dataset, "archive": source.name, "archive_mb": round(source.stat().st_size / 1e6, 1)}
    sizes = {name: loads["first"][name] for name in ("users", "films", "ratings")}
    costs = ("seconds", "process_seconds", "cpu_seconds", "memory_mb")
    return archive | sizes | {load: {name: values[name] for name in costs} for load, values in loads.items()}


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


def _run_process(home: Path, load: str, *arguments: str) -> dict[str, Any]:
    """Run `_measure_load` in a fresh process, and add process_seconds, which include Python's start and imports."""
    environment = os.environ | {"RECSYS_HOME": str(home), "PYTHONPATH": str(paths.REPOSITORY)}
    command = [sys.executable, "-m", "recsys.bench.load", load, *arguments]
    start = time.perf_counter()
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if process.returncode:
        error_class = RecsysError if process.returncode == RECSYS_ERROR_EXIT_CODE else RuntimeError
        raise error_class(process.stderr.strip())
    return json.loads(process.stdout) | {"process_seconds": round(seconds, 3)}


def _measure_load(load: str, name: str, source: str = "") -> dict[str, Any]:
    """Load a data set and read the history of one user, because opened files are read from disk on access only.

    Args:
        load: "first" parses the archive and stores the sequences, "second" opens the stored sequences.
        name: Name of the data set.
        source: Path of the archive, for the first load.

    Returns:
        The costs of the load and the size of the data set.
    """
    start, cpu_start = time.perf_counter(), time.process_time()
    dataset = datasets.get(name, Path(source)) if load == "first" else datasets.load(name)
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
