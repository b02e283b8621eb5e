import json
import subprocess
import sys
from importlib import import_module
from inspect import isabstract

import pytest

from recsys import paths, storage
from recsys.config import from_document, to_document
from recsys.models import presets, registry
from recsys.models.base import Model
from recsys.models.registry import Recommender
from tests import fakes

SHIPPED = sorted((paths.ASSETS / "checkpoints").glob("*/*/*/meta.json"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: "-".join(path.parts[-4:-1]))
def test_the_settings_of_shipped_checkpoints_can_be_read_and_written(path):
    meta = storage.read_document(path)
    recommender = registry.get(meta["variant"])
    former = recommender.model_class.former_settings
    config = json.loads(json.dumps(to_document(recommender.read_config(meta["config"]))))  # JSON has no tuples
    assert config | {name: former[name] for name in meta["config"].keys() & former.keys()} == meta["config"]


def test_a_former_setting_is_refused_with_another_value():
    bert4rec = registry.get("bert4rec")
    document = to_document(bert4rec.preset("")) | {"pre_norm": True, "windows": False}
    assert bert4rec.read_config(document) == bert4rec.preset("")
    with pytest.raises(ValueError, match="pre_norm"):
        bert4rec.read_config(document | {"pre_norm": False})


@pytest.mark.parametrize("name", registry.names())
def test_settings_of_every_recommender_can_be_stored_as_json(name):
    variant = registry.get(name)
    for config in map(variant.preset, ("", *presets.PRESETS.get(name, ()))):
        assert from_document(type(config), json.loads(json.dumps(to_document(config)))) == config


COUNTS = Recommender("counts", "By views", "Baselines", "tests.fakes:Counts", settings={"power": 0.5})


def test_a_recommender_has_settings_for_a_data_set_or_its_own_defaults(monkeypatch):
    monkeypatch.setitem(presets.PRESETS, "counts", {"small": {"power": 2.0}})
    assert COUNTS.preset("small") == fakes.CountsConfig(power=2.0)
    assert COUNTS.preset("large") == COUNTS.model().config == fakes.CountsConfig(power=0.5)
    assert COUNTS.model(fakes.CountsConfig(power=3.0)).config.power == 3.0


def test_a_model_has_the_title_of_its_recommender():
    assert COUNTS.model().title == "By views"
    assert fakes.Counts().title == "Counts"


def test_every_preset_belongs_to_a_recommender():
    assert presets.PRESETS.keys() <= set(registry.RECOMMENDERS)


@pytest.mark.parametrize("name", registry.RECOMMENDERS)
def test_a_row_says_truly_whether_its_model_needs_training(name):
    assert registry.get(name).needs_training == registry.get(name).model_class.needs_training


def test_every_model_has_a_row():
    rows = {row.model_class for row in registry.RECOMMENDERS.values()}
    for path in sorted((paths.REPOSITORY / "recsys" / "models").glob("*.py")):
        module = import_module(f"recsys.models.{path.stem}")
        classes = [
            value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__
        ]
        models = [value for value in classes if issubclass(value, Model) and not isabstract(value)]
        assert {model for model in models if not model.__subclasses__()} <= rows, path.name


def test_an_unlisted_recommender_is_found_by_name_but_not_offered():
    assert registry.get("lift").title == "SASRec by lift"
    assert "lift" not in registry.names()
    with pytest.raises(
        registry.UnknownModelError, match=r"no recommender is called bert; choose one of: .*bert4rec"
    ) as error:
        registry.get("bert")
    assert "lift" not in str(error.value)


def test_titles_are_listed_without_importing_torch():
    code = "import sys; from recsys.models import registry; print([registry.get(n).title for n in registry.names()])"
    subprocess.run(
        [sys.executable, "-c", f"{code}; assert 'torch' not in sys.modules"], check=True, capture_output=True
    )
