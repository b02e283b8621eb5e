"""Every `bench` that has something to reach, three times, each in a fresh process, and whether the median reaches it.

    python -m benchmarks.bars --from ml-20m-generated.zip --json benchmarks/bars.json

Needs ML-1M (python -m recsys data get ml-1m) and the archive that `python -m benchmarks.generate_movielens` writes.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from benchmarks.bar import Bar
from recsys import machine, paths

ROUNDS = 3
ONE_CORE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Bench:
    """A command and the bars of its figures, which are named by their path in the JSON document: "wall_ms.p50"."""

    name: str
    command: str  # after `bench`
    bars: tuple[Bar, ...]
    one_core: bool = False


BENCHES = (
    Bench("request, 27,000 films", "serve", (Bar("wall_ms.p50", 3), Bar("wall_ms.p99", 8)), True),
    Bench("request, 87,000 films, d=128", "serve --films 87000 --dim 128", (Bar("wall_ms.p50", 10),), True),
    Bench("request, a million films", "serve --films 1000000 --requests 200", (Bar("wall_ms.p50", 60),), True),
    Bench("all users of ML-1M, ten films each", "serve --batch", (Bar("seconds", 4), Bar("memory_mb"))),
    Bench("full ranking of ML-1M's test users", "evaluate", (Bar("seconds", 5), Bar("memory_mb", 2000))),
    Bench("training on ML-1M", "train --epochs 4", (Bar("seconds_per_epoch"), Bar("sequences_per_second"))),
    Bench("the same in fp32", "train --epochs 4 --precision fp32", (Bar("sequences_per_second"), Bar("memory_mb"))),
)
LOAD = (Bar("first.seconds", 20), Bar("first.memory_mb", 4000), Bar("second.seconds", 1))


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--from", dest="source", type=Path, metavar="FILE.zip", help="for the loads; left out without")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything there too")
    options = parser.parse_args(argv)
    benches = list(BENCHES)
    if options.source:
        benches.append(Bench("20 million ratings", f"load --from {options.source.resolve()}", LOAD))
    measured = []
    for bench in benches:
        runs = [run(bench) for _ in range(ROUNDS)]
        rows = {bar.figure: row(bar, runs) for bar in bench.bars}
        measured.append({"bench": bench.name, "figures": rows, "runs": runs})
        print("\n".join(line(bench.name, bar, rows[bar.figure]["median"]) for bar in bench.bars), flush=True)
    if options.json:
        document = {"machine": machine.describe(), "rounds": ROUNDS, "measured": measured}
        options.json.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", "utf-8")


def run(bench: Bench) -> dict[str, Any]:
    """One round, as the command's JSON document without the machine."""
    command = [sys.executable, "-m", "recsys", "bench", *bench.command.split(), "--json"]
    environment = os.environ | (ONE_CORE if bench.one_core else {})
    ended = subprocess.run(command, env=environment, cwd=paths.REPOSITORY, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"{bench.name}: {ended.stderr.strip()}")
    return {name: value for name, value in json.loads(ended.stdout).items() if name != "machine"}


def row(bar: Bar, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The median of a figure, its limit, and whether it holds."""
    values = [reduce(dict.__getitem__, bar.figure.split("."), run) for run in runs]
    median = statistics.median(values)
    return {"median": median, "of": values, "limit": bar.limit, "holds": bar.holds(median)}


def line(name: str, bar: Bar, median: float) -> str:
    """`request, 27,000 films            wall_ms.p50     1.2  ≤ 3: holds`."""
    return f"{name:<36}{bar.figure:<22}{median:10.2f}  {bar.verdict(median)}".rstrip()


if __name__ == "__main__":
    main()
