"""What was measured, bar by bar, as JSON beside a table to read."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from benchmarks.reliability.promise import NOT_MEASURED, Outcome, Promise
from recsys.paths import REPOSITORY

JSON = REPOSITORY / "benchmarks" / "reliability.json"
TABLE = REPOSITORY / "benchmarks" / "reliability.md"
MACHINE = ("cpu", "cores", "load", "commit")  # of a described machine
HEAD = """# Reliability and security, bar by bar

Written by `python -m benchmarks.reliability --write`; each row is of the last time that its bar was measured.
*In part* and *fails* name what is open. Load is that of the machine when the measurement began.

| | what is promised | | what was seen | open | command | machine, date |
|---|---|---|---|---|---|---|
"""


def row(bar: Promise, outcome: Outcome, seconds: float, described: Mapping[str, Any]) -> dict[str, Any]:
    """A bar's outcome as JSON."""
    figure, *still_open = (text.replace(f"{REPOSITORY}/", "") for text in (outcome.figure, *outcome.open))
    found = {"verdict": outcome.verdict, "figure": figure, "open": still_open}
    return found | {
        "seconds": round(seconds, 1),
        "date": described["date"],
        "machine": {name: described[name] for name in MACHINE},
    }


def kept() -> dict[str, dict[str, Any]]:
    """All rows by the names of their bars."""
    return json.loads(JSON.read_text("utf-8")) if JSON.exists() else {}


def keep(rows: Mapping[str, dict[str, Any]]) -> None:
    """Put new rows in the place of older ones."""
    JSON.write_text(json.dumps(kept() | rows, ensure_ascii=False, indent=1, sort_keys=True) + "\n", "utf-8")


def write(bars: Iterable[Promise]) -> None:
    """Write the table."""
    rows = kept()
    TABLE.write_text(HEAD + "".join(line(bar, rows.get(bar.name)) for bar in bars), "utf-8")


def line(bar: Promise, found: Mapping[str, Any] | None) -> str:
    """A line of the table."""
    if found is None:
        return f"| {bar.name} | {bar.text} | {NOT_MEASURED} | | | `{command(bar)}` | |\n"
    on = found["machine"]
    where = f"{on['cores']} cores of {on['cpu']}, load {on['load']}, {found['date'][:10]}, {on['commit']}"
    cells = (bar.text, f"**{found['verdict']}**", found["figure"], "; ".join(found["open"]), f"`{command(bar)}`", where)
    return f"| {bar.name} | " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def command(bar: Promise) -> str:
    """What measures a bar."""
    return f"python -m benchmarks.reliability {bar.name}"
