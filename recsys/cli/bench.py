"""The command `bench`: measure speed and memory.

The module `benchmarks.bench_KIND` measures a kind. It has the config class `Options` and the functions
`measure(options)`, which returns the result, and `format_lines(result)`, which formats the result.
"""

import json
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, Literal

from recsys import machine
from recsys.cli.options import Call, command, conf, read

Kind = Literal["train", "serve", "evaluate", "load"]


def choose(kind: Annotated[Kind, conf.Positional, conf.arg(help="train, serve, evaluate or load")]) -> str:
    """Measure how fast this machine trains, serves, evaluates or loads. --help after the kind lists its flags."""
    return kind


def bench(arguments: Sequence[str]) -> Call:
    """Return the parsed call of `bench KIND`. Modules of other kinds are not imported."""
    kind = read(choose, "bench", arguments[:1])
    module: Any = import_module(f"benchmarks.bench_{kind}")

    @command(f"bench {kind}")  # makes `measure` a parser: arguments → call
    def measure(
        as_json: Annotated[bool, conf.arg(name="json", help="print one JSON document")] = False,
        *,
        measurement: module.Options,  # --help makes the heading "measurement options" from the parameter's name
    ) -> None:
        """Measure the speed of this machine. Its hardware and the versions of its software are printed too."""
        result = module.measure(measurement)
        description = machine.describe()
        if as_json:
            document = {"bench": kind, "machine": description, **result}
            print(json.dumps(document, ensure_ascii=False, indent=1))
        else:
            print("\n".join([*module.format_lines(result), machine.format_description(description)]))

    return measure(arguments[1:])
