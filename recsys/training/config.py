"""Settings are checked when they are made, long before they are used. Loads no torch."""

import ast
import inspect
from dataclasses import Field, field
from typing import Any

from recsys.errors import RecsysError

CAME_LATER = "came later"  # metadata of a field that `added` made


class ConfigError(RecsysError):
    """A setting that cannot work; the message names it and says what to change it to."""


def added(default: Any) -> Any:
    """A field of a config that came later, with the value that says what was done before there was one.

    Documents leave it out where it has that value: old checkpoints, results and half-done runs stay readable, and those
    of the same settings stay alike (see `models.base.config_to_dict`).
    """
    return field(default=default, metadata={CAME_LATER: True})


def came_later(setting: Field[Any]) -> bool:
    """Whether a document may lack this field of a config."""
    return CAME_LATER in setting.metadata


def at_least(low: float, **settings: float) -> None:
    """Raises ConfigError for a setting below `low` (or not a number): at_least(1, epochs=config.epochs)."""
    for name, value in settings.items():
        if not value >= low:
            raise ConfigError(f"{name} is {value}, but must be at least {low:g}")


def above(low: float, **settings: float) -> None:
    """Raises ConfigError for a setting that is `low`, below it, or not a number."""
    for name, value in settings.items():
        if not value > low:
            raise ConfigError(f"{name} is {value}, but must be greater than {low:g}")


def between(low: float, high: float, **settings: float) -> None:
    """Raises ConfigError for a setting outside [low, high]."""
    for name, value in settings.items():
        if not low <= value <= high:
            raise ConfigError(f"{name} is {value}, but must be from {low:g} to {high:g}")


def one_of(options: tuple[Any, ...], **settings: Any) -> None:
    """Raises ConfigError for a setting that is none of the options."""
    for name, value in settings.items():
        if value not in options:
            raise ConfigError(f"{name} is {value}, but must be one of: {', '.join(map(str, options))}")


def comments(config: type) -> dict[str, str]:
    """Setting → the comment beside it, which is also the help of its flag; those of the classes below it too."""
    found = {}
    for cls in reversed(config.__mro__[:-1]):  # all but object
        source = inspect.getsource(cls)
        lines = source.encode().splitlines()  # an offset of `ast` counts bytes
        for node in ast.parse(source).body[0].body:  # type: ignore[attr-defined]  # a class
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.end_lineno:
                beside = lines[node.end_lineno - 1][node.end_col_offset :].decode()
                found[node.target.id] = beside.partition("#")[2].strip()
    return found
