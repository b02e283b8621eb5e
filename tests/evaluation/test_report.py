"""Tests of the leaderboards and commands of `report`."""

import json
import re

import numpy as np
import pytest

from recsys import paths
from recsys.data import prepared
from recsys.data.dataset import DataError
from recsys.evaluation import evaluate as run
from recsys.evaluation import published_figures, report, results
from recsys.models.registry import Recommender
from tests import fakes, toys
from tests.evaluation import made_up

RIGHT, WRONG = np.ones((1, 400), int), np.full((1, 400), 50)


def keep(variant, ranks, dataset="ml-1m", **more):
    made_up.keep(variant, ranks, dataset, **more)


def rows(text):
    """Return the rows of the first table by their first cell."""
    table = re.search(r"(^\|.*\n?)+", text, re.MULTILINE)[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]
    return {line[0]: dict(zip(cells[0], line, strict=False)) for line in cells[2:]}


def test_a_row_has_mean_interval_standard_deviation_and_number_of_seeds():
    keep("bert4rec", np.concatenate([RIGHT, WRONG]), interval={"ndcg@10": [0.4876, 0.5124]})
    row = rows(report.format_report())["bert4rec"]
    assert row["NDCG@10 (95 %)"] == ".5000 (.488–.512)"
    assert (row["seeds"], row["± seeds"], row["HR@1"]) == ("2", ".0123", ".5000")


def test_all_published_figures_have_rules_and_a_source(caplog):
    figures = json.loads(paths.published().read_bytes())["figures"]
    for dataset, protocol in {(figure["dataset"], figure["protocol"]) for figure in figures}:
        table = published_figures.published(dataset, protocol)
        assert table[["title", "hr@10", "ndcg@10", "code", "short", "rules", "source"]].notna().all(axis=None)
        assert (table["ndcg@10"] < table["hr@10"]).all()
    assert not caplog.records
    assert {name for figure in figures for name in figure} <= {"dataset", "protocol", *published_figures.COLUMNS}


def test_published_figures_are_in_a_column_with_their_rules():
    keep("bert4rec", RIGHT)
    keep("markov", WRONG)
    table = rows(report.format_report())
    assert ".1537 A" in table["bert4rec"]["published NDCG@10"]
    assert table["markov"]["published NDCG@10"] == ""


def test_published_figures_are_of_the_protocol_of_the_board():
    keep("bert4rec-paper", RIGHT, protocol="popularity-100")
    assert rows(report.format_report())["bert4rec-paper"]["published NDCG@10"] == ".4818 P"


def test_recommenders_that_do_not_differ_from_the_best_are_marked():
    rng = np.random.default_rng(0)
    keep("best", rng.permutation(np.tile([1, 2, 3, 4], 100))[None])
    keep("as-good", rng.permutation(np.tile([1, 2, 3, 4], 100))[None])
    keep("worse", WRONG)
    table = rows(report.format_report())
    marked = {name for name, row in table.items() if row["NDCG@10 (95 %)"].endswith(" =")}
    assert marked == {list(table)[1]} < {"best", "as-good"}


def test_machine_date_versions_and_rules_are_printed():
    keep("bert4rec", RIGHT)
    text = report.format_report()
    assert "## ml-1m, protocol full" in text
    assert "ranked: all." in text
    assert "Measured on a machine, cpu; 2026-01-02; torch 2.13. Fingerprint of the data: ffffffffffff." in text


def test_list_metrics_are_printed_for_results_that_have_them():
    keep("bert4rec", RIGHT, beyond={"coverage@10": 0.25, "gini@10": 0.5}, calibration={"ece": 0.0125})
    keep("markov", WRONG)
    text = report.format_report()
    assert "| top ten of | coverage | Gini | calibration error |" in text
    assert "| bert4rec | 0.25 | 0.5 | 0.0125 * |" in text
    assert "| markov | 0" not in text


