import json

import pytest

from benchmarks import bars


def test_the_median_is_judged_and_missed_bars_are_called_so(monkeypatch, tmp_path, capsys):
    figures = iter([{"wall_ms": {"p50": ms}, "speed": 7} for ms in (9, 2, 4)])
    monkeypatch.setattr(bars, "BENCHES", (bars.Bench("request", "serve", {"wall_ms.p50": 3, "speed": None}),))
    monkeypatch.setattr(bars, "run", lambda bench: next(figures))
    bars.main(["--json", str(tmp_path / "bars.json")])
    document = json.loads((tmp_path / "bars.json").read_text())
    found = document["measured"][0]["figures"]
    assert found["wall_ms.p50"] == {"median": 4, "of": [9, 2, 4], "limit": 3, "holds": False}
    assert found["speed"]["holds"] is None
    assert "4.00  ≤ 3: missed" in capsys.readouterr().out
    assert document["machine"]["torch"]


def test_a_bench_that_fails_is_named():
    with pytest.raises(SystemExit, match="at least one request"):
        bars.run(bars.Bench("tiny", "serve --requests 0", {}))


def test_every_bench_runs_a_kind_that_there_is():
    from recsys.bench._commands import KINDS

    assert {bench.command.split()[0] for bench in bars.BENCHES} <= set(KINDS)
