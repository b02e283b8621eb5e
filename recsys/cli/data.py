"""`python -m recsys data list` and `data get`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from recsys.cli import flags
from recsys.cli.flags import conf


@dataclass(frozen=True)
class List:
    """What there is, and what is here."""

    def run(self) -> int:
        """Print every set that can be had."""
        from recsys.data import movielens

        print(f"{'name':<16}{'films':>8}{'ratings':>12}{'MB':>6}  {'here':<5} licence")
        for row in movielens.table():
            here = "yes" if row.present else "no"
            print(f"{row.name:<16}{row.films:>8,}{row.ratings:>12,}{row.megabytes:>6}  {here:<5} {row.licence}")
        return 0


@dataclass(frozen=True)
class Get:
    """Fetch and prepare a data set."""

    name: conf.Positional[str]  # which one; `data list` shows them
    source: Annotated[Path | None, conf.arg(name="from", metavar="FILE.zip")] = None  # an archive to take instead

    def run(self) -> int:
        """Fetch it, or take it from the archive, and say what was got."""
        from recsys.data import movielens
        from recsys.progress import Terminal

        with Terminal() as report:
            dataset = movielens.get(self.name, self.source, report)
        catalog = dataset.catalog
        print(
            f"{self.name} is ready: {dataset.n_users:,} users, {len(catalog):,} films, "
            f"{len(dataset.interactions):,} ratings "
            f"({len(catalog.left_out):,} films have too few ratings to train on)"
        )
        print(f"licence: {movielens.SETS[self.name].licence}")
        return 0


Data = Annotated[List, conf.subcommand("list")] | Annotated[Get, conf.subcommand("get")]


def read(arguments: Sequence[str]) -> List | Get:
    """The options of `data list` or `data get`."""
    return flags.read(Data, "data", arguments)  # type: ignore[arg-type]  # a union is no type for mypy
