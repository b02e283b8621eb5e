import json
from typing import get_args

import pytest

from benchmarks import bench_targets
from benchmarks.bench_targets import Bench, Target
from recsys.cli.bench import Kind


def test_the_median_is_compared_with_the_limit(monkeypatch, tmp_path, capsys):
    figures = iter([{"wall_ms": {"p50": ms}, "speed": 7} for ms in (9, 2, 4)])
    benches = (Bench("request", "serve", (Target("wall_ms.p50", 3), Target("speed"))),)
    monkeypatch.setattr(bench_targets, "BENCHES", benches)
    monkeypatch.setattr(bench_targets, "run", lambda bench: next(figures))
    bench_targets.main(["--json", str(tmp_path / "targets.json")])
    document = json.loads((tmp_path / "targets.json").read_text())
    summary = document["measured"][0]["figures"]
    assert summary["wall_ms.p50"] == {"median": 4, "of": [9, 2, 4], "limit": 3, "holds": False}
    assert summary["speed"]["holds"] is None
    assert "4.00  ≤ 3: missed" in capsys.readouterr().out
    assert document["machine"]["torch"]


def test_a_failed_bench_is_named():
    with pytest.raises(SystemExit, match="must be at least 1"):
        bench_targets.run(Bench("tiny", "serve --requests 0", ()))


def test_an_archive_may_have_a_blank_in_its_name(monkeypatch, tmp_path):
    monkeypatch.setattr(bench_targets, "BENCHES", ())
    archive = tmp_path / "two words.zip"
    archive.touch()
    with pytest.raises(SystemExit, match=r"two words\.zip is not a valid archive"):
        bench_targets.main(["--from", str(archive)])


def test_every_bench_runs_an_existing_kind():
    assert {bench.command.split()[0] for bench in bench_targets.BENCHES} <= set(get_args(Kind))


@pytest.mark.parametrize(
    ("target", "value", "verdict"),
    [
        (Target("seconds", 30), 30.0, "≤ 30: met"),
        (Target("seconds", 30), 30.5, "≤ 30: missed"),
        (Target("quality", 0.15, is_minimum=True), 0.16, "≥ 0.15: met"),
        (Target("quality", 0.15, is_minimum=True), 0.14, "≥ 0.15: missed"),
        (Target("quality", 0.15, is_minimum=True), None, "≥ 0.15: not measured"),
        (Target("memory_mb"), 7, ""),
    ],
)
def test_verdicts(target, value, verdict):
    assert target.verdict(value) == verdict
