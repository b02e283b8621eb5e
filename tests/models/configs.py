"""Settings for toys: a config is changed without saying which of its fields belong to the schedule."""

from dataclasses import fields, replace

from recsys.training.loop import Schedule

SCHEDULE = {field.name for field in fields(Schedule)}


def changed(config, **changes):
    """The config with other settings; those of its schedule may stand beside the others."""
    of_schedule = {name: changes.pop(name) for name in SCHEDULE & changes.keys()}
    if of_schedule:
        changes["schedule"] = replace(config.schedule, **of_schedule)
    return replace(config, **changes)
