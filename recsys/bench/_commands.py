"""`python -m recsys bench`: one kind of measurement, for people or, with --json, for programs.

Each kind is a module beside this one with `add_flags(parser)`, `measure(options)` → plain JSON, and `lines(result)`.
"""

import argparse
import json
from importlib import import_module

from recsys import machine

KINDS = ("train", "serve", "evaluate", "load")


def add_bench(parser: argparse.ArgumentParser) -> None:
    """What `bench` takes; the flags of a kind are read once it is known, so that the others are never imported."""
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("settings", nargs=argparse.REMAINDER, help="--help after the kind lists them")


def bench_command(options: argparse.Namespace) -> int:
    """Measure, then print lines or one JSON document {bench, machine, …}; returns the exit code."""
    kind = import_module(f"recsys.bench.{options.kind}")
    parser = argparse.ArgumentParser(prog=f"python -m recsys bench {options.kind}", description=kind.__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    kind.add_flags(parser)
    chosen = parser.parse_args(options.settings)
    result = kind.measure(chosen)
    described = machine.describe()
    if chosen.json:
        print(json.dumps({"bench": options.kind, "machine": described, **result}, ensure_ascii=False, indent=1))
    else:
        print("\n".join([*kind.lines(result), machine.line(described)]))
    return 0
