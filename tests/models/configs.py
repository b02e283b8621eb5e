"""Settings with which models fit toy data sets quickly."""

from dataclasses import fields

from recsys.config import replace_settings
from recsys.models import registry

TOY_VALUES = {"dim": 16, "length": 16, "negatives": 8, "factors": 8}
TOY_EPOCHS = 2


def changed(config, **changes):
    """Return a config with changed settings. Settings of its schedule are not nested."""
    return replace_settings(config, changes)


def toy_changes(config):
    """Return the changes with which a fit on a toy takes a second.

    A field is changed if its value has the type of the toy value. item2vec's `negatives`, a float, does not change.
    """
    values = {setting.name: getattr(config, setting.name) for setting in fields(config)}
    changes = {name: toy for name, toy in TOY_VALUES.items() if type(values.get(name)) is type(toy)}
    return changes | {"epochs": TOY_EPOCHS} if "schedule" in values else changes


TOY_CONFIGS = {name: toy_changes(registry.get(name).preset("")) for name in registry.names()}
