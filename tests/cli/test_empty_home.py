"""Commands that need a data set prepare the one that comes with the project, in a home where nothing is yet."""

import pytest

from recsys import paths
from recsys.cli.main import main
from recsys.data import datasets, prepared
from recsys.data.split import LEAVE_ONE_OUT
from tests import toys

pytestmark = pytest.mark.usefixtures("home")


def test_evaluate_prepares_the_first_set(capsys):
    assert main(["evaluate", "popular"]) == 0
    assert "NDCG@10".lower() in capsys.readouterr().out.lower()
    assert datasets.prepared_names() == [datasets.DEFAULT_DATASET]


def test_train_prepares_the_first_set(capsys):
    assert main(["train", "popular"]) == 0
    assert str(paths.checkpoint(datasets.DEFAULT_DATASET, LEAVE_ONE_OUT.name, "popular", 0)) in capsys.readouterr().out
    assert datasets.prepared_names() == [datasets.DEFAULT_DATASET]


def test_further_training_data_are_prepared_too(monkeypatch):
    prepared.save(toys.over_days([[(film, film) for film in range(5)]] * 3, 5, "ml-1m"), {})
    monkeypatch.setattr("recsys.data.assemble.add_users_from", lambda other, train, *_: train)
    assert main(["train", "popular", "--dataset", "ml-1m", "--also", datasets.DEFAULT_DATASET]) == 0
    assert datasets.DEFAULT_DATASET in datasets.prepared_names()


def test_a_set_that_is_not_shipped_is_still_asked_for(capsys):
    assert main(["evaluate", "popular", "--dataset", "ml-1m"]) == 1
    assert "data get ml-1m" in capsys.readouterr().err
