"""`python -m recsys data list` and `data get`: the words and bars around `movielens`."""

import sys
from pathlib import Path
from typing import Any

from tqdm import tqdm

from recsys.data import movielens
from recsys.data.schema import DataError


def list_command() -> int:
    """Print every set that can be had. Returns the exit code."""
    print(f"{'name':<16}{'films':>8}{'ratings':>12}{'MB':>6}  {'here':<5} licence")
    for row in movielens.table():
        here = "yes" if row.present else "no"
        print(f"{row.name:<16}{row.films:>8,}{row.ratings:>12,}{row.megabytes:>6}  {here:<5} {row.licence}")
    return 0


def get_command(name: str, source: Path | None = None) -> int:
    """Fetch a set, or take it from the archive `source`. Returns the exit code; a failure is one line on stderr."""
    progress = _Progress()
    try:
        dataset = movielens.get(name, source, progress)
    except DataError as error:
        progress.close()
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        progress.close()
        print("stopped; nothing half-written is left", file=sys.stderr)
        return 130
    catalog = dataset.catalog
    print(
        f"{name} is ready: {dataset.n_users:,} users, {len(catalog):,} films, {len(dataset.interactions):,} ratings "
        f"({len(catalog.left_out):,} films have too few ratings to train on)"
    )
    print(f"licence: {movielens.SETS[name].licence}")
    return 0


class _Progress:
    """Shows the events of `movielens.get`: a bar for bytes (on stderr), a line for the rest."""

    def __init__(self) -> None:
        self._bar: tqdm | None = None

    def __call__(self, event: dict[str, Any]) -> None:
        if event["stage"] == "download" and event["total"] is not None:
            self._bar = self._bar or tqdm(total=event["total"], unit="B", unit_scale=True, desc=event["from"])
            self._bar.update(event["done"] - self._bar.n)
            return
        self.close()
        lines = {"note": event.get("text"), "parse": "reading …", "download": f"downloading from {event.get('from')} …"}
        print(lines[event["stage"]], flush=True)

    def close(self) -> None:
        """Finish the bar, if there is one."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
