"""Run each command of BENCHES three times, and compare the medians of its figures with their targets.

    python -m benchmarks.bench_targets --from ml-20m-generated.zip --json benchmarks/bench_targets.json

This needs ML-1M (python -m recsys data get ml-1m) and an archive that `python -m benchmarks.generate_movielens` writes.
"""

import json
import os
import shlex
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from benchmarks.script import parser, write_json
from recsys import machine, paths

ROUNDS = 3
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Target:
    """The target of a figure. A figure is a number that a benchmark measures."""

    figure: str  # path of the figure in a result: "wall_ms.p50"
    limit: float | None = None  # None: the figure is only reported
    is_minimum: bool = False  # whether the limit is a minimum or a maximum

    def is_met(self, value: float | None) -> bool | None:
        """Compare a value with the limit. Return None if the value or the limit is missing."""
        if value is None or self.limit is None:
            return None
        return value >= self.limit if self.is_minimum else value <= self.limit

    def verdict(self, value: float | None) -> str:
        """Return "≤ 30: met", "≥ 12: missed", "≤ 30: not measured", or "" without a limit."""
        if self.limit is None:
            return ""
        word = {True: "met", False: "missed", None: "not measured"}[self.is_met(value)]
        return f"{'≥' if self.is_minimum else '≤'} {self.limit:g}: {word}"


@dataclass(frozen=True)
class Bench:
    """A `recsys bench` command and the targets of its figures."""

    name: str
    command: str  # arguments of `recsys bench`, without --json
    targets: tuple[Target, ...]
    is_single_threaded: bool = False  # whether NumPy and PyTorch may use only one thread


BENCHES = (
    Bench(
        "request, 27,000 films",
        "serve",
        (Target("wall_ms.p50", 3), Target("wall_ms.p99", 8)),
        is_single_threaded=True,
    ),
    Bench(
        "request, 87,000 films, d=128",
        "serve --films 87000 --dim 128",
        (Target("wall_ms.p50", 10),),
        is_single_threaded=True,
    ),
    Bench(
        "request, a million films",
        "serve --films 1000000 --requests 200",
        (Target("wall_ms.p50", 60),),
        is_single_threaded=True,
    ),
    Bench("all users of ML-1M, ten films each", "serve --batch", (Target("seconds", 4), Target("memory_mb"))),
    Bench("full ranking of ML-1M's test users", "evaluate", (Target("seconds", 5), Target("memory_mb", 2000))),
    Bench("training on ML-1M", "train --epochs 4", (Target("seconds_per_epoch"), Target("sequences_per_second"))),
    Bench(
        "training on ML-1M in fp32",
        "train --epochs 4 --precision fp32",
        (Target("sequences_per_second"), Target("memory_mb")),
    ),
)
LOAD_TARGETS = (Target("first.seconds", 20), Target("first.memory_mb", 4000), Target("second.seconds", 1))


def main(argv: Sequence[str] | None = None) -> None:
    """Measure every bench and print a line for each figure."""
    arguments = parser(__doc__)
    arguments.add_argument("--from", dest="source", type=Path, metavar="FILE.zip", help="also load this archive")
    options = arguments.parse_args(argv)
    benches = list(BENCHES)
    if options.source:
        benches.append(
            Bench("20 million ratings", f"load --from {shlex.quote(str(options.source.resolve()))}", LOAD_TARGETS)
        )
    results = []
    for bench in benches:
        runs = [run(bench) for _ in range(ROUNDS)]
        figures = {target.figure: summary(target, runs) for target in bench.targets}
        results.append({"bench": bench.name, "figures": figures, "runs": runs})
        for target in bench.targets:
            median = figures[target.figure]["median"]
            print(f"{bench.name:<36}{target.figure:<22}{median:10.2f}  {target.verdict(median)}".rstrip(), flush=True)
    write_json(options.json, {"machine": machine.describe(), "rounds": ROUNDS, "measured": results})


def run(bench: Bench) -> dict[str, Any]:
    """Run a bench in a fresh process and return its JSON document without the machine."""
    command = [sys.executable, "-m", "recsys", "bench", *shlex.split(bench.command), "--json"]
    environment = os.environ | (ONE_THREAD if bench.is_single_threaded else {})
    process = subprocess.run(command, env=environment, cwd=paths.REPOSITORY, capture_output=True, text=True)
    if process.returncode:
        raise SystemExit(f"{bench.name}: {process.stderr.strip()}")
    return {name: value for name, value in json.loads(process.stdout).items() if name != "machine"}


def summary(target: Target, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the "median" of a figure over the runs, the values "of" the runs, the "limit", and whether it "holds".

    For "holds" see `Target.is_met`.
    """
    values = [reduce(dict.__getitem__, target.figure.split("."), result) for result in runs]
    median = statistics.median(values)
    return {"median": median, "of": values, "limit": target.limit, "holds": target.is_met(median)}


if __name__ == "__main__":
    main()
