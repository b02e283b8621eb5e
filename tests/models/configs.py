"""Settings with which models fit toy data sets quickly, and models in the states that tests need."""

from dataclasses import fields

import torch

from recsys.config import replace_settings
from recsys.data.split import leave_one_out
from recsys.models import registry
from recsys.training.options import RunOptions

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


def untrained(model, n_items=30):
    """Build the module of a network with random weights, in evaluation mode, and return the network."""
    torch.manual_seed(0)
    model.module = model.build(n_items).eval()
    return model


def fitted(model, world):
    """Fit a model on the training part of leave-one-out, without validation, and return the model."""
    return model.fit(leave_one_out(world).train, None, RunOptions(device="cpu"))
