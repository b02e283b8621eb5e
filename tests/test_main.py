import json
import os
import shlex
import signal
import subprocess
import sys
import time

import pytest

from recsys import paths, store
from recsys.__main__ import main
from recsys.data import prepared
from recsys.evaluation import results
from recsys.training import resume
from tests import toys

SMALL = shlex.split("--dim 16 --length 12 --epochs 4 --batch-size 32 --validate-every 1 --warmup 5 --device cpu")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with one toy data set that is called ml-100k, and nothing shipped."""
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(paths, "ASSETS", tmp_path / "assets")
    prepared.save(toys.dataset([[(user + place) % 20 for place in range(12)] for user in range(60)], 20, "ml-100k"), {})
    return tmp_path / "home"


def test_train_evaluate_and_recommend_work_on_one_another(home, capsys):
    assert main(["train", "bert4rec", "--dataset", "ml-100k", "--seed", "3", *SMALL]) == 0
    assert "epoch   4/4" in capsys.readouterr().out
    assert main(["evaluate", "bert4rec", "--dataset", "ml-100k"]) == 0
    document = results.load("ml-100k", "full", "bert4rec")
    assert [run["seed"] for run in document["seeds"]] == [3]
    assert document["config"]["dim"] == 16
    assert len(results.curve("ml-100k", "bert4rec")) == 4
    capsys.readouterr()
    assert main(["recommend", "Film 4", "Film 5", "-k", "3", "--json"]) == 0
    films = json.loads(capsys.readouterr().out)
    assert [film["rank"] for film in films] == [1, 2, 3]
    assert set(films[0]) == {"rank", "movie_id", "title", "year", "genres", "score", "probability"}


def test_a_model_that_only_counts_can_be_trained_too(home, capsys):
    assert main(["train", "popular"]) == 0
    assert store.find("popular", "ml-100k", seed=0)


def test_progress_can_be_read_by_programs(home, capsys):
    assert main(["train", "bert4rec", "--json", *SMALL]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["epoch"] for event in events] == [1, 2, 3, 4]
    assert {"loss", "ndcg@10", "sequences_per_second", "seconds_left"} <= set(events[0])


def test_a_killed_training_goes_on_and_ends_where_an_unbroken_one_does(home):
    command = [sys.executable, "-m", "recsys", "train", "bert4rec", *SMALL, "--epochs", "60", "--patience", "99"]
    alike = {"cwd": paths.REPOSITORY, "stdout": subprocess.DEVNULL}  # processes alike: threads change the last bits
    # a state after each step, so that the kill falls far from the end
    killed = subprocess.Popen([*command, "--seed", "1", "--save-every", "0"], **alike)
    folder = paths.checkpoint("ml-100k", "bert4rec", 1)
    while not (folder / resume.FILE).exists() and killed.poll() is None:
        time.sleep(0.01)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    assert not (folder / store.META).exists()  # it had not finished
    subprocess.run([*command, "--seed", "1", "--resume"], **alike, check=True)
    log = (folder / paths.LOG).read_text().splitlines()
    assert [json.loads(line)["epoch"] for line in log] == list(range(1, 61))
    resumed = (folder / store.WEIGHTS).read_bytes()
    subprocess.run([*command, "--seed", "1"], **alike, check=True)
    assert (folder / store.WEIGHTS).read_bytes() == resumed


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["train", "bert4rec", "--dataset", "ml-1m"], "python -m recsys data get ml-1m"),
        (["train", "bert5rec"], "no model is called bert5rec; there are: bert4rec"),
        (["train", "bert4rec", "--device", "cuda:9"], "use --device cpu"),
        (["evaluate", "bert4rec", "--dataset", "ml-100k"], "python -m recsys train bert4rec --dataset ml-100k"),
        (["recommend", "--model", "nobody", "Film 1"], "no model is called nobody"),
        (["recommend", "--model", "popular", "Flm 3"], "did you mean"),
    ],
)
def test_what_a_person_can_mend_is_one_line_and_no_traceback(home, capsys, command, sentence):
    assert main(command) == 1
    printed = capsys.readouterr()
    assert sentence in printed.err
    assert len(printed.err.strip().splitlines()) == 1
    assert not printed.out


def test_a_missing_package_is_named_in_one_line(home, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "implicit.cpu.als", None)
    assert main(["evaluate", "ials"]) == 1
    assert capsys.readouterr().err.strip().splitlines()[-1].endswith("run: pip install implicit")


def test_a_command_line_that_makes_no_sense_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["recommend", "--no-such-flag"])
    assert "usage" in capsys.readouterr().err
