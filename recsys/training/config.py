"""Settings are checked when they are made, long before they are used. Loads no torch.

What a setting may be stands beside its type: `epochs: Count = 90`. Every class of settings is a `Settings`, which holds
each value against that; how some settings go together its `agree` says.
"""

import ast
import inspect
import sys
from collections.abc import Iterator
from dataclasses import Field, dataclass, field, fields
from functools import cache
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from recsys.errors import RecsysError

CAME_LATER = "came later"  # metadata of a field that `added` made
NUMBERS: dict[type, type] = {int: Integral, float: Real}
LARGEST = sys.float_info.max  # no number is above it: neither NaN nor infinity lies between it and -LARGEST


class ConfigError(RecsysError):
    """A setting that cannot work; the message names it and says what to change it to."""

    def __init__(self, message: str, setting: str = "") -> None:
        """setting: the one that the message begins with, "" where it is about several."""
        super().__init__(message)
        self.setting = setting


@dataclass(frozen=True)
class Range:
    """The numbers from `low` to `high`, both included unless `above`; neither NaN nor infinity is one."""

    low: float = -LARGEST
    high: float = LARGEST
    above: bool = False  # `low` itself is too low

    def __contains__(self, value: Any) -> bool:
        """Whether it is allowed."""
        return (self.low < value if self.above else self.low <= value) and value <= self.high

    def __str__(self) -> str:
        least = "" if self.low == -LARGEST else f"{'greater than' if self.above else 'at least'} {self.low:g}"
        if self.high == LARGEST:
            return least or "a finite number"
        return f"{least} and at most {_plain(self.high)}" if self.above else f"from {self.low:g} to {_plain(self.high)}"


@dataclass(frozen=True)
class OneOf:
    """Some words."""

    words: tuple[Any, ...]

    def __contains__(self, value: Any) -> bool:
        """Whether it is allowed."""
        return value in self.words

    def __str__(self) -> str:
        return f"one of: {', '.join(map(str, self.words))}"


Count = Annotated[int, Range(1)]
Natural = Annotated[int, Range(0)]
Size = Annotated[int, Range(1, 65_536)]  # memory, or time, is taken in proportion to it
SizeOrNone = Annotated[int, Range(0, 65_536)]  # with 0 for none
Length = Annotated[int, Range(1, 32_766)]  # of a history; a position is kept in 16 bits, see `batches.NEVER`
Layers = Annotated[int, Range(0, 256)]
Seed = Annotated[int, Range(0, 2**32 - 1)]  # what NumPy, torch and implicit all take
Finite = Annotated[float, Range()]
Amount = Annotated[float, Range(0)]
Positive = Annotated[float, Range(0, above=True)]
Rate = Annotated[float, Range(0, 1, above=True)]  # of learning, or a share that cannot be nothing
Share = Annotated[float, Range(0, 1)]
Dropped = Annotated[float, Range(0, 0.99)]  # a share; of 1 nothing would be left
Decay = Annotated[float, Range(0, 0.999_999)]  # of a moving average, which at 1 would never leave its first value


@dataclass(frozen=True)
class Rule:
    """What one setting, or each of those in a tuple, may be."""

    kind: type  # int and float: numbers of this kind; another: not looked at
    allowed: Range | OneOf | None  # None: every finite or infinite one
    optional: bool  # None will do too

    def hold(self, name: str, value: Any) -> None:
        """Raises ConfigError for a value that breaks it."""
        if value is None and self.optional:
            return
        for own in value if isinstance(value, tuple) else (value,):
            if self.kind in NUMBERS and (isinstance(own, bool) or not isinstance(own, NUMBERS[self.kind])):
                wanted = "a whole number" if self.kind is int else "a number"
                raise ConfigError(f"{name} is {own}, but must be {wanted}", name)
            if self.allowed is not None and own not in self.allowed:
                raise ConfigError(f"{name} is {own}, but must be {self.allowed}", name)


class Settings:
    """What a frozen dataclass of settings stands on: none of them has a value that its type does not allow."""

    def __post_init__(self) -> None:
        """Raises ConfigError."""
        cls: type = type(self)
        for name, own in _rules(cls).items():
            own.hold(name, getattr(self, name))
        self.agree()

    def agree(self) -> None:
        """Raises ConfigError for settings that do not go together."""
        return


def check(kind: Any, **settings: Any) -> None:
    """Raises ConfigError for a value that a type such as `Seed` does not allow: check(Seed, seed=seed)."""
    if own := rule(kind):
        for name, value in settings.items():
            own.hold(name, value)


def rule(kind: Any) -> Rule | None:
    """What follows from a type: `Count`, tuple[Count, ...], Count | None, a Literal; None: nothing is looked at."""
    parts = list(_parts(kind))
    for part in parts:
        stated = get_args(part)[1:] if get_origin(part) is Annotated else ()
        base = get_args(part)[0] if stated else part
        allowed = next((one for one in stated if isinstance(one, Range | OneOf)), None)
        if get_origin(part) is Literal:
            allowed = OneOf(get_args(part))
        if base in (int, float) or allowed:
            return Rule(base, allowed, NoneType in parts)
    return None


@cache
def _rules(settings: type) -> dict[str, Rule]:
    """Setting → what it may be."""
    types = get_type_hints(settings, include_extras=True)
    found = {setting.name: rule(types[setting.name]) for setting in fields(settings)}
    return {name: own for name, own in found.items() if own}


def _parts(kind: Any) -> Iterator[Any]:
    """A type, or those it is put together from: int | None → int, None; tuple[int, ...] → int, …"""
    if get_origin(kind) in (tuple, Union, UnionType):
        for part in get_args(kind):
            yield from _parts(part)
    else:
        yield kind


def _plain(number: float) -> str:
    """`0.99`, `65,536`."""
    return f"{number:,}" if float(number).is_integer() else f"{number:g}"


def added(default: Any) -> Any:
    """A field of a config that came later, with the value that says what was done before there was one.

    Documents leave it out where it has that value: old checkpoints, results and half-done runs stay readable, and those
    of the same settings stay alike (see `models.base.config_to_dict`).
    """
    return field(default=default, metadata={CAME_LATER: True})


def came_later(setting: Field[Any]) -> bool:
    """Whether a document may lack this field of a config."""
    return CAME_LATER in setting.metadata


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
