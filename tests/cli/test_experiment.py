from dataclasses import replace

import pytest

from recsys import boards, checkpoints, paths
from recsys.cli.main import main
from recsys.data import datasets, prepared
from recsys.data.split import LEAVE_ONE_OUT
from recsys.errors import RecsysError
from recsys.evaluation import file_order, studies
from recsys.studies import comparisons, run
from recsys.studies.plans import PLANS, VALUE_CHART, Plan, Point
from tests import toys
from tests.evaluation.test_file_order import by_id, world

SMALL = ["--dim", "8", "--length", "12", "--epochs", "1", "--batch-size", "64", "--device", "cpu"]


@pytest.fixture
def fetched(home, monkeypatch):
    """An empty home, and a site that hands out a toy for every set; the names of those that were fetched."""
    names = []

    def get(name, source=None, report=None):
        names.append(name)
        prepared.save(replace(toys.cycle(n_items=150, n_users=80, length=8), name=name), toys.ARCHIVE)
        return datasets.load(name)

    monkeypatch.setattr(datasets, "get", get)
    return names


def thesis(*options):
    return main(["experiment", "thesis", *options, "--set", *SMALL])


def rows(printed, data):
    """The table's rows of a data set: recommender, whose, figures."""
    lines = [line.strip("| ").split(" | ") for line in printed.splitlines() if line.startswith(f"| {data} ")]
    return [[cell.strip() for cell in line[1:]] for line in lines]


def test_the_table_is_made_from_nothing(fetched, capsys):
    assert thesis("--dataset", "ml-1m", "ml-20m") == 0
    assert fetched == ["ml-1m", "ml-20m"]
    printed = capsys.readouterr().out
    first, second = rows(printed, "ml-1m")[:2]
    assert first == ["BERT4Rec", "thesis and paper", ".2863", ".5876", ".6970", ".4454", ".4818", ".4254"]
    assert second[:2] == ["bert4rec-paper", "here, 1 seed"]
    assert len(second) == len(first)
    assert second[2:] != first[2:]
    assert rows(printed, "ml-20m")[0][2:] == [".3440", ".6323", ".7473", ".4967", ".5340", ".4785"]


def test_rivals_have_the_papers_figures_and_ours_or_the_lines_that_measure_them(fetched, capsys):
    assert thesis() == 0
    printed = capsys.readouterr().out
    assert ["SASRec", "paper", ".2351", ".5434", ".6629", ".3980", ".4368", ".3790"] in rows(printed, "ml-1m")
    assert [row[0] for row in rows(printed, "ml-1m")[::2]] == [
        "BERT4Rec", "SASRec", "Caser", "GRU4Rec+", "GRU4Rec", "FPMC", "BPR-MF", "NCF", "Most popular",
    ]  # fmt: skip
    assert ["popular", "here", "not measured yet"] in rows(printed, "ml-1m")
    lines = printed.partition("Not measured yet:\n")[2].splitlines()
    assert any(line.endswith("train sasrec-paper --dataset ml-1m") for line in lines)
    measure = "evaluate popular --dataset ml-1m --protocol popularity-100"
    assert any(line.endswith(measure) for line in lines)
    assert not any("train popular" in line for line in lines)
    assert main(measure.split()) == 0
    assert thesis() == 0
    printed = capsys.readouterr().out
    assert ["popular", "here, 1 seed"] in [row[:2] for row in rows(printed, "ml-1m")]
    assert measure not in printed


def test_what_is_there_is_not_done_again(fetched, capsys):
    assert thesis() == 0
    meta = paths.checkpoint("ml-1m", LEAVE_ONE_OUT.name, "bert4rec-paper", 0) / checkpoints.META
    made = meta.stat().st_mtime_ns
    table = rows(capsys.readouterr().out, "ml-1m")
    assert thesis() == 0
    assert meta.stat().st_mtime_ns == made
    assert fetched == ["ml-1m"]
    assert rows(capsys.readouterr().out, "ml-1m") == table


def test_a_step_that_fails_ends_it(fetched, capsys, monkeypatch):
    def fail(*_):
        raise RecsysError("the site is down")

    monkeypatch.setattr(datasets, "get", fail)
    assert thesis() == 1
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "the site is down\n")


