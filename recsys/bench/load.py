"""How long a ratings archive takes to become sorted sequences, and how long they take to open again.

Each in a fresh process, with a data folder of its own that is deleted afterwards. An archive of ML-20M's size and
layout is written by `python -m benchmarks.generate_movielens`.
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
from recsys.data import movielens
from recsys.errors import RecsysError, python
from recsys.runtime import peak_memory_mb

MENDABLE = 3  # exit code of a process that ended with a RecsysError


@dataclass(frozen=True)
class Options:
    """Which archive, and whose layout it has."""

    source: Path  # the archive
    dataset: str = "ml-20m"  # the set whose layout it has


def measure(options: Options) -> dict[str, Any]:
    """Seconds and peak memory of the first load and of the second, and what was in the archive.

    Raises RecsysError where there is no such archive, or when it cannot be loaded.
    """
    source = options.source.resolve()
    if not source.is_file():
        command = f"{python()} -m benchmarks.generate_movielens --out {shlex.quote(str(source))}"
        raise RecsysError(f"there is no file {source}; one of ML-20M's size can be written", command)
    with tempfile.TemporaryDirectory(prefix="nextreel-load-") as home:
        first = _in_fresh_process(Path(home), "first", options.dataset, str(source))
        second = _in_fresh_process(Path(home), "second", options.dataset)
    sizes = {name: first[name] for name in ("users", "films", "ratings")}
    about = {"dataset": options.dataset, "archive": source.name, "archive_mb": round(source.stat().st_size / 1e6, 1)}
    times = ("seconds", "process_seconds", "cpu_seconds", "memory_mb")
    return about | sizes | {"first": {name: first[name] for name in times}, "second": {n: second[n] for n in times}}


def lines(result: dict[str, Any]) -> list[str]:
    """The measurement for people."""
    size = f"{result['ratings']:,} ratings, {result['users']:,} users, {result['films']:,} films"
    said = [f"{result['archive']} ({result['archive_mb']:,.0f} MB) as {result['dataset']}: {size}"]
    for name, words in (("first", "file to sorted sequences"), ("second", "opened again, a history read")):
        m = result[name]
        said.append(
            f"{name:>6} load: {m['seconds']:7.3f} s, {m['memory_mb']:6,.0f} MB at most: {words}"
            f" ({m['cpu_seconds']:.2f} s of CPU; {m['process_seconds']:.2f} s with Python's start)"
        )
    return said


def _in_fresh_process(home: Path, load: str, *arguments: str) -> dict[str, Any]:
    """What `_timed` prints there; process_seconds is the whole of it, Python's start and imports included."""
    environment = os.environ | {"RECSYS_HOME": str(home), "PYTHONPATH": str(paths.REPOSITORY)}
    command = [sys.executable, "-m", "recsys.bench.load", load, *arguments]
    began = time.perf_counter()
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began
    if ended.returncode:
        kind = RecsysError if ended.returncode == MENDABLE else RuntimeError
        raise kind(ended.stderr.strip())
    return json.loads(ended.stdout) | {"process_seconds": round(seconds, 3)}


def _timed(load: str, name: str, source: str = "") -> dict[str, Any]:
    """Time a load up to a history in hand: `first` parses and keeps an archive, `second` opens what was kept."""
    began, began_cpu = time.perf_counter(), time.process_time()
    dataset = movielens.get(name, Path(source)) if load == "first" else movielens.load(name)
    int(dataset.history(dataset.n_users // 2).sum())
    return {
        "seconds": round(time.perf_counter() - began, 3),
        "cpu_seconds": round(time.process_time() - began_cpu, 3),
        "memory_mb": round(peak_memory_mb(), 1),
        "users": dataset.n_users,
        "films": dataset.n_items,
        "ratings": len(dataset.interactions),
    }


if __name__ == "__main__":
    try:
        print(json.dumps(_timed(*sys.argv[1:])))
    except RecsysError as error:
        print(error, file=sys.stderr)
        sys.exit(MENDABLE)
