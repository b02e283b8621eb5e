"""Measure how long it takes to parse a ratings archive into sorted sequences, and to open these sequences again.

The "first" load parses the archive and stores the sequences. The "second" load opens the stored sequences. Each load
runs in a fresh process. Both use the same temporary home folder, which is deleted afterwards.
"""

import os
import shlex
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

from benchmarks.script import costs, in_new_process
from recsys.cli.options import conf
from recsys.config import config_class
from recsys.data import datasets
from recsys.errors import RecsysError, python

COSTS = ("seconds", "process_seconds", "cpu_seconds", "memory_mb")  # of a load, in the order of the result


@config_class
class Options:
    """The archive, and the data set whose format it has."""

    source: Annotated[Path, conf.arg(name="from", metavar="FILE.zip")]  # the archive
    dataset: str = "ml-20m"  # a published data set whose archive has the same layout


def measure(options: Options) -> dict[str, Any]:
    """Return the sizes of the archive and the data set, and COSTS of the "first" and the "second" load.

    Raises:
        RecsysError: The archive does not exist or cannot be loaded.
    """
    source = options.source.resolve()
    if not source.is_file():
        command = f"{python()} -m benchmarks.generate_movielens --out {shlex.quote(str(source))}"
        raise RecsysError("there is no file {source}; one of ML-20M's size can be written", command, source=source)
    loads = {}
    with tempfile.TemporaryDirectory(prefix="nextreel-load-") as home:
        for load, archive in (("first", source), ("second", None)):
            start = time.perf_counter()
            sizes, figures = in_new_process(_load, home, options.dataset, archive)
            figures["process_seconds"] = round(time.perf_counter() - start, 3)  # with Python's start and imports
            loads[load] = {name: figures[name] for name in COSTS}
    megabytes = round(source.stat().st_size / 1e6, 1)
    return {"dataset": options.dataset, "archive": source.name, "archive_mb": megabytes, **sizes, **loads}


def format_lines(result: dict[str, Any]) -> list[str]:
    """Format a result of `measure` for the terminal."""
    size = f"{result['ratings']:,} ratings, {result['users']:,} users, {result['films']:,} films"
    text_lines = [f"{result['archive']} ({result['archive_mb']:,.0f} MB) as {result['dataset']}: {size}"]
    for load, task in (("first", "file to sorted sequences"), ("second", "opened again, a history read")):
        figures = result[load]
        text_lines.append(
            f"{load:>6} load: {figures['seconds']:7.3f} s, {figures['memory_mb']:6,.0f} MB at most: {task}"
            f" ({figures['cpu_seconds']:.2f} s of CPU; {figures['process_seconds']:.2f} s with Python's start)"
        )
    return text_lines


def _load(home: str, name: str, archive: Path | None) -> tuple[dict[str, int], dict[str, float]]:
    """Parse an archive or, without one, open the stored data set. Return the sizes of the data set and the costs."""
    os.environ["RECSYS_HOME"] = home
    with costs() as figures:
        dataset = datasets.get(name, archive) if archive else datasets.load(name)
        int(dataset.history(dataset.n_users // 2).sum())  # large arrays are memory-mapped, and only read on access
    return {"users": dataset.n_users, "films": dataset.n_items, "ratings": len(dataset.interactions)}, figures
