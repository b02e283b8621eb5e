"""Settings for toys."""

from recsys.models import base


def changed(config, **changes):
    """The config with other settings; those of its schedule may stand beside the others."""
    return base.changed(config, changes)
