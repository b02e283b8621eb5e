"""`python -m recsys bench`: measure speed and memory, as text or, with --json, as a document.

Each kind is a module `benchmarks.bench_KIND` with the dataclass `Options`, `measure(options)` and `lines(result)`.
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
MARKERS = (*options.FLAT, conf.FlagCreatePairsOff)  # for the options in benchmarks, which do not import tyro
Kind = Literal["train", "serve", "evaluate", "load"]


@dataclass(frozen=True)
class Choice:
    """Measure how fast this machine trains, serves, evaluates or loads. --help after the kind lists its flags."""

    kind: conf.Positional[Kind]  # train, serve, evaluate or load


@dataclass(frozen=True)
class Bench(Generic[Options]):
    """Measure the speed of this machine. Its hardware and the versions of its software are printed too."""

    kind: conf.Suppress[conf.Fixed[str]] = ""
    json: bool = False  # print one JSON document
    measurement: Options = field(kw_only=True)

    def __call__(self) -> int:
        """Measure, then print lines or one JSON document {bench, machine, …}."""
        kind = import_module(f"benchmarks.bench_{self.kind}")
        result = kind.measure(self.measurement)
        description = machine.describe()
        if self.json:
            document = {"bench": self.kind, "machine": description, **result}
            print(json_text.dumps(document, ensure_ascii=False, indent=1))
        else:
            print("\n".join([*kind.lines(result), machine.format_description(description)]))
        return 0


def bench(arguments: Sequence[str]) -> Bench:
    """Parse the arguments of `bench KIND`. Modules of other kinds are not imported."""
    kind = options.read(Choice, "bench", arguments[:1]).kind
    options_class: Any = Bench[_options_class(kind)]  # type: ignore[misc]  # a type that only exists at run time
    return replace(options.read(options_class, f"bench {kind}", arguments[1:], config=MARKERS), kind=kind)


def _options_class(kind: str) -> type:
    """Return the options of a kind. The option `source` of `load` is the flag --from, because `from` is a keyword."""
    parent: Any = import_module(f"benchmarks.bench_{kind}").Options
    if kind != "load":
        return parent

    @dataclass(frozen=True)
    class Load(parent):
        """The archive, and the data set that has the same layout."""

        source: Annotated[Path, conf.arg(name="from", metavar="FILE.zip")]  # the archive

    return Load