def test_a_set_that_the_thesis_does_not_know_is_refused(fetched, capsys):
    assert thesis("--dataset", "ml-latest-sample") == 1
    assert "no results on ml-latest-sample" in capsys.readouterr().err


def test_the_order_within_a_second_is_told_and_kept(capsys, toy_home):
    prepared.save(world(by_id, n_users=120, films=12), {})
    assert main(["experiment", "ties", "--dataset", "toy"]) == 0
    printed = capsys.readouterr().out
    assert "order of ratings within one second: ascending" in printed
    assert f"0.00% of {120 * 9:,} pairs of one second" in printed
    assert "evaluate all --dataset toy --protocol untied" in printed  # for what recommenders lose
    for protocol in ("full", "untied"):
        assert main(["evaluate", "popular", "--dataset", "toy", "--protocol", protocol]) == 0
    capsys.readouterr()
    assert main(["experiment", "ties", "--dataset", "toy"]) == 0
    assert "| popular | ." in capsys.readouterr().out
    assert file_order.read("toy", pytest.fail)["order"] == "ascending"
    assert main(["experiment", "ties", "--dataset", "ml-1m"]) == 1
    assert "data get ml-1m" in capsys.readouterr().err


def test_a_study_is_trained_once_and_written_from_what_is_there(fetched, capsys, monkeypatch):
    prepared.save(replace(toys.cycle(n_items=30, n_users=40, length=8), name="ml-100k"), {})
    monkeypatch.setattr(paths, "ASSETS", paths.home() / "assets")  # no shipped studies
    small = {"dim": 8, "length": 6, "epochs": 1, "batch_size": 64}
    points = (Point("GRU4Rec", "usual", "gru4rec-ce", small), Point("GRU4Rec", "LSTM", "lstm", small))
    plan = Plan("Cells", "Which cell?", "Papers say so.", "Cell", points, VALUE_CHART)
    monkeypatch.setitem(PLANS, "width", plan)
    assert main(["experiment", "width", "--as-it-is"]) == 1
    assert "nothing of “Cells” has been measured on ml-100k yet" in capsys.readouterr().err
    assert main(["experiment", "width", "--seeds", "2"]) == 0
    first = capsys.readouterr()
    assert "2 of 2: lstm, dim 8" in first.err
    assert "The NDCG@10 of GRU4Rec is lowest" in first.out
    assert main(["experiment", "width", "--seeds", "2"]) == 0
    assert "lstm" not in capsys.readouterr().err
    (study,) = studies.studies()
    assert (study.name, study.title, len(study.table)) == ("width-ml-100k", "Cells", 2)
    assert not paths.ASSETS.exists()
    assert main(["experiment", "width", "--seeds", "2", "--ship"]) == 0
    shipped = sorted(path.name for path in paths.ASSETS.rglob("*.json"))
    assert shipped == ["full.json", "width-ml-100k.json"]
    assert len(boards.read(paths.trials(paths.ASSETS, "ml-100k", "full"))) == 2


def test_a_study_is_named_by_its_protocol_unless_that_is_the_usual_one_or_it_has_none(fetched, monkeypatch):
    prepared.save(replace(toys.cycle(n_items=30, n_users=40, length=8), name="ml-1m"), {})
    seen = []
    monkeypatch.setattr(run, "run_trials", lambda plan, dataset, protocol, seeds, report: seen.append(protocol.name))
    monkeypatch.setattr(run, "build_document", lambda *given: {"answer": ""})
    monkeypatch.setattr(run, "write", lambda name, data, document, protocol, ship: seen.append((name, protocol)) or "")
    monkeypatch.setitem(comparisons.COMPARISONS, "cost", lambda dataset: {"answer": ""})
    for flags in (["width"], ["width", "--protocol", "full"], ["cost", "--protocol", "full"]):
        assert main(["experiment", *flags, "--dataset", "ml-1m"]) == 0
    assert seen == ["untied", ("width", "untied"), "full", ("width", "full"), ("cost", "")]
