import json
from dataclasses import dataclass, field

import pytest

from recsys import files, paths
from recsys.models import registry
from recsys.models.base import ConfigError, Variant, changed, config_from_dict, config_to_dict
from recsys.training.config import Count, Settings, added
from tests import fakes


@dataclass(frozen=True)
class Inner(Settings):
    epochs: Count = 3


@dataclass(frozen=True)
class Outer:
    inner: Inner = field(default_factory=Inner)
    sizes: tuple[int, ...] = (3, 4)


def test_a_config_comes_back_from_json_as_it_was():
    config = Outer(Inner(epochs=7), sizes=(1, 2))
    assert config_from_dict(Outer, json.loads(json.dumps(config_to_dict(config)))) == config


@dataclass(frozen=True)
class Grown(Inner):
    colour: str = added("red")


def test_a_setting_that_came_later_may_be_missing_and_is_written_down_where_it_says_something_new():
    assert config_from_dict(Grown, {"epochs": 3}) == Grown(3, "red")
    assert config_to_dict(Grown(3, "red")) == {"epochs": 3}
    assert config_to_dict(Grown(3, "blue")) == {"epochs": 3, "colour": "blue"}
    assert config_from_dict(Grown, {"epochs": 3, "colour": "blue"}) == Grown(3, "blue")
    with pytest.raises(ValueError, match="epochs is missing for Grown"):
        config_from_dict(Grown, {"colour": "blue"})


SHIPPED = sorted((paths.ASSETS / "checkpoints").glob("*/*/*/meta.json"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: "-".join(path.parts[-4:-1]))
def test_the_settings_of_shipped_checkpoints_are_read_and_written_down_alike(path):
    known = files.read_sealed(path)
    config = config_from_dict(registry.get(known["variant"]).architecture.Config, known["config"])
    assert json.loads(json.dumps(config_to_dict(config))) == known["config"]  # JSON has no tuples


@pytest.mark.parametrize("name", registry.names())
def test_every_variants_settings_come_back_from_json_as_they_were(name):
    variant = registry.get(name)
    for config in (variant.preset(""), *variant.presets.values()):
        assert config_from_dict(type(config), json.loads(json.dumps(config_to_dict(config)))) == config


@pytest.mark.parametrize(
    ("document", "what"),
    [
        ({"inner": {"epochs": 3}, "sizes": [], "colour": "red"}, "Outer has no colour"),
        ({"inner": {"epochs": 3, "speed": 1}, "sizes": []}, "Inner has no speed"),
        ({"inner": {"epochs": 3}}, "sizes is missing for Outer"),
        ({"inner": {}, "sizes": []}, "epochs is missing for Inner"),
        ({"inner": {"epochs": 0}, "sizes": []}, "epochs is 0, but must be at least 1"),
        ({"inner": {"epochs": "3"}, "sizes": []}, "Inner refuses its settings"),
    ],
)
def test_a_document_that_is_no_config_is_refused_in_words(document, what):
    with pytest.raises(ValueError, match=what):
        config_from_dict(Outer, document)


def test_a_variant_has_settings_for_a_data_set_its_own_defaults_or_those_of_the_architecture():
    own, tuned = fakes.CountsConfig(power=0.5), fakes.CountsConfig(power=2.0)
    variant = Variant(fakes.Counts, "Counts", "Baselines", config=own, presets={"small": tuned})
    assert variant.preset("small") is tuned
    assert variant.preset("large") is own
    assert Variant(fakes.Counts, "Counts", "Baselines").preset("large") == fakes.CountsConfig()
    assert variant.model().config is own
    assert variant.model(tuned).config is tuned


def test_a_model_carries_the_title_of_its_variant():
    assert Variant(fakes.Counts, "By views", "Baselines").model().title == "By views"
    assert fakes.Counts().title == "Counts"


def test_an_unknown_name_is_answered_by_the_names_there_are():
    with pytest.raises(registry.UnknownModelError, match=r"no model is called bert; there are: .*bert4rec"):
        registry.get("bert")


def test_a_refused_setting_is_an_error_that_people_can_mend():
    with pytest.raises(ConfigError, match="epochs is 0"):
        Inner(epochs=0)


def test_settings_of_the_schedule_stand_beside_the_others():
    config = changed(registry.get("gru4rec-ce").preset(""), {"dim": 16, "epochs": 3})
    assert (config.dim, config.schedule.epochs, config.hidden) == (16, 3, 128)
    with pytest.raises(ConfigError, match="has no setting width"):
        changed(config, {"width": 3})
