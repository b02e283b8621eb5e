import json
import os
import sys
from dataclasses import asdict

import pytest

from benchmarks import scaling
from benchmarks.scaling import Point, main
from benchmarks.script import in_new_process
from recsys import paths

DOCUMENT = {
    "machine": {"cpu": "abacus", "cores": 1, "gpu": None, "load": 0.1, "date": "2026-11-21", "commit": "abc"},
    "points": [
        {"kind": kind, "films": films, "history": history, "ms": ms * history * films / 1e6, "memory_mb": films / 1e3}
        for kind, ms in (("softmax", 100), ("request", 1))
        for films, history in ((1_000, 200), (10_000, 200), (10_000, 50))
    ],
}


def test_the_grid_reaches_from_the_smallest_to_the_largest_and_repeats_nothing():
    points = scaling.grid(quick=False)
    assert len(set(points)) == len(points)
    for kind in scaling.KINDS:
        films, histories = ({getattr(p, size) for p in points if p.kind == kind} for size in ("films", "history"))
        assert (min(films), max(films)) == (1_000, 1_000_000)
        assert (min(histories), max(histories)) == (50, 1_000)
    assert set(scaling.grid(quick=True)) < set(points)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory can be counted anew on Linux only")
@pytest.mark.parametrize(("kind", "least", "most"), [("softmax", 4.5, 13), ("request", 0.5, 1.5)])
def test_memory_is_that_of_the_weights_and_of_what_training_keeps_beside_them(kind, least, most):
    # A training step holds five tables: weights, gradient, Adam's two moments and the average. It peaks at 8.5 to 11,
    # depending on the allocator. A request holds the weights.
    table_mb = 200_000 * 64 * 4 / 1e6
    point = Point(kind, films=200_000, history=3)
    # the lowest of three, because the peak of a short process varies by half with the pages that the kernel gives it
    memory_mb = min(in_new_process(scaling.measure, point)["memory_mb"] for _ in range(3))
    assert least * table_mb < memory_mb < most * table_mb


def test_every_point_is_measured_in_a_process_with_one_thread(tmp_path, monkeypatch):
    started = []

    def call(function, point):
        started.append((asdict(point), os.environ["OMP_NUM_THREADS"]))
        return {"ms": 1.5, "memory_mb": 2.0}

    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.setattr(scaling, "in_new_process", call)
    monkeypatch.setattr(scaling.machine, "describe", lambda: DOCUMENT["machine"])
    main(["--quick", "--json", str(tmp_path / "figures.json")])
    points = json.loads((tmp_path / "figures.json").read_text("utf-8"))["points"]
    assert len(points) == len(started) == len(scaling.grid(quick=True))
    assert points[0] == started[0][0] | {"ms": 1.5, "memory_mb": 2.0}
    assert {threads for _, threads in started} == {"1"}


def test_figures_become_tables():
    tables = scaling.tables(DOCUMENT)
    assert "abacus" in tables[0]
    assert "| 10,000 | 200 ms, 10 MB | 2.00 ms, 10 MB |" in tables
    assert "| 50 | 50.0 ms, 10 MB | 0.500 ms, 10 MB |" in tables


@pytest.mark.parametrize(
    ("value", "text"), [(0.0123, "0.012"), (0.914, "0.914"), (1.234, "1.23"), (12.34, "12.3"), (1234.5, "1,234")]
)
def test_a_number_has_three_digits(value, text):
    assert scaling.three_digits(value) == text


def test_the_page_of_the_project_shows_the_figures_that_are_kept():
    page, figures = (paths.REPOSITORY / "benchmarks" / name for name in ("scaling.md", "scaling.json"))
    assert "\n".join(scaling.tables(json.loads(figures.read_text("utf-8")))) in page.read_text("utf-8")
