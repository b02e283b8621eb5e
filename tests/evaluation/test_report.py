import re

import numpy as np

from recsys import paths
from recsys.__main__ import main
from recsys.evaluation import report, results, run
from recsys.evaluation.metrics import summary
from tests import toys

RIGHT, WRONG = np.ones((1, 400), int), np.full((1, 400), 50)


def keep(variant, ranks, dataset="ml-1m", protocol="full", **more):
    """Write a result as `evaluate` does, with made-up ranks (S, B)."""
    each = [summary(row) for row in ranks]
    mean = {name: float(np.mean([metrics[name] for metrics in each])) for name in each[0]}
    document = dict.fromkeys(("variant", "model", "title", "family", "paper"), variant)
    document |= {"dataset": dataset, "protocol": {"name": protocol, "ranked": "all"}, "fingerprint": "f" * 64}
    document |= {"config": {}, "mean": mean, "std": {"ndcg@10": 0.0123} if len(ranks) > 1 else {}}
    document |= {"seeds": [{"seed": seed, "metrics": metrics} for seed, metrics in enumerate(each)]}
    circumstances = {"machine": "a machine", "device": "cpu", "date": "2026-01-02T03:04", "versions": {"torch": "2.13"}}
    results.write(document | more | {"run": circumstances}, np.asarray(ranks))


def rows(text):
    """The rows of the first table by their first cell."""
    table = re.search(r"(^\|.*\n?)+", text, re.MULTILINE)[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]
    return {line[0]: dict(zip(cells[0], line, strict=False)) for line in cells[2:]}


def test_a_row_holds_the_mean_its_interval_its_spread_and_the_count_of_seeds():
    keep("bert4rec", np.concatenate([RIGHT, WRONG]), interval={"ndcg@10": [0.4876, 0.5124]})
    row = rows(report.report())["bert4rec"]
    assert row["NDCG@10 (95 %)"] == ".5000 (.488–.512)"
    assert (row["seeds"], row["± seeds"], row["HR@1"]) == ("2", ".0123", ".5000")


def test_published_figures_stand_beside_ours_with_their_rules():
    keep("bert4rec", RIGHT)
    keep("markov", WRONG)
    table = rows(report.report())
    assert ".1537 A" in table["bert4rec"]["published NDCG@10"]
    assert table["markov"]["published NDCG@10"] == ""


def test_figures_of_another_protocol_are_not_mixed_in():
    keep("bert4rec", RIGHT, protocol="popularity-100")
    assert rows(report.report())["bert4rec"]["published NDCG@10"] == ".4818 P"


def test_whoever_cannot_be_told_from_the_best_is_marked():
    rng = np.random.default_rng(0)
    keep("best", rng.permutation(np.tile([1, 2, 3, 4], 100))[None])
    keep("as-good", rng.permutation(np.tile([1, 2, 3, 4], 100))[None])
    keep("worse", WRONG)
    table = rows(report.report())
    marked = {name for name, row in table.items() if row["NDCG@10 (95 %)"].endswith(" =")}
    assert marked == {list(table)[1]} < {"best", "as-good"}


def test_machine_date_versions_and_rules_are_told():
    keep("bert4rec", RIGHT)
    text = report.report()
    assert "## ml-1m, protocol full" in text
    assert "ranked: all." in text
    assert "Measured on a machine, cpu; 2026-01-02; torch 2.13. Fingerprint of the data: ffffffffffff." in text


def test_what_lists_are_like_is_printed_where_it_was_measured():
    keep("bert4rec", RIGHT, beyond={"coverage@10": 0.25, "gini@10": 0.5}, calibration={"ece": 0.0125})
    keep("markov", WRONG)
    text = report.report()
    assert "| top ten of | coverage | Gini | calibration error |" in text
    assert "| bert4rec | 0.25 | 0.5 | 0.0125 |" in text
    assert "| markov | 0" not in text


def test_only_what_is_asked_for_is_printed(capsys):
    keep("popular", RIGHT, dataset="ml-100k")
    keep("popular", WRONG, dataset="ml-1m")
    assert main(["report", "--dataset", "ml-1m", "--brief"]) == 0
    printed = capsys.readouterr().out
    assert list(rows(printed)) == ["popular"]
    assert "## " not in printed
    assert main(["report", "--dataset", "ml-20m"]) == 1
    assert "python -m recsys evaluate" in capsys.readouterr().err


def test_a_real_result_can_be_reported():
    world = toys.cycle()
    run.evaluate("counts", world)
    assert rows(report.report())["counts"]["family"] == "Baselines"
    assert "coverage" in report.report()
    assert paths.results(paths.home(), world.name, "full").exists()
