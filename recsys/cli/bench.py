"""`python -m recsys bench`: one kind of measurement, for people or, with --json, for programs.

Each kind is a module of `recsys.bench` with the dataclass `Options`, `measure(options)` → plain JSON, and
`lines(result)`.
"""

import json as json_text
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

from recsys import machine
from recsys.cli import options
from recsys.cli.options import conf

Options = TypeVar("Options")
MARKERS = (*options.FLAT, conf.FlagCreatePairsOff)  # for recsys.bench, which does not import tyro
Kind = Literal["train", "serve", "evaluate", "load"]


@dataclass(frozen=True)
class Choice:
    """How fast this machine trains, serves, evaluates or loads. The flags depend on the kind: --help after it."""

    kind: conf.Positional[Kind]  # train, serve, evaluate or load


@dataclass(frozen=True)
class Bench(Generic[Options]):
    """How fast this machine does it; the machine and its versions are printed too."""

    kind: conf.Suppress[conf.Fixed[str]] = ""
    json: bool = False  # print one JSON document
    measurement: Options = field(kw_only=True)

    def __call__(self) -> int:
        """Measure, then print lines or one JSON document {bench, machine, …}."""
        kind = import_module(f"recsys.bench.{self.kind}")
        result = kind.measure(self.measurement)
        described = machine.describe()
        if self.json:
            document = {"bench": self.kind, "machine": described, **result}
            print(json_text.dumps(document, ensure_ascii=False, indent=1))
        else:
            print("\n".join([*kind.lines(result), machine.format_description(described)]))
        return 0


def bench(arguments: Sequence[str]) -> Bench:
    """The options of `bench KIND`; the other kinds are never imported."""
    kind = options.read(Choice, "bench", arguments[:1]).kind
    wanted: Any = Bench[_options(kind)]  # type: ignore[misc]  # a type known at run time only
    return replace(options.read(wanted, f"bench {kind}", arguments[1:], config=MARKERS), kind=kind)


def _options(kind: str) -> type:
    """The dataclass of a kind's options."""
    return _options_of_load() if kind == "load" else import_module(f"recsys.bench.{kind}").Options


def _options_of_load() -> type:
    """Those of `load`, with --from, which no field of Python can be called."""
    from recsys.bench import load

    @dataclass(frozen=True)
    class Load(load.Options):
        """Which archive, and whose layout it has."""

        source: Annotated[Path, conf.arg(name="from", metavar="FILE.zip")]  # the archive

    return Load
