"""Settings for toys."""

from recsys.config import replace_settings


def changed(config, **changes):
    """The config with other settings; those of its schedule may stand beside the others."""
    return replace_settings(config, changes)
