"""`python -m recsys data list`, `data get`, `data verify`, `data enrich`, `data add` and `data remove`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from recsys.cli import options
from recsys.cli.options import conf
from recsys.config import NonNegativeInt, config_class


@dataclass(frozen=True)
class List:
    """What there is, and what is here."""

    def run(self) -> int:
        """Print every set that can be had or was added: what was loaded, or else what was published."""
        from recsys.data import datasets

        print(f"{'name':<16}{'people':>9}{'items':>8}{'ratings':>12}{'MB':>6}  {'here':<5} licence")
        for row in datasets.table():
            here, megabytes = "yes" if row.present else "no", "" if row.megabytes is None else row.megabytes
            size = f"{row.people:>9,}{row.items:>8,}{row.ratings:>12,}{megabytes:>6}"
            print(f"{row.name:<16}{size}  {here:<5} {row.licence}")
        return 0


@dataclass(frozen=True)
class Get:
    """Fetch and prepare a data set."""

    name: conf.Positional[str]  # which one; `data list` shows them
    source: Annotated[Path | None, conf.arg(name="from", metavar="FILE.zip")] = None  # an archive to take instead

    def run(self) -> int:
        """Fetch it, or take it from the archive, and say what was got."""
        from recsys.data import datasets, prepared
        from recsys.progress import Terminal

        with Terminal() as report:
            dataset = datasets.get(self.name, self.source, report)
        catalog = dataset.catalog
        print(
            f"{self.name} is ready: {dataset.n_users:,} users, {len(catalog):,} films, "
            f"{len(dataset.interactions):,} ratings "
            f"({len(catalog.infrequent):,} films have too few ratings to train on)"
        )
        published = datasets.SETS[self.name]
        whose = "" if prepared.about(self.name)["archive"].get("official") else f"of the published {published.title}, "
        print(f"licence: {whose}{published.licence}")
        return 0


@dataclass(frozen=True)
class Verify:
    """Whether the files of a set, and of all that was made of it, are what was written; exit code 1 if one is not."""

    name: conf.Positional[str] = ""  # which set; left out: all that is on this machine

    def run(self) -> int:
        """Print a line for each thing: whether it is sound, and what is wrong and the command that mends it."""
        from recsys import verify

        damaged = total = 0
        for found in verify.of_set(self.name) if self.name else verify.everything():
            print(f"{'damaged' if found.why else 'sound':<9}{found}", flush=True)
            damaged, total = damaged + bool(found.why), total + 1
        print(f"damaged: {damaged:,} of {total:,}" if damaged else f"all {total:,} are sound")
        return int(damaged > 0)


@dataclass(frozen=True)
class Enrich:
    """Ask Wikidata who made the films of a set, who is in them, and what they are called in other languages."""

    name: conf.Positional[str]  # which set; `data list` shows those that are here

    def run(self) -> int:
        """Ask for what was not asked before, and say what is known."""
        from recsys.data import enrich
        from recsys.progress import Terminal

        with Terminal() as report:
            found = enrich.enrich(self.name, report)
        print(
            f"{self.name} is enriched: Wikidata knows {found.known:,} of its {found.films:,} films "
            f"({found.films - found.asked:,} have no IMDb id)"
        )
        print("licence: CC0, free for everything; from wikidata.org")
        return 0


@config_class
class Add:
    """Make a data set of your own file: CSV, TSV, JSON lines, parquet or pairs separated by spaces, gzipped or not."""

    name: conf.Positional[str]  # what to call it; a folder gets this name
    interactions: Annotated[Path, conf.arg(metavar="FILE")]  # one row per event: who had what
    items: Annotated[Path | None, conf.arg(metavar="FILE")] = None  # their titles, years, genres, pictures, texts
    user_col: str = ""  # the column of the person, by name or place (1, 2 …); found by itself where its name is usual
    item_col: str = ""  # that of the item
    time_col: str = ""  # that of the time; none: the order of the rows counts
    rating_col: str = ""  # that of the rating; none: do without
    sep: str = ""  # what stands between columns, such as ';' or tab; found by itself
    min_ratings: NonNegativeInt = 0  # leave out items with fewer events; 0: take all
    noun: Literal["item", "film"] = "item"  # what the app calls what it recommends
    replace: options.Flag = False  # take the place of the set of that name
    check: options.Flag = False  # say what is in the file, and add nothing

    def run(self) -> int:
        """Check the file, say what was found, keep it."""
        from recsys.data import own_data, tables
        from recsys.errors import recsys_command

        own_data.check_name(self.name)
        described = tables.read(self.items) if self.items else None
        checked = own_data.check(tables.read(self.interactions, self.sep), described, self._columns(), self.noun)
        print("\n".join(checked.facts.sentences()))
        if self.check:
            return 0
        dataset = own_data.add(self.name, checked, self.interactions.name, self.min_ratings, self.replace)
        if said := own_data.describe_dropped(checked, dataset):
            print(said)
        print(f"{self.name} is ready; train on it: {recsys_command('train', 'bert4rec', '--dataset', self.name)}")
        return 0

    def _columns(self) -> dict:
        return {"user": self.user_col, "item": self.item_col, "time": self.time_col, "rating": self.rating_col}


@dataclass(frozen=True)
class Remove:
    """Delete a set that was added here, and all that was made of it: models, results, vectors."""

    name: conf.Positional[str]  # which one

    def run(self) -> int:
        """Delete it."""
        from recsys.data import own_data
        from recsys.jobs import queue

        queue.check_idle(self.name)
        own_data.remove(self.name)
        print(f"{self.name} is deleted, with all that was made of it")
        return 0


Data = (
    Annotated[List, conf.subcommand("list")]
    | Annotated[Get, conf.subcommand("get")]
    | Annotated[Verify, conf.subcommand("verify")]
    | Annotated[Enrich, conf.subcommand("enrich")]
    | Annotated[Add, conf.subcommand("add")]
    | Annotated[Remove, conf.subcommand("remove")]
)


def read(arguments: Sequence[str]) -> List | Get | Verify | Enrich | Add | Remove:
    """The options of `data list`, `data get`, `data verify`, `data enrich`, `data add` or `data remove`."""
    return options.read(Data, "data", arguments)  # type: ignore[arg-type]  # a union is no type for mypy
