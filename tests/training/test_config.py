"""A number that cannot work is refused when a setting is made, wherever there are settings."""

import math
import pkgutil
from dataclasses import dataclass, fields, is_dataclass, replace
from importlib import import_module
from typing import Literal, get_type_hints

import numpy as np
import pytest

import recsys.bench
import recsys.cli
from recsys.models import registry
from recsys.training import config
from recsys.training.config import ConfigError, Count, Finite, Range, Rate, Seed, Settings, Share, check
from recsys.training.run import Run
from recsys.training.trainer import Schedule


def classes():
    """Every dataclass that people or programs set something in: of recommenders, of the command line, of bench."""
    found = [registry.get(name).architecture.Config for name in registry.names()]
    for package in (recsys.cli, recsys.bench):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            known = vars(import_module(module.name)).values()
            own = [one for one in known if getattr(one, "__module__", "") == module.name]
            found += [one for one in own if isinstance(one, type) and is_dataclass(one)]
    return sorted({Schedule, Run, *found}, key=lambda one: (one.__module__, one.__name__))


def numbers(cls):
    """(name, rule) of each that holds numbers, be they in a tuple or left out."""
    known = get_type_hints(cls, include_extras=True)
    rules = {setting.name: config.rule(known[setting.name]) for setting in fields(cls)}
    return [(name, rule) for name, rule in rules.items() if rule and rule.kind in (int, float)]


def wrong(allowed):
    """Numbers just outside of a range, and what is no number at all."""
    below = allowed.low if allowed.above else math.nextafter(allowed.low, -math.inf)
    return [math.nan, math.inf, -math.inf, below, math.nextafter(allowed.high, math.inf), "x", True]


def some(cls):
    """An object of a class of settings; what it asks for are texts."""
    required = [one.name for one in fields(cls) if one.init and one.default is one.default_factory]
    return cls(**dict.fromkeys(required, "x"))


@pytest.mark.parametrize("cls", classes(), ids=lambda one: f"{one.__module__}.{one.__name__}")
def test_every_number_that_can_be_set_says_what_it_may_be_and_is_held_to_it(cls):
    for name, rule in numbers(cls):
        where = f"{cls.__name__}.{name}"
        assert isinstance(rule.allowed, Range), f"{where} is a bare number; give it a type of training.config"
        assert issubclass(cls, Settings), f"{where} is not checked; let {cls.__name__} stand on Settings"
        good = some(cls)
        many = isinstance(getattr(good, name), tuple)
        for value in wrong(rule.allowed):
            with pytest.raises(ConfigError, match=f"^{name} is .*, but must be ") as refused:
                replace(good, **{name: (value,) if many else value})
            assert refused.value.setting == name


@pytest.mark.parametrize("name", registry.names())
def test_every_recommenders_settings_are_checked(name):
    assert issubclass(registry.get(name).architecture.Config, Settings)


def test_what_may_be_left_out_is_not_missed_and_each_of_several_is_checked():
    @dataclass(frozen=True)
    class Some(Settings):
        rate: Rate | None = None
        edges: tuple[Count, ...] = ()
        how: Literal["fast", "slow"] = "fast"

    assert Some() == Some(None, (), "fast")
    assert Some(1, (1, 2), "slow").edges == (1, 2)
    for settings, said in (
        ({"rate": 0}, "rate is 0, but must be greater than 0 and at most 1"),
        ({"edges": (3, 0)}, "edges is 0, but must be at least 1"),
        ({"edges": (2.5,)}, "edges is 2.5, but must be a whole number"),
        ({"how": "well"}, "how is well, but must be one of: fast, slow"),
    ):
        with pytest.raises(ConfigError) as refused:
            Some(**settings)
        assert str(refused.value) == said


def test_how_settings_go_together_is_asked_once_each_is_right():
    @dataclass(frozen=True)
    class Pair(Settings):
        low: Count = 1
        high: Count = 2

        def agree(self):
            if self.low % self.high == 0:  # a ZeroDivisionError, if it were asked first
                raise ConfigError("low is a multiple of high")

    with pytest.raises(ConfigError, match="high is 0"):
        Pair(high=0)
    with pytest.raises(ConfigError, match="multiple"):
        Pair(4, 2)


@pytest.mark.parametrize(
    ("kind", "right", "wrong", "said"),
    [
        (Count, [1, 10**30, np.int64(3)], [0, -5, 10**400], "at least 1"),
        (Count, [], [2.5, math.nan, math.inf, True, None, "3"], "a whole number"),
        (Share, [0, 0.5, 1, np.float32(0.5)], [-1e-9, 1.001, math.nan, math.inf], "from 0 to 1"),
        (Share, [], [True, None, "0.5"], "a number"),
        (Rate, [1e-300, 1], [0, 1.5], "greater than 0 and at most 1"),
        (Seed, [0, 2**32 - 1], [-1, 2**32], "from 0 to 4,294,967,295"),
        (Finite, [-1e300, 0, 10**300], [math.nan, math.inf, -math.inf, 10**400], "a finite number"),
    ],
)
def test_a_range_holds_what_it_says(kind, right, wrong, said):
    for value in right:
        check(kind, value=value)
    for value in wrong:
        with pytest.raises(ConfigError, match=f"but must be {said}"):
            check(kind, value=value)
