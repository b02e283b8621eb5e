"""Settings that cannot work are refused when they are made, wherever there are settings."""

import json
import math
import pkgutil
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Annotated, Literal, get_args, get_origin, get_type_hints

import pytest

import recsys.cli
from recsys.cli.bench import Kind
from recsys.config import (
    ConfigError,
    Count,
    Finite,
    Fraction,
    Rate,
    Seed,
    added_later,
    check,
    config_class,
    from_document,
    replace_settings,
    to_document,
)
from recsys.models import registry
from recsys.training.options import RunOptions, TrainConfig


def classes():
    """Every dataclass in which users or programs set something: recommenders, command line, bench."""
    found = [registry.get(name).model_class.Config for name in registry.names()]
    names = [module.name for module in pkgutil.iter_modules(recsys.cli.__path__, "recsys.cli.")]
    for name in (*names, *(f"benchmarks.bench_{kind}" for kind in get_args(Kind))):
        own = [value for value in vars(import_module(name)).values() if getattr(value, "__module__", "") == name]
        found += [value for value in own if isinstance(value, type) and is_dataclass(value)]
    return sorted({TrainConfig, RunOptions, *found}, key=lambda cls: (cls.__module__, cls.__name__))


def is_number(kind):
    """Whether a type holds numbers without a stated range."""
    if get_origin(kind) is Annotated:
        return False
    return kind in (int, float) or any(map(is_number, get_args(kind)))


def has_number(kind):
    return kind in (int, float) or any(map(has_number, get_args(kind)))


@pytest.mark.parametrize("cls", classes(), ids=lambda cls: f"{cls.__module__}.{cls.__name__}")
def test_every_number_has_a_range_and_is_checked(cls):
    kinds = {name: get_type_hints(cls, include_extras=True)[name] for name in (field.name for field in fields(cls))}
    assert [name for name, kind in kinds.items() if is_number(kind)] == []
    required = {
        field.name: Path("x") if Path in (kinds[field.name], *get_args(kinds[field.name])) else "x"
        for field in fields(cls)
        if field.init and field.default is field.default_factory
    }
    for name in (name for name, kind in kinds.items() if has_number(kind)):
        good = cls(**required)
        for value in (math.nan, math.inf, "x", True):
            with pytest.raises(ConfigError) as refused:
                replace(good, **{name: (value,) if isinstance(getattr(good, name), tuple) else value})
            assert refused.value.setting == name


@config_class
class Inner:
    epochs: Count = 3
    rate: Rate | None = None


@config_class
class Outer:
    inner: Inner = Inner()
    sizes: tuple[Count, ...] = (3, 4)
    how: Literal["fast", "slow"] = "fast"
    colour: str = added_later("red")

    def __post_init__(self):
        if len(self.sizes) % self.sizes[0] == 0:  # a TypeError, if sizes were not checked before
            raise ConfigError("the first size divides their number")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sizes": (3, 0)}, "sizes is 0, but must be at least 1"),
        ({"sizes": (2.5,)}, "sizes is 2.5, but must be a whole number"),
        ({"sizes": ("a",)}, "sizes is a, but must be a whole number"),
        ({"how": "well"}, "how is well, but must be 'fast' or 'slow'"),
        ({"speed": 3}, "Outer has no setting speed"),
        ({"sizes": (1, 2)}, "the first size divides their number"),
    ],
)
def test_a_refused_setting_is_one_line(settings, message):
    with pytest.raises(ConfigError) as refused:
        Outer(**settings)
    assert str(refused.value) == message


def test_a_setting_may_be_left_out():
    assert Inner(rate=None).rate is None
    with pytest.raises(ConfigError, match="rate is 0, but must be greater than 0"):
        Inner(rate=0)


@pytest.mark.parametrize(
    ("kind", "allowed", "refused", "message"),
    [
        (Count, [1, 10**30], [0, -5], "at least 1"),
        (Count, [], [2.5, math.nan, math.inf, True, None, "3"], "a whole number"),
        (Fraction, [0, 0.5, 1], [1.001], "at most 1"),
        (Fraction, [], [-1e-9], "at least 0"),
        (Fraction, [], [math.nan, math.inf], "a finite number"),
        (Fraction, [], [True, None, "0.5"], "a number"),
        (Rate, [1e-300, 1], [0], "greater than 0"),
        (Seed, [0, 2**32 - 1], [2**32], "at most 4,294,967,295"),
        (Finite, [-1e300, 0], [math.nan, math.inf, -math.inf], "a finite number"),
    ],
)
def test_a_range_holds(kind, allowed, refused, message):
    for value in allowed:
        check(kind, value=value)
    for value in refused:
        with pytest.raises(ConfigError, match=f"but must be {message}"):
            check(kind, value=value)


def test_a_config_comes_back_from_json():
    settings = Outer(inner=Inner(epochs=7), sizes=(5, 2), colour="blue")
    assert from_document(Outer, json.loads(json.dumps(to_document(settings)))) == settings


def test_a_field_that_was_added_is_stored_only_if_it_differs_from_its_default():
    assert "colour" not in to_document(Outer())
    assert to_document(Outer(colour="blue"))["colour"] == "blue"
    assert from_document(Outer, {}) == Outer()


@pytest.mark.parametrize(
    "document",
    [{"speed": 1}, {"inner": {"speed": 1}}, {"inner": {"epochs": 0}}, {"inner": {"epochs": "3"}}, {"sizes": [1, 2]}],
)
def test_a_document_that_is_no_config_is_refused(document):
    with pytest.raises(ValueError, match="not a document of Outer"):
        from_document(Outer, document)


def test_settings_of_the_schedule_stand_beside_the_others():
    config = replace_settings(registry.get("gru4rec-ce").preset(""), {"dim": 16, "epochs": 3})
    assert (config.dim, config.schedule.epochs, config.hidden) == (16, 3, 128)
    with pytest.raises(ConfigError, match="has no setting width"):
        replace_settings(config, {"width": 3})
