"""All forty bars, or some.

    python -m benchmarks.reliability                   all, an hour on an idle machine
    python -m benchmarks.reliability S2 D1             some
    python -m benchmarks.reliability L --write         those of load, into reliability.json and reliability.md

Each bar runs in a process of its own; all share a home folder that is deleted afterwards.
"""

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from unittest import mock

from benchmarks.reliability import bad_input, determinism, faults, load, record, security
from benchmarks.reliability.promise import FAILS, VERDICTS, Outcome, Promise, unmeasured
from recsys import machine

BARS = {bar.name: bar for family in (load, faults, bad_input, security, determinism) for bar in family.BARS}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print and keep; 1 if a bar fails."""
    options = parser().parse_args(argv)
    described = machine.describe()
    print(machine.format_description(described))
    rows = {}
    with tempfile.TemporaryDirectory(prefix="nextreel-") as home, mock.patch.dict(os.environ, RECSYS_HOME=home):
        for bar in chosen(options.bars):
            print(f"{bar.name} … about {bar.minutes:g} minutes", end="\r", file=sys.stderr, flush=True)
            began = time.monotonic()
            outcome = alone(bar)
            rows[bar.name] = record.row(bar, outcome, time.monotonic() - began, described)
            print(f"{bar.name:3} {outcome.verdict:12} {'; '.join([outcome.figure, *outcome.open])}", flush=True)
            if options.write:
                record.keep({bar.name: rows[bar.name]})
    if options.json:
        options.json.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", "utf-8")
    if options.write:
        record.write(BARS.values())
    verdicts = [row["verdict"] for row in rows.values()]
    print(", ".join(f"{verdicts.count(one)} {one}" for one in VERDICTS if one in verdicts))
    return 1 if FAILS in verdicts else 0


def chosen(names: Sequence[str]) -> list[Promise]:
    """The bars of these names or first letters, in their order; all without a name."""
    return [bar for name, bar in BARS.items() if not names or name in names or name[0] in names]


def alone(bar: Promise) -> Outcome:
    """Measure a bar in a new process, so that none is disturbed by what another did to its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            return pool.submit(bar.measure).result()
        except BrokenProcessPool:
            return Outcome(FAILS, "the process that measured it was ended")
        except Exception as error:  # noqa: BLE001 - whatever it is, the other bars are measured
            return unmeasured(f"{type(error).__name__}: {error}".splitlines()[0])


def known(text: str) -> str:
    """The name or the first letter of a bar, for argparse."""
    if text.upper() not in BARS and text.upper() not in {name[0] for name in BARS}:
        raise argparse.ArgumentTypeError(f"there is no bar {text}; there are {', '.join(BARS)}")
    return text.upper()


def parser() -> argparse.ArgumentParser:
    """The flags."""
    flags = argparse.ArgumentParser(prog="python -m benchmarks.reliability", description="Forty bars of reliability.")
    flags.add_argument("bars", nargs="*", type=known, metavar="BAR", help="L1 … D5, or L, F, B, S, D (default: all)")
    flags.add_argument("--json", type=Path, help="also write what came out to this file")
    flags.add_argument("--write", action="store_true", help="keep it in benchmarks/reliability.json and .md")
    return flags


if __name__ == "__main__":
    sys.exit(main())