def test_list_metrics_that_a_result_lacks_are_empty_cells():
    keep("markov", RIGHT, beyond={"coverage@10": 0.25})
    keep("popular", WRONG, beyond={"coverage@10": 0.5, "gini@10": 0.5})
    text = report.format_report()
    assert "| top ten of | coverage | Gini | calibration error |" in text
    assert "| markov | 0.25 |  |  |" in text
    assert "| popular | 0.5 | 0.5 |  |" in text


def test_results_of_another_protocol_are_a_column():
    keep("markov", RIGHT)
    keep("als", WRONG)
    keep("markov", WRONG, protocol="untied")
    table = rows(report.format_report(["ml-1m"], ["full"], brief=True, other_protocol="untied"))
    figures = {name: row["untied: NDCG@10 (95 %)"] for name, row in table.items()}
    assert figures == {
        "markov": rows(report.format_report(["ml-1m"], ["untied"]))["markov"]["NDCG@10 (95 %)"].rstrip(" ="),
        "als": "",
    }
    assert table["markov"]["NDCG@10 (95 %)"] != figures["markov"]
    assert "untied" not in report.format_report(["ml-1m"], ["full"], brief=True)


def test_an_unknown_data_set_is_an_error_without_a_command():
    with pytest.raises(DataError, match="no data set is called nope; choose one of: ") as caught:
        report.format_report(["nope"])
    assert caught.value.command is None


def test_only_selected_boards_are_printed():
    keep("popular", RIGHT, dataset="ml-latest-sample")
    keep("popular", WRONG)
    keep("als", WRONG, protocol="time")
    brief = report.format_report(["ml-1m"], ["full"], brief=True)
    assert list(rows(brief)) == ["popular"]
    assert "## " not in brief
    headings = [line for line in report.format_report(["ml-1m"], brief=True).splitlines() if line.startswith("#")]
    assert headings == ["## ml-1m, protocol full", "## ml-1m, protocol time"]
    sections = [line for line in report.format_report().splitlines() if line.startswith("## ")]
    assert sections == ["## ml-1m, protocol full", "## ml-1m, protocol time", "## ml-latest-sample, protocol full"]


def test_without_results_the_error_has_a_command():
    with pytest.raises(
        results.ResultError, match=r"there are no results .*; run: .*-m recsys evaluate all --dataset ml-20m"
    ):
        report.format_report(["ml-20m"])


def test_every_section_has_the_number_of_people_and_a_note_for_few_people():
    keep("popular", RIGHT)
    assert "Measured on 400 people.\n" in report.format_report()
    keep("popular", RIGHT[:, :199], protocol="time")
    text = report.format_report(protocol_names=["time"])
    assert "Measured on 199 people. With fewer than 200 people, differences between recommenders are noise." in text


def test_a_stale_result_is_skipped_with_a_command():
    world = toys.cycle()
    prepared.save(world, {})
    run.evaluate("counts", world)
    keep("trained", np.ones((1, 150), int), dataset="cycle")
    warnings = []
    assert list(rows(report.format_report(warn=lambda error: warnings.append(str(error))))) == ["counts"]
    assert len(warnings) == 1
    assert "evaluate trained --dataset cycle --protocol full" in warnings[0]
    keep("counts", np.ones((1, 150), int), dataset="cycle")
    with pytest.raises(results.ResultError, match="evaluate all --dataset cycle --protocol full"):
        report.format_report(warn=lambda error: warnings.append(str(error)))


def test_results_of_a_removed_protocol_are_reported():
    keep("popular", RIGHT, protocol="of-old")
    assert "## ml-1m, protocol of-old" in report.format_report()


def test_codes_of_published_figures_are_explained():
    keep("bpr-mf", RIGHT)
    keep("bert4rec", RIGHT)
    text = report.format_report()
    assert ".0370 A*" in rows(text)["bpr-mf"]["published NDCG@10"]
    assert (
        "Published figures. A: same rules as here: same films, last two films held out, watched films excluded. "
        "A* beside bpr-mf: " in text
    )
    assert "here they are computed from the history." in text


