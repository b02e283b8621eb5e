import pytest

from pages.train import form
from recsys import checkpoints
from recsys.config import replace_settings
from recsys.data import datasets
from recsys.jobs import options
from recsys.models import registry
from recsys.training.options import TrainingSummary
from tests import fakes
from tests.jobs.conftest import DATA

NETWORKS = [name for name in registry.names() if registry.get(name).needs_training]


@pytest.mark.parametrize("name", NETWORKS)
def test_every_setting_has_a_label_and_help_and_begins_as_tuned(name):
    preset = registry.get(name).preset(DATA)
    first, more = (options.settings(name, DATA, names) for names in (options.MAIN_SETTINGS, options.MORE_SETTINGS))
    assert (first | more).keys() <= form.SETTINGS.keys()
    assert list(first)[:2] == ["epochs", "lr"]
    assert replace_settings(preset, first | more) == preset


def test_how_long_it_took_is_what_the_one_that_is_there_says(two_sets, monkeypatch):
    assert options.previous_training("sasrec-bce", DATA) is None
    monkeypatch.setattr(registry, "get", fakes.VARIANTS.__getitem__)
    dataset = datasets.load(DATA)
    model = fakes.Trained().fit(dataset)
    checkpoints.save("trained", model, dataset, 0, TrainingSummary(2, 3, 61.5, {}, "cuda").notes())
    assert options.previous_training("trained", DATA) == options.PreviousTraining(61.5, 3, "cuda")
    checkpoints.save("trained", model, dataset, 0, {"epochs": 3})  # of a day when times were not kept
    assert options.previous_training("trained", DATA) is None


def test_a_machine_has_a_processor_to_train_on():
    assert list(options.devices())[-1] == "cpu"
