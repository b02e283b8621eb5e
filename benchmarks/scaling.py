"""How the cost of BERT4Rec grows with the catalogue and with the history: time and memory, measured.

    python -m benchmarks.scaling --json benchmarks/scaling.json --page benchmarks/scaling.md     all of it, some minutes
    python -m benchmarks.scaling --quick                                                         a few small points
    python -m benchmarks.scaling --again benchmarks/scaling.json --page benchmarks/scaling.md    redraw, measure nothing

Each point is a process of its own with one thread, and an untrained model (L=2, h=2, d=64) on generated data. *Step*:
one training step on 16 histories, making the batch, Adam and the averaging of the weights included. *Request*: one
history in, the best ten films out, seen ones hidden. Times are CPU time, which for one thread is wall time less the
waiting for other processes: medians over several, after some to warm up. Memory is the highest while a point is
measured, model included, less what the process held when the data was there and the model was not (Linux only).

--page writes the tables between two marks of that file and the plots beside it (needs matplotlib: requirements.txt).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from recsys import machine, paths, runtime
from recsys.bench.shapes import generated
from recsys.data.dataset import Dataset
from recsys.errors import python
from recsys.training.options import RunOptions

SEQUENCES = 16  # histories in a training step
NEGATIVES = 256  # films drawn by the sampled softmax
KINDS = {"softmax": "step, softmax", "sampled-softmax": f"step, {NEGATIVES} sampled", "request": "request"}
FILMS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
HISTORIES = (50, 100, 200, 500, 1_000)
USUAL_FILMS, USUAL_HISTORY = 10_000, 200  # where one stays while the other grows
LARGE = 100_000  # films from which fewer repeats will do: a step takes seconds
BEGIN, END = "<!-- measured: written by scaling.py -->", "<!-- end of what scaling.py writes -->"


@dataclass(frozen=True)
class Point:
    """One thing to measure."""

    kind: str  # of KINDS
    films: int
    history: int


def main(argv: list[str] | None = None) -> int:
    """Measure or read, then write the file, the tables and the plots that were asked for."""
    options = parser().parse_args(argv)
    if options.point:
        print(json.dumps(measure(Point(**json.loads(options.point)))))
        return 0
    document = json.loads(options.again.read_text("utf-8")) if options.again else run(grid(options.quick))
    if options.json:
        options.json.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", "utf-8")
    print("\n".join(tables(document)))
    if options.page:
        plots = draw(document, options.page)
        page = updated(options.page.read_text("utf-8"), [*tables(document), *plots])
        options.page.write_text(page, "utf-8")
    return 0


def parser() -> argparse.ArgumentParser:
    """The flags."""
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--quick", action="store_true", help="a few small points")
    flags.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    flags.add_argument("--again", type=Path, metavar="FILE", help="take the figures from there")
    flags.add_argument("--page", type=Path, metavar="FILE.md", help="write tables and plots into this page")
    flags.add_argument("--point", help=argparse.SUPPRESS)  # for the processes that `apart` starts
    return flags


def grid(quick: bool) -> list[Point]:
    """Catalogues at the usual history, then histories at the usual catalogue."""
    films, histories = (FILMS[:3:2], HISTORIES[:3:2]) if quick else (FILMS, HISTORIES)
    sizes = [(n, USUAL_HISTORY) for n in films] + [(USUAL_FILMS, n) for n in histories if n != USUAL_HISTORY]
    return [Point(kind, *size) for size in sizes for kind in KINDS]


def run(points: list[Point]) -> dict[str, Any]:
    """Measure every point in turn: {machine, settings, points: [{kind, films, history, ms, memory_mb}]}."""
    measured = []
    for point in points:
        figures = apart(point)
        measured.append(asdict(point) | figures)
        print(f"{point} {figures}", file=sys.stderr, flush=True)
    settings = {"dim": 64, "layers": 2, "heads": 2, "sequences": SEQUENCES, "negatives": NEGATIVES}
    return {"benchmark": "scaling", "machine": machine.describe(), "settings": settings, "points": measured}


def apart(point: Point) -> dict[str, float]:
    """Measure a point in a fresh process with one thread."""
    command = [sys.executable, "-m", "benchmarks.scaling", "--point", json.dumps(asdict(point))]
    one_thread = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=paths.REPOSITORY, env=one_thread, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)


def measure(point: Point) -> dict[str, float]:
    """Milliseconds and megabytes of a point, in this process."""
    work = requests if point.kind == "request" else steps
    work(generated(SEQUENCES, 10, 5), Point(point.kind, 10, 5))  # what libraries load at first use is no point's cost
    dataset = generated(SEQUENCES, point.films, point.history, user_spread=0)
    if len(dataset.catalog.films) != point.films:  # the list is made when first asked for, and it is data
        raise ValueError(f"{len(dataset.catalog.films)} films were generated, not {point.films}")
    before = peak_from_here_mb()
    seconds = work(dataset, point)
    return {"ms": round(1e3 * statistics.median(seconds), 3), "memory_mb": round(runtime.peak_memory_mb() - before, 1)}


def steps(dataset: Dataset, point: Point) -> list[float]:
    """CPU seconds of training steps; an epoch is one step here, and the first is left out."""
    from recsys.models.ablations import Bert4RecAblated, Bert4RecAblatedConfig
    from recsys.training.options import TrainConfig

    epochs = 4 if point.films >= LARGE else 9
    schedule = TrainConfig(epochs=epochs, batch_size=SEQUENCES)
    config = Bert4RecAblatedConfig(schedule=schedule, length=point.history, pmi_init=False, without="relative bias")
    if point.kind == "sampled-softmax":
        config = replace(config, loss="sampled-softmax", negatives=NEGATIVES)
    ends: list[float] = []

    def step_is_over(event: dict[str, Any]) -> None:
        if not ends:
            peak_from_here_mb()
        ends.append(time.process_time())

    Bert4RecAblated(config).fit(dataset, None, RunOptions(device="cpu", report=step_is_over))
    return [end - start for start, end in pairwise(ends)]


def requests(dataset: Dataset, point: Point) -> list[float]:
    """CPU seconds of single requests; the first three are left out."""
    from recsys.models import registry
    from recsys.models.ablations import Bert4RecAblated, Bert4RecAblatedConfig
    from recsys.serving.predictor import Predictor
    from recsys.serving.recommend import Request, recommend

    config = Bert4RecAblatedConfig(length=point.history + 1, without="relative bias")  # the history and [mask]
    model = Bert4RecAblated(config)
    model.module = model.build(dataset.n_items)
    model.module.eval()
    peak_from_here_mb()
    predictor, request = (
        Predictor(dataset, registry.get("bert4rec"), model),
        Request(tuple(dataset.history(0).tolist())),
    )
    seconds = []
    for _ in range(13 if point.films >= LARGE else 43):
        began = time.process_time()
        recommend(predictor, request)
        seconds.append(time.process_time() - began)
    return seconds[3:]


def peak_from_here_mb() -> float:
    """What this process holds, in MB (10⁶ bytes); its peak is counted anew from here: making a model is no step."""
    Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM, see proc(5)
    return runtime.peak_memory_mb()


def tables(document: dict[str, Any]) -> list[str]:
    """The figures as two Markdown tables, with the machine."""
    points = document["points"]
    by_films = [point for point in points if point["history"] == USUAL_HISTORY]
    by_history = [point for point in points if point["films"] == USUAL_FILMS]
    return [
        f"{machine.format_description(document['machine'])}",
        "",
        f"Histories of {USUAL_HISTORY} films; ms of CPU time on one thread, MB on top of the data:",
        "",
        *table(by_films, "films"),
        "",
        f"A catalogue of {USUAL_FILMS:,} films:",
        "",
        *table(by_history, "history"),
    ]


def table(points: list[dict[str, Any]], growing: str) -> list[str]:
    """Rows by size, columns by kind: time and memory."""
    kinds = [kind for kind in KINDS if any(point["kind"] == kind for point in points)]
    cell = {(p[growing], p["kind"]): f"{number(p['ms'])} ms, {p['memory_mb']:,.0f} MB" for p in points}
    sizes = sorted({point[growing] for point in points})
    return [
        f"| {growing} | " + " | ".join(KINDS[kind] for kind in kinds) + " |",
        "|---:|" + "---:|" * len(kinds),
        *(f"| {size:,} | " + " | ".join(cell.get((size, kind), "") for kind in kinds) + " |" for size in sizes),
    ]


def number(value: float) -> str:
    """Three digits that mean something: 0.914, 12.3, 1,230."""
    return f"{value:,.{max(0, 3 - len(str(int(value))) + (value < 1))}f}"


def draw(document: dict[str, Any], page: Path) -> list[str]:
    """A plot of time and memory for each table, as SVG beside the page; the lines of Markdown that show them."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print(
            f"no plots without matplotlib; run: {python()} -m pip install -r benchmarks/requirements.txt",
            file=sys.stderr,
        )
        return []
    plt.rcParams |= {"svg.hashsalt": "scaling", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10}
    shown = []
    for growing, fixed, usual in (("films", "history", USUAL_HISTORY), ("history", "films", USUAL_FILMS)):
        points = [point for point in document["points"] if point[fixed] == usual]
        figure, panels = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
        for panel, figures, label in zip(panels, ("ms", "memory_mb"), ("ms", "MB"), strict=True):
            for kind in KINDS:
                line = sorted((point[growing], max(point[figures], 0.1)) for point in points if point["kind"] == kind)
                panel.loglog(*zip(*line, strict=True), marker="o", label=KINDS[kind])
            panel.set(xlabel=f"{growing} ({fixed}: {usual:,})", ylabel=label)
            panel.minorticks_off()
            panel.grid(alpha=0.3)
        panels[0].legend(frameon=False)
        file = page.with_name(f"{page.stem}-{growing}.svg")
        figure.savefig(file, metadata={"Date": None}, facecolor="white")
        plt.close(figure)
        shown += ["", f"![Time and memory by {growing}]({file.name})"]
    return shown


def updated(page: str, lines: list[str]) -> str:
    """The page with `lines` between its marks; raises SystemExit where it has none."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"nowhere to write; put these two lines into the page:\n{BEGIN}\n{END}")
    return "\n".join([before + begin, "", *lines, "", end + after])


if __name__ == "__main__":
    sys.exit(main())