def test_older_calibration_errors_are_marked():
    keep("bert4rec", RIGHT, beyond={"gini@10": 0.5}, calibration={"ece": 0.0125})
    assert "| 0.0125 * |" in report.format_report()
    keep("bert4rec", RIGHT, beyond={"gini@10": 0.5}, calibration={"ece": 0.0125, "over": results.UNSEEN_ITEMS})
    assert "| 0.0125 |" in report.format_report()
    assert "those already seen included" not in report.format_report()


def test_a_real_result_can_be_reported():
    world = toys.cycle()
    run.evaluate("counts", world)
    assert rows(report.format_report())["counts"]["family"] == "Baselines"
    assert "coverage" in report.format_report()
    assert paths.results(paths.home(), world.name, "full").is_file()


TRAINED = {"schedule": {"epochs": 2}}


def lines(variant, protocol="full"):
    """Return the commands that reproduce a result, without the path of Python."""
    return short(report.reproduction_commands(results.load("toy", protocol, variant)))


def short(commands):
    return [command.partition("recsys ")[2] for command in commands]


def test_a_trained_recommender_has_a_training_for_each_seed_and_an_evaluation():
    made_up.keep("sasrec", [[1, 2], [2, 1]], config=TRAINED)
    assert lines("sasrec") == [
        "train sasrec --dataset toy",
        "train sasrec --dataset toy --seed 1",
        "evaluate sasrec --dataset toy --protocol full --seeds 0 1",
    ]


def test_the_additional_training_data_are_in_the_command():
    made_up.keep("sasrec", [[1, 2]], config=TRAINED, also="ml-1m")
    assert lines("sasrec")[0] == "train sasrec --dataset toy --also ml-1m"


def test_a_recommender_without_training_is_only_evaluated():
    made_up.keep("popular", [[1, 2]])
    assert lines("popular") == ["evaluate popular --dataset toy --protocol full"]


def test_a_protocol_with_another_splitting_is_in_the_training_command():
    made_up.keep("sasrec", [[1, 2]], protocol="time", config=TRAINED)
    made_up.keep("sasrec", [[1, 2]], protocol="uniform-100", config=TRAINED)
    assert lines("sasrec", "time")[0] == "train sasrec --dataset toy --protocol time"
    assert lines("sasrec", "uniform-100")[0] == "train sasrec --dataset toy"


def test_unmeasured_recommenders_a_result_are_listed_with_the_commands_that_produce_it(monkeypatch):
    mixture = Recommender("mixture", "A mixture", "Mixtures", ".pool:Pool", settings={"members": ("counts", "trained")})
    monkeypatch.setitem(fakes.VARIANTS, "mixture", mixture)
    missing = report.unmeasured_recommenders(["popular"])
    assert [recommender.title for recommender in missing] == ["A mixture", "Counts", "Trained"]
    training = "train trained --dataset toy --protocol time"
    assert [short(report.first_result_commands(recommender.name, "toy", "time")) for recommender in missing] == [
        [training, "evaluate mixture --dataset toy --protocol time"],
        ["evaluate counts --dataset toy --protocol time"],
        [training, "evaluate trained --dataset toy --protocol time"],
    ]
    mixture, counts, trained = missing
    assert report.group_by_training(missing, "toy") == ([trained], [mixture], [counts])


MIXED = {"members": ["sasrec", "popular"], "edges": []}


def test_the_members_of_a_mixture_are_trained_for_each_seed():
    made_up.keep("popular", [[1, 2]])
    made_up.keep("sasrec", [[1, 2]], config=TRAINED, also="other")
    made_up.keep("hybrid", [[1, 2], [2, 1]], config=MIXED)
    assert lines("hybrid") == [
        "train sasrec --dataset toy --also other",
        "train sasrec --dataset toy --also other --seed 1",
        "evaluate hybrid --dataset toy --protocol full --seeds 0 1",
    ]
