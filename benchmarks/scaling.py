"""Measure how time and memory of BERT4Rec grow with the number of films and with the length of a history.

    python -m benchmarks.scaling --json benchmarks/scaling.json    all points: minutes
    python -m benchmarks.scaling --quick                           a few small points

Each point is measured in a process with one thread. The model (L=2, h=2, d=64) is untrained and has position embeddings
in place of the relative bias. The data are generated. A step samples a batch of 16 histories, trains on it with Adam,
and updates the average of the weights. A request returns ten films for one history. Times are medians of CPU time.
Memory is the peak of the steps or requests, with the model and without the data (Linux only). The tables are printed as
Markdown.
"""

import os
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.generated_data import generate_dataset
from benchmarks.script import in_new_process, parser, request_seconds, write_json
from recsys import machine, runtime
from recsys.data.dataset import Dataset
from recsys.models.ablations import Bert4RecAblated, Bert4RecAblatedConfig
from recsys.training.options import RunOptions, TrainConfig

BATCH_SIZE = 16
NEGATIVES = 256  # of the sampled softmax
# kind of work → column of the tables
KINDS = {"softmax": "step, softmax", "sampled-softmax": f"step, {NEGATIVES} sampled", "request": "request"}
# measured numbers of films in the catalogue, and in a history
CATALOGUES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
HISTORIES = (50, 100, 200, 500, 1_000)
DEFAULT_FILMS = 10_000  # while the history grows
DEFAULT_HISTORY = 200  # while the catalogue grows
UNITS = "ms of CPU time on one thread, MB on top of the data"
LARGE_CATALOGUE = 100_000  # from this number of films, fewer steps and requests are timed: a step takes seconds
N_WARM_UP_REQUESTS = 3


@dataclass(frozen=True)
class Point:
    """The work and the sizes of a measurement."""

    kind: str  # of KINDS
    films: int  # in the catalogue
    history: int  # films in a history


def main(argv: Sequence[str] | None = None) -> None:
    """Measure all points and print the tables."""
    arguments = parser(__doc__)
    arguments.add_argument("--quick", action="store_true", help="a few small points")
    options = arguments.parse_args(argv)
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    points = []
    for point in grid(options.quick):
        points.append(asdict(point) | in_new_process(measure, point))
        print(points[-1], file=sys.stderr, flush=True)
    settings = {"dim": 64, "layers": 2, "heads": 2, "sequences": BATCH_SIZE, "negatives": NEGATIVES}
    document = {"benchmark": "scaling", "machine": machine.describe(), "settings": settings, "points": points}
    write_json(options.json, document)
    print("\n".join(tables(document)))


def grid(quick: bool) -> list[Point]:
    """Return the points to measure: growing catalogues, then growing histories."""
    films, histories = (CATALOGUES[:3:2], HISTORIES[:3:2]) if quick else (CATALOGUES, HISTORIES)
    sizes = [*((n, DEFAULT_HISTORY) for n in films), *((DEFAULT_FILMS, n) for n in histories if n != DEFAULT_HISTORY)]
    return [Point(kind, *size) for size in sizes for kind in KINDS]


def measure(point: Point) -> dict[str, float]:
    """Return {"ms", "memory_mb"} of a point, measured in this process."""
    time_work = time_requests if point.kind == "request" else time_steps
    # a first call without a measurement, because libraries load code when they are first used
    time_work(generate_dataset(BATCH_SIZE, 10, 5), Point(point.kind, 10, 5))
    dataset = generate_dataset(BATCH_SIZE, point.films, point.history, length_sigma=0)
    _ = dataset.catalog.films  # computes the cached list of films, whose memory belongs to the data
    data_mb = reset_peak_mb()
    seconds = time_work(dataset, point)
    return {"ms": round(1e3 * statistics.median(seconds), 3), "memory_mb": round(runtime.peak_memory_mb() - data_mb, 1)}


def time_steps(dataset: Dataset, point: Point) -> list[float]:
    """Return the CPU seconds of each training step but the first. An epoch has one step here."""
    schedule = TrainConfig(epochs=4 if point.films >= LARGE_CATALOGUE else 9, batch_size=BATCH_SIZE)
    config = Bert4RecAblatedConfig(schedule=schedule, length=point.history, pmi_init=False, without="relative bias")
    if point.kind == "sampled-softmax":
        config = replace(config, loss="sampled-softmax", negatives=NEGATIVES)
    step_ends: list[float] = []

    def report(event: dict[str, Any]) -> None:
        if not step_ends:
            reset_peak_mb()  # leaves out the peak of building the model and of the first step
        step_ends.append(time.process_time())

    Bert4RecAblated(config).fit(dataset, None, RunOptions(device="cpu", report=report))
    return [end - start for start, end in pairwise(step_ends)]


def time_requests(dataset: Dataset, point: Point) -> list[float]:
    """Return the CPU seconds of each request but the first N_WARM_UP_REQUESTS."""
    from recsys.models import registry
    from recsys.serving.predictor import Predictor
    from recsys.serving.recommend import Request

    # the network has positions for the history and [mask]
    model = Bert4RecAblated(Bert4RecAblatedConfig(length=point.history + 1, without="relative bias"))
    model.module = model.build(dataset.n_items)
    model.module.eval()
    reset_peak_mb()  # leaves out the peak of building the model
    predictor = Predictor(dataset, registry.get("bert4rec"), model)
    request = Request(tuple(dataset.history(0).tolist()))
    n_timed = 10 if point.films >= LARGE_CATALOGUE else 40
    _, cpu_seconds = request_seconds(predictor, [request] * (N_WARM_UP_REQUESTS + n_timed))
    return cpu_seconds[N_WARM_UP_REQUESTS:]


def reset_peak_mb() -> float:
    """Reset the peak memory of this process, and return its memory in MB (10⁶ bytes)."""
    Path("/proc/self/clear_refs").write_text("5")  # see proc(5)
    return runtime.peak_memory_mb()


def tables(document: dict[str, Any]) -> list[str]:
    """Return the machine and two Markdown tables of the points, with a row per size and a column per kind of work."""
    lines = [machine.format_description(document["machine"]), ""]
    for size, fixed, default, title in (
        ("films", "history", DEFAULT_HISTORY, f"Histories of {DEFAULT_HISTORY} films; {UNITS}:"),
        ("history", "films", DEFAULT_FILMS, f"A catalogue of {DEFAULT_FILMS:,} films:"),
    ):
        points = [point for point in document["points"] if point[fixed] == default]
        kinds = [kind for kind in KINDS if any(point["kind"] == kind for point in points)]
        cells = {}
        for point in points:
            cells[point[size], point["kind"]] = f"{three_digits(point['ms'])} ms, {point['memory_mb']:,.0f} MB"
        lines += [title, "", f"| {size} | " + " | ".join(KINDS[kind] for kind in kinds) + " |"]
        lines.append("|---:|" + "---:|" * len(kinds))
        for n in sorted({point[size] for point in points}):
            lines.append(f"| {n:,} | " + " | ".join(cells.get((n, kind), "") for kind in kinds) + " |")
        lines.append("")
    return lines[:-1]


def three_digits(value: float) -> str:
    """Format a number with three significant digits: 0.914, 12.3, 1,230."""
    integer_digits = len(str(int(value))) if value >= 1 else 0
    return f"{value:,.{max(0, 3 - integer_digits)}f}"


if __name__ == "__main__":
    main()
