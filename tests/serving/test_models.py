import pytest

from recsys.models import registry
from recsys.serving import models
from tests import toys


def test_every_recommender_can_be_chosen_and_the_fallback_comes_last():
    names = [variant.name for variant in models.variants()]
    assert sorted(names) == sorted(registry.names())
    assert names[-1] == models.FALLBACK


def test_the_fallback_answers_without_having_been_trained(tmp_path, monkeypatch):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    dataset = toys.cycle()
    assert models.load(models.FALLBACK, dataset).title == "Most popular"


def test_a_recommender_that_must_be_trained_first_says_how(tmp_path, monkeypatch):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    with pytest.raises(models.StoreError, match="python -m recsys train bert4rec --dataset cycle"):
        models.load("bert4rec", toys.cycle())


def test_the_trained_ones_are_those_whose_weights_are_there(tmp_path, monkeypatch):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    dataset = toys.cycle()
    assert models.trained(dataset.name) == []
    models.load(models.FALLBACK, dataset)
    assert [variant.name for variant in models.trained(dataset.name)] == [models.FALLBACK]
