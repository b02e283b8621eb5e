import json

import pytest

from benchmarks import time_to_quality
from benchmarks.generated_data import generate_dataset
from benchmarks.time_to_quality import main
from recsys.evaluation.rank import rank_held_out
from recsys.ranking.metrics import summary

SMOKE = ["--smoke", "--device", "cpu", "--epochs", "2"]


@pytest.fixture
def looked_at(monkeypatch):
    """What was ranked: (held-out films, ranks), one for each look at the test films."""
    looks = []

    def watched(model, held_out, protocol, dataset, **options):
        result = rank_held_out(model, held_out, protocol, dataset, **options)
        looks.append((held_out, result.ranks))
        return result

    monkeypatch.setattr(time_to_quality, "rank_held_out", watched)
    return looks


def test_the_test_films_are_ranked_once_and_every_second_is_accounted_for(tmp_path, looked_at):
    main([*SMOKE, "--json", str(tmp_path / "run.json")])
    document = json.loads((tmp_path / "run.json").read_text("utf-8"))
    (run,) = document["runs"]
    ((held_out, found),) = looked_at
    watched = len(generate_dataset(*time_to_quality.SMOKE_SHAPE).interactions)
    assert sum(map(len, held_out.queries.histories)) == watched - len(held_out) == watched - 200  # all but the last
    assert run["test_ndcg@10"] == pytest.approx(summary(found)["ndcg@10"], abs=1e-6)
    parts = ("load_seconds", "preparation_seconds", "training_seconds", "test_seconds")
    rounded = 0.005 * (len(parts) + 1)  # each figure to hundredths
    assert sum(run[part] for part in parts) == pytest.approx(run["total_seconds"], abs=rounded)
    assert [point["epoch"] for point in run["curve"]] == [1, 2]
    assert run["valid_ndcg@10"] == max(point["ndcg@10"] for point in run["curve"])
    assert document["machine"]["cores"] >= 1


def test_settings_are_chosen_without_the_test_films(tmp_path, looked_at, capsys):
    main([*SMOKE, "--no-test", "--lr", "1e-4", "--json", str(tmp_path / "run.json")])
    (run,) = json.loads((tmp_path / "run.json").read_text("utf-8"))["runs"]
    assert looked_at == []
    assert "test_ndcg@10" not in run
    assert run["config"]["schedule"]["lr"] == 1e-4
    assert "test_ndcg" not in capsys.readouterr().out


def test_missing_data_is_one_line(home):
    with pytest.raises(SystemExit, match=r"-m recsys data get ml-1m$"):
        main(["--device", "cpu"])


@pytest.mark.parametrize(("dataset", "is_checked"), [("ml-1m", True), ("ml-20m", False)])
def test_a_run_is_compared_with_the_targets_of_its_data_set_only(monkeypatch, capsys, dataset, is_checked):
    result = {"dataset": dataset, "device": "cuda", "training_seconds": 20.0}
    monkeypatch.setattr(time_to_quality, "measure", lambda *arguments: result)
    monkeypatch.setattr(time_to_quality.datasets, "load", lambda name: generate_dataset(*time_to_quality.SMOKE_SHAPE))
    main(["--dataset", dataset])
    assert ("target ≤ 30: met" in capsys.readouterr().out) == is_checked
