from dataclasses import replace

import pytest

from recsys import experiment, paths, store
from recsys.__main__ import main
from recsys.data import prepared
from tests import toys

SMALL = ["--dim", "8", "--length", "12", "--epochs", "1", "--batch-size", "64", "--device", "cpu"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty home, and a site that hands out a toy for every set that is fetched."""
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    fetched = []

    def get(name, source=None):
        fetched.append(name)
        prepared.save(replace(toys.cycle(n_items=150, n_users=80, length=8), name=name), {})
        return 0

    monkeypatch.setattr(experiment, "get_command", get)
    return fetched


def thesis(*options):
    return main(["experiment", "thesis", *options, "--set", *SMALL])


def test_the_table_is_made_from_nothing(home, capsys):
    assert thesis("--dataset", "ml-1m", "ml-20m") == 0
    assert home == ["ml-1m", "ml-20m"]
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if line.startswith("| ml-")]
    assert [(row[0], row[1]) for row in rows] == [
        ("| ml-1m", "thesis"),
        ("| ml-1m", "here, 1 seed"),
        ("| ml-20m", "thesis"),
        ("| ml-20m", "here, 1 seed"),
    ]
    assert rows[0][4] == ".6970"
    assert rows[1][2:] != rows[0][2:]


def test_what_is_there_is_not_done_again(home, capsys):
    assert thesis() == 0
    weights = paths.checkpoint("ml-1m", "bert4rec", 0) / store.WEIGHTS
    made = weights.stat().st_mtime_ns
    table = capsys.readouterr().out.splitlines()[-4:]
    assert thesis() == 0
    assert weights.stat().st_mtime_ns == made
    assert home == ["ml-1m"]
    assert capsys.readouterr().out.splitlines() == table


def test_a_step_that_fails_ends_it(home, capsys, monkeypatch):
    monkeypatch.setattr(experiment, "get_command", lambda name: 1)
    assert thesis() == 1
    assert "thesis" not in capsys.readouterr().out


def test_a_set_that_the_thesis_does_not_know_is_refused(home, capsys):
    assert thesis("--dataset", "ml-100k") == 1
    assert "no row for ml-100k" in capsys.readouterr().err
