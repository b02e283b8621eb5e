from dataclasses import replace

import pytest

from recsys import paths, store
from recsys.cli.main import main
from recsys.data import movielens, prepared
from recsys.data.split import LEAVE_ONE_OUT
from recsys.errors import RecsysError
from tests import toys

SMALL = ["--dim", "8", "--length", "12", "--epochs", "1", "--batch-size", "64", "--device", "cpu"]


@pytest.fixture
def fetched(tmp_path, monkeypatch):
    """An empty home, and a site that hands out a toy for every set; the names of those that were fetched."""
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    names = []

    def get(name, source=None, report=None):
        names.append(name)
        prepared.save(replace(toys.cycle(n_items=150, n_users=80, length=8), name=name), {})
        return movielens.load(name)

    monkeypatch.setattr(movielens, "get", get)
    return names


def thesis(*options):
    return main(["experiment", "thesis", *options, "--set", *SMALL])


def test_the_table_is_made_from_nothing(fetched, capsys):
    assert thesis("--dataset", "ml-1m", "ml-20m") == 0
    assert fetched == ["ml-1m", "ml-20m"]
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if line.startswith("| ml-")]
    assert [(row[0], row[1]) for row in rows] == [
        ("| ml-1m", "thesis"),
        ("| ml-1m", "here, 1 seed"),
        ("| ml-20m", "thesis"),
        ("| ml-20m", "here, 1 seed"),
    ]
    assert rows[0][4] == ".6970"
    assert rows[1][2:] != rows[0][2:]


def test_what_is_there_is_not_done_again(fetched, capsys):
    assert thesis() == 0
    weights = paths.checkpoint("ml-1m", LEAVE_ONE_OUT.name, "bert4rec", 0) / store.WEIGHTS
    made = weights.stat().st_mtime_ns
    table = capsys.readouterr().out.splitlines()[-4:]
    assert thesis() == 0
    assert weights.stat().st_mtime_ns == made
    assert fetched == ["ml-1m"]
    assert capsys.readouterr().out.splitlines() == table


def test_a_step_that_fails_ends_it(fetched, capsys, monkeypatch):
    def fail(*_):
        raise RecsysError("the site is down")

    monkeypatch.setattr(movielens, "get", fail)
    assert thesis() == 1
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "the site is down\n")


def test_a_set_that_the_thesis_does_not_know_is_refused(fetched, capsys):
    assert thesis("--dataset", "ml-latest-sample") == 1
    assert "no row for ml-latest-sample" in capsys.readouterr().err
