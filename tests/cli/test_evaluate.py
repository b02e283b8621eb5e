import pytest

from recsys.cli import evaluate
from recsys.cli.main import main
from recsys.evaluation import results
from recsys.evaluation.protocols import PROTOCOLS
from recsys.models import registry
from tests import fakes


@pytest.fixture(autouse=True)
def few(toy_home, monkeypatch):
    """Two recommenders: one that is fitted on first use, and one that nobody has trained."""
    monkeypatch.setattr(registry, "get", fakes.VARIANTS.__getitem__)
    monkeypatch.setattr(registry, "names", lambda: list(fakes.VARIANTS))


def test_all_measures_what_can_be_measured_and_names_the_rest(capsys):
    assert main(["evaluate", "all", "--protocol", "all"]) == 0
    said = capsys.readouterr()
    measured = [name for name, protocol in PROTOCOLS.items() if not protocol.n_candidates]
    assert [line.split()[:2] for line in said.out.splitlines()] == [["counts", protocol] for protocol in measured]
    assert "skipped trained, full: no checkpoint for trained on ml-latest-sample; run: " in said.err
    assert "skipped counts, popularity-100: " in said.err  # the toy has too few films to draw from
    assert {protocol for _, protocol in results.available()} == set(measured)


def test_nothing_measured_is_a_failure(capsys):
    assert main(["evaluate", "trained", "--protocol", "all"]) == 1
    assert len(capsys.readouterr().err.splitlines()) == len(PROTOCOLS)


def test_a_bug_in_one_of_all_is_no_skipped_line(monkeypatch):
    def broken(*_, **__):
        raise KeyError("Heat")

    monkeypatch.setattr("recsys.evaluation.evaluate.evaluate", broken)
    with pytest.raises(KeyError):
        main(["evaluate", "all"])


def test_one_result_is_a_table_with_every_metric(capsys):
    assert main(["evaluate", "counts", "--part", "valid"]) == 0
    heading, columns, *rows = capsys.readouterr().out.splitlines()
    assert heading == "Counts · ml-latest-sample · full · valid"
    assert columns.split() == ["mean", "95", "%", "from", "to", "±", "std", "seed", "0"]
    assert [row.split()[0] for row in rows] == list(results.METRICS)
    assert results.available() == []  # validation leaves no file


def test_the_table_shows_the_spread_over_several_seeds():
    document = {
        "title": "Toy", "dataset": "toy", "protocol": {"name": "full"},
        "seeds": [{"seed": 0, "metrics": {"mrr": 0.1}}, {"seed": 7, "metrics": {"mrr": 0.3}}],
        "mean": {"mrr": 0.2}, "std": {"mrr": 0.1414}, "interval": {"mrr": [0.15, 0.25]},
    }  # fmt: skip
    assert evaluate.format_table(document).splitlines()[-1].split() == [
        "mrr", "0.2000", "0.1500", "0.2500", "0.1414", "0.1000", "0.3000",
    ]  # fmt: skip


def test_it_computes_on_the_device_that_is_asked_for(capsys):
    assert main(["evaluate", "counts", "--device", "cpu"]) == 0
    assert main(["evaluate", "counts", "--device", "mps"]) == 1
    assert "mps is not supported" in capsys.readouterr().err
