import sys

import pandas as pd
import pytest

from deploy import batch_recommend
from deploy.batch_recommend import divide
from recsys.data import datasets
from recsys.serving import predictor, users
from recsys.serving.filters import Filters

DATA = "ml-latest-sample"


def run(folder, *more):
    batch_recommend.main(["--model", "markov", "-k", "3", "--part", "25", "--out", str(folder), *more])


def lists(folder):
    return pd.concat([pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))], ignore_index=True)


def test_parts_cover_everybody_once():
    assert divide(60, 25) == [range(25), range(25, 50), range(50, 60)]
    assert divide(50, 25) == [range(25), range(25, 50)]


@pytest.mark.parametrize(("flag", "value"), [("--part", "0"), ("--workers", "0"), ("-k", "-1")])
def test_numbers_below_one_are_refused(tmp_path, capsys, flag, value):
    with pytest.raises(SystemExit) as end:
        run(tmp_path, flag, value)
    assert end.value.code == 2
    assert f"{flag} must be at least 1" in capsys.readouterr().err


def test_the_parts_together_are_everybodys_lists(toy_home, tmp_path):
    run(tmp_path / "lists", "--workers", "1")
    ready = predictor.load("markov", datasets.load(DATA))
    whole = users.recommend_for_users(ready, 3, Filters())
    assert len(list((tmp_path / "lists").glob("*.parquet"))) == 3
    pd.testing.assert_frame_equal(lists(tmp_path / "lists"), whole)


@pytest.mark.parametrize("wanted", [("--dataset", "ml-1m"), ("--model", "nonsense")])
def test_what_is_missing_is_one_line(toy_home, tmp_path, wanted):
    with pytest.raises(SystemExit, match=r"run: .* data get ml-1m$|no recommender is called nonsense"):
        run(tmp_path / "lists", "--workers", "1", *wanted)


def test_a_run_that_was_cut_off_makes_only_what_is_missing(toy_home, tmp_path, capsys):
    folder = tmp_path / "lists"
    run(folder, "--workers", "1")
    first, lost, _ = sorted(folder.glob("*.parquet"))
    before = first.stat().st_mtime_ns
    lost.unlink()
    capsys.readouterr()
    run(folder, "--workers", "1")
    assert capsys.readouterr().out == "60 of 60 people\n"
    assert lost.exists()
    assert first.stat().st_mtime_ns == before


@pytest.mark.parametrize("change", [("--model", "popular"), ("-k", "4"), ("--part", "20")])
def test_a_folder_with_lists_of_other_parameters_is_refused(toy_home, tmp_path, change):
    run(tmp_path / "lists", "--workers", "1")
    before = lists(tmp_path / "lists")
    with pytest.raises(SystemExit, match="has lists with other parameters"):
        run(tmp_path / "lists", "--workers", "1", *change)
    pd.testing.assert_frame_equal(lists(tmp_path / "lists"), before)


def test_lists_of_an_older_version_without_parameters_are_refused(toy_home, tmp_path):
    run(tmp_path / "lists", "--workers", "1")
    (tmp_path / "lists" / batch_recommend.PARAMETERS).unlink()
    with pytest.raises(SystemExit, match="dataset unknown, not ml-latest-sample"):
        run(tmp_path / "lists", "--workers", "1")


def test_several_workers_need_ray_and_say_how_it_is_had(toy_home, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SystemExit, match="pip install ray"):
        run(tmp_path, "--workers", "2")
