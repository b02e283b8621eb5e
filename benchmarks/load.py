"""Measure waiting times and memory of the app while many visitors use it at once.

    python -m benchmarks.load                                          10 visitors who each move a film 12 times
    python -m benchmarks.load --visitors 25 --presses 24               two minutes
    python -m benchmarks.load --visitors 50 --presses 12 --pause 10    two minutes
    python -m benchmarks.load --visitors 50 --presses 0 --leaving 1000  memory, also of visitors who have left

Visitors use the WebSocket protocol of the app, without a browser. They open Watch next with a list of films and move
a film of the list, again and again. A time ends when the page with its predictions is complete. Rendering is not
included, see benchmarks.browser_latency. The figures are only valid on an otherwise idle machine.
"""

import argparse
import asyncio
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import websockets

from benchmarks.bench_targets import Target
from benchmarks.script import parser, write_json
from recsys import machine
from recsys.data import datasets
from recsys.errors import exit_on_error
from tests.served_app import App, PageError, Visitor, link, served_app

BUTTON_LABEL = "*Move "  # start of the labels of the buttons that move a film
ERRORS = (OSError, PageError, TimeoutError, websockets.WebSocketException)
SETTLED_VISITS = 200  # visits of `--leaving` before the measurement, which fill the caches of the server
# targets: number of visitors → maximum
RERUN_P95_MS = {10: 1000.0, 25: 3000.0}
FIRST_PAGE_P95_MS = {10: 3000.0, 25: 10_000.0, 50: 10_000.0}
MEMORY_MB = {50: 100.0}


@dataclass
class Times:
    """Seconds until each first page and each rerun were complete, and the errors that ended visits."""

    first_page: list[float] = field(default_factory=list)
    rerun: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


async def visit(app: App, query: str, presses: int, pause: float, seed: int, times: Times) -> Visitor | None:
    """Open the page within the first `pause` seconds, then press `presses` times, each after about `pause` seconds.

    The seconds until each page was complete are added to `times`. Returns None after an error.
    """
    rng = random.Random(seed)
    await asyncio.sleep(rng.uniform(0, pause))
    try:
        start = time.perf_counter()
        visitor = await Visitor.arrive(app.host, query)
        times.first_page.append(time.perf_counter() - start)
        for _ in range(presses):
            await asyncio.sleep(pause * rng.uniform(0.5, 1.5))
            times.rerun.append(await visitor.press(BUTTON_LABEL, rng))
        return visitor
    except ERRORS as error:
        times.errors.append(f"{type(error).__name__}: {error}")
        return None


async def measure(app: App, query: str, options: argparse.Namespace) -> dict[str, Any]:
    """Let visitors use an app that a first visitor has warmed up. Return times in ms, errors and memory in MB.

    With `options.leaving`, more visitors open the page and leave. "kib_per_visit" is the memory that each visit adds.
    """
    await visit(app, query, 1, 0.1, 0, Times())
    memory_mb_before, times = app.memory_mb, Times()
    visits = (visit(app, query, options.presses, options.pause, seed, times) for seed in range(options.visitors))
    visitors = await asyncio.gather(*visits)
    result = {
        "presses": len(times.rerun),
        "failed": len(times.errors),
        "errors": times.errors[:3],
        "first_page_p95_ms": _milliseconds(times.first_page, 0.95),
        "p50_ms": _milliseconds(times.rerun, 0.5),
        "p95_ms": _milliseconds(times.rerun, 0.95),
        "worst_ms": _milliseconds(times.rerun, 1),
        "memory_mb": round(app.memory_mb - memory_mb_before, 1),
    }
    for visitor in filter(None, visitors):
        await visitor.connection.close()
    if options.leaving:
        kibibytes = []  # after each visit
        for _ in range(SETTLED_VISITS + options.leaving):
            await (await Visitor.arrive(app.host, query)).connection.close()
            kibibytes.append(app.memory_mb * 1e6 / 1024)
        growth = np.polyfit(np.arange(options.leaving), kibibytes[SETTLED_VISITS:], 1)[0]  # slope of a line
        result["kib_per_visit"] = round(float(growth), 1)
    return result


def _milliseconds(seconds: Sequence[float], quantile: float) -> int | None:
    """Return a quantile of seconds in milliseconds, None without values."""
    return round(1000 * float(np.quantile(seconds, quantile))) if seconds else None


def targets(visitors: int) -> list[Target]:
    """Return the targets for a number of visitors, without a limit where there is none for this number."""
    limits = {"first_page_p95_ms": FIRST_PAGE_P95_MS, "p95_ms": RERUN_P95_MS, "memory_mb": MEMORY_MB}
    load_targets = [Target(figure, maximum.get(visitors)) for figure, maximum in limits.items()]
    return [Target("failed", 0), *load_targets, Target("kib_per_visit", 20), Target("p50_ms"), Target("worst_ms")]


@exit_on_error()
def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print the figures. The exit code is 1 if a target is missed."""
    arguments = parser(__doc__)
    arguments.add_argument("--data", default=datasets.DEFAULT_DATASET, help="a data set on this machine")
    arguments.add_argument("--films", type=int, default=20, help="films in each visitor's list")
    arguments.add_argument("--visitors", type=int, default=10)
    arguments.add_argument("--presses", type=int, default=12, help="changes that each visitor makes")
    arguments.add_argument("--pause", type=float, default=5.0, help="mean seconds before each change")
    arguments.add_argument("--leaving", type=int, default=0, help="then measure memory over this many more visits")
    options = arguments.parse_args(argv)
    query = link(options.data, options.films)
    with served_app() as app:
        result = asyncio.run(measure(app, query, options))
    print(f"{options.visitors} visitors, {options.films} films each, {options.data}, {options.pause:g} s pause")
    print("\n".join(result["errors"]))
    for target in targets(options.visitors):
        if (value := result.get(target.figure)) is not None:
            print(f"{target.figure:20} {value:8} {target.verdict(value)}".rstrip())
    description = machine.describe()
    print(machine.format_description(description))
    settings = {"data": options.data, "films": options.films, "visitors": options.visitors, "pause_s": options.pause}
    write_json(options.json, {"machine": description, "result": settings | result})
    return int(any(target.is_met(result.get(target.figure)) is False for target in targets(options.visitors)))


if __name__ == "__main__":
    sys.exit(main())
