import json
from typing import get_args

import pytest

from benchmarks import bars
from benchmarks.bar import Bar
from recsys.cli.bench import Kind


def test_the_median_is_judged_and_missed_bars_are_called_so(monkeypatch, tmp_path, capsys):
    figures = iter([{"wall_ms": {"p50": ms}, "speed": 7} for ms in (9, 2, 4)])
    monkeypatch.setattr(bars, "BENCHES", (bars.Bench("request", "serve", (Bar("wall_ms.p50", 3), Bar("speed"))),))
    monkeypatch.setattr(bars, "run", lambda bench: next(figures))
    bars.main(["--json", str(tmp_path / "bars.json")])
    document = json.loads((tmp_path / "bars.json").read_text())
    found = document["measured"][0]["figures"]
    assert found["wall_ms.p50"] == {"median": 4, "of": [9, 2, 4], "limit": 3, "holds": False}
    assert found["speed"]["holds"] is None
    assert "4.00  ≤ 3: missed" in capsys.readouterr().out
    assert document["machine"]["torch"]


def test_a_bench_that_fails_is_named():
    with pytest.raises(SystemExit, match="must be at least 1"):
        bars.run(bars.Bench("tiny", "serve --requests 0", ()))


def test_every_bench_runs_a_kind_that_there_is():
    assert {bench.command.split()[0] for bench in bars.BENCHES} <= set(get_args(Kind))


@pytest.mark.parametrize(
    ("bar", "value", "verdict"),
    [
        (Bar("seconds", 30), 30.0, "≤ 30: holds"),
        (Bar("seconds", 30), 30.5, "≤ 30: missed"),
        (Bar("quality", 0.15, at_least=True), 0.16, "≥ 0.15: holds"),
        (Bar("quality", 0.15, at_least=True), 0.14, "≥ 0.15: missed"),
        (Bar("quality", 0.15, at_least=True), None, "≥ 0.15: not measured"),
        (Bar("memory_mb"), 7, ""),
    ],
)
def test_a_bar_holds_or_is_missed_and_an_open_one_is_named(bar, value, verdict):
    assert bar.verdict(value) == verdict
