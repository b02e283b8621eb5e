import json
from functools import partial

import pytest

from benchmarks.reliability import __main__ as reliability
from benchmarks.reliability import malicious, record, security
from benchmarks.reliability.faults import elsewhere
from benchmarks.reliability.promise import FAILS, HOLDS, IN_PART, NOT_MEASURED, Outcome, Promise, judged
from recsys.paths import REPOSITORY

fine, half = partial(judged, "7 of 7", {"all": True}), partial(judged, "3 of 7", {"left": True, "right": False})
nothing = partial(judged, "0 of 7", {"all": False})
broken = partial(int, "|")


def bars(**measures):
    return {name: Promise(name, f"what {name} promises", 0.1, measure) for name, measure in measures.items()}


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "JSON", tmp_path / "reliability.json")
    monkeypatch.setattr(record, "TABLE", tmp_path / "reliability.md")
    return tmp_path


def test_there_are_forty_bars_and_each_has_its_row():
    families = {"L": 8, "F": 8, "B": 9, "S": 10, "D": 5}
    assert list(reliability.BARS) == [f"{letter}{n}" for letter, most in families.items() for n in range(1, most + 1)]
    table = record.TABLE.read_text("utf-8")
    assert [line.split()[1] for line in table.splitlines() if line.startswith("| ") and "`" in line] == [
        *reliability.BARS
    ]


def test_the_table_is_that_of_the_figures_beside_it(kept):
    committed = REPOSITORY / "benchmarks"
    (kept / "reliability.json").write_bytes((committed / "reliability.json").read_bytes())
    record.write(reliability.BARS.values())
    assert record.TABLE.read_bytes() == (committed / "reliability.md").read_bytes()


def test_a_bar_holds_when_all_of_it_does_and_what_does_not_is_named():
    assert judged("x", {"a": True, "b": True}) == Outcome(HOLDS, "x")
    assert judged("x", {"a": True, "b": False}) == Outcome(IN_PART, "x", ("b",))
    assert judged("x", {"a": False, "b": False}) == Outcome(FAILS, "x", ("a", "b"))


def test_some_bars_are_measured_each_in_a_process_of_its_own_and_kept(kept, monkeypatch, capsys):
    monkeypatch.setattr(reliability, "BARS", bars(L1=fine, L2=half, S1=broken))
    assert reliability.main(["l", "S1", "--write", "--json", str(kept / "now.json")]) == 0
    rows = json.loads((kept / "now.json").read_text("utf-8"))
    assert {name: row["verdict"] for name, row in rows.items()} == {"L1": HOLDS, "L2": IN_PART, "S1": NOT_MEASURED}
    assert rows["S1"]["figure"] == "ValueError: invalid literal for int() with base 10: '|'"
    assert rows["L2"]["open"] == ["right"]
    assert rows["L1"]["machine"]["cores"]
    assert "1 holds, 1 in part, 1 not measured" in capsys.readouterr().out
    table = record.TABLE.read_text("utf-8")
    assert "| L2 | what L2 promises | **in part** | 3 of 7 | right | `python -m benchmarks.reliability L2` |" in table
    assert "base 10: '\\|'" in table


def test_what_was_measured_earlier_stays_until_it_is_measured_again(kept, monkeypatch):
    monkeypatch.setattr(reliability, "BARS", bars(L1=half, L2=half))
    reliability.main(["--write"])
    monkeypatch.setattr(reliability, "BARS", bars(L1=fine, L2=fine, L3=fine))
    reliability.main(["L1", "--write"])
    assert {name: row["verdict"] for name, row in record.kept().items()} == {"L1": HOLDS, "L2": IN_PART}
    assert "| L3 | what L3 promises | not measured |" in record.TABLE.read_text("utf-8")


def test_a_bar_that_fails_is_the_exit_code(kept, monkeypatch):
    monkeypatch.setattr(reliability, "BARS", bars(L1=nothing))
    assert reliability.main([]) == 1
    assert not record.JSON.exists()  # without --write


def test_a_measurement_that_is_not_there_is_said():
    assert elsewhere("benchmarks.reliability.nowhere", "F1").verdict == NOT_MEASURED
    assert elsewhere("benchmarks.reliability.promise", "F1").verdict == NOT_MEASURED


def test_an_unknown_bar_is_refused_with_those_that_there_are(capsys):
    with pytest.raises(SystemExit):
        reliability.main(["X9"])
    assert "there is no bar X9; there are L1, L2" in capsys.readouterr().err


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home folder for bars that are quick enough for every day."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECSYS_HOME", str(tmp_path_factory.mktemp("home")))
        yield


def test_no_artifact_is_unpickled(home):
    assert reliability.alone(reliability.BARS["S2"]).open == ()  # alone, because an audit hook stays for good


def test_names_in_archives_lead_nowhere(home):
    assert security.s5().open == ()


def test_no_malicious_artifact_runs(home):
    n, run, _ = malicious.tried()
    assert n >= 70
    assert run == []


def test_a_payload_that_runs_would_be_noticed(tmp_path):
    malicious.assert_it_bites(malicious.payload(tmp_path / "canary"), tmp_path / "canary")
    with pytest.raises(RuntimeError, match="does nothing"):
        malicious.assert_it_bites(b"N.", tmp_path / "canary")
