"""Settings for toys."""

from recsys.studies import trials


def changed(config, **changes):
    """The config with other settings; those of its schedule may stand beside the others."""
    return trials.changed(config, changes)
