"""Who made a film and what it is about, as Wikidata knows it: an optional table beside the films of a set.

It is made by `recsys.data.enrich`. Where there is none, everything works without it. Beside it stands its hash.
"""

import io
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd

from recsys import paths, storage
from recsys.errors import recsys_command

NAMES = ("directors", "cast", "subjects", "countries", "languages", "titles")  # columns of several names each
COLUMNS = ("movie_id", *NAMES, "minutes")
BETWEEN = "|"  # stands between the names of a cell; no name has it


class Detail(NamedTuple):
    """What is known of one film; empty where nothing is."""

    directors: tuple[str, ...] = ()
    cast: tuple[str, ...] = ()  # the best known first
    subjects: tuple[str, ...] = ()  # "artificial intelligence"
    countries: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()  # in other languages and scripts
    minutes: int | None = None


def _none() -> pd.DataFrame:
    return _table([])


@dataclass(frozen=True, eq=False)
class Details:
    """What is known of the films of a set; empty until it is enriched.

    `table` has COLUMNS, a row per film that Wikidata knows, in any order: movie_id int64 · NAMES str, several names
    with "|" between · minutes Int64, nullable.
    """

    table: pd.DataFrame = field(default_factory=_none)
    stamp: str = ""  # another text whenever the file that it was read from is another; "" where there was none

    @classmethod
    def known(cls, films: Mapping[int, Mapping[str, Any]]) -> "Details":
        """From film → {"directors": [names], …, "minutes": a number or None}; what is left out is not known."""
        lists = [[BETWEEN.join(facts.get(column, ())) for column in NAMES] for facts in films.values()]
        minutes = [facts.get("minutes") for facts in films.values()]
        return cls(_table([(movie, *names, time) for movie, names, time in zip(films, lists, minutes, strict=True)]))

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def _row_of(self) -> dict[int, tuple[Any, ...]]:
        """Film → its row, as plain Python."""
        minutes = [None if pd.isna(one) else int(one) for one in self.table["minutes"]]
        columns = [self.table[name].tolist() for name in ("movie_id", *NAMES)]
        return {row[0]: row[1:] for row in zip(*columns, minutes, strict=True)}

    def of(self, movie_id: int) -> Detail:
        """What is known of a film."""
        if movie_id not in self._row_of:
            return Detail()
        *names, minutes = self._row_of[movie_id]
        lists = {column: tuple(filter(None, text.split(BETWEEN))) for column, text in zip(NAMES, names, strict=True)}
        return Detail(**lists, minutes=minutes)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of what is known, in whatever order it stands; "" where nothing is."""
        if not len(self):
            return ""
        return storage.sha256(_csv(self.table.sort_values("movie_id")))

    def as_released(self) -> "Details":
        """Without subjects, which people write down later: nobody knows whether they were there at some time."""
        return Details(self.table.assign(subjects=pd.array([""] * len(self), dtype="str")), self.stamp)


def read(name: str) -> Details:
    """What is known of a set's films; nothing where it was never enriched, or where the file is damaged."""
    mark = stamp(name)
    if not mark:
        return Details()
    kinds = dict.fromkeys(NAMES, "str") | {"movie_id": "int64", "minutes": "Int64"}
    try:
        path = paths.details(name)
        with storage.locked(path.parent, shared=True):
            _, data = storage.read_artifact(path.with_suffix(".json"), path)
        table = pd.read_csv(io.BytesIO(data), dtype=kinds, keep_default_na=False, na_values={"minutes": [""]})
        if tuple(table.columns) != COLUMNS or table["movie_id"].duplicated().any():
            raise ValueError("another table")
    except (OSError, ValueError, storage.DamagedFileError):
        command = recsys_command("data", "enrich", name)
        warnings.warn(f"what was known of the films of {name} is damaged; run: {command}", stacklevel=2)
        return Details()
    return Details(table, mark)


def stamp(name: str) -> str:
    """What tells the details of a set from older ones, without reading them; "" where there are none."""
    try:
        found = paths.details(name).stat()
    except OSError:
        return ""
    return f"{found.st_mtime_ns}-{found.st_size}"


def write(name: str, known: Mapping[int, Mapping[str, Any]]) -> None:
    """Keep what is known of the films of a set, as `Details.known` takes it. Raises OSError."""
    path, data = paths.details(name), _csv(Details.known(known).table)
    path.parent.mkdir(parents=True, exist_ok=True)
    with storage.locked(path.parent):
        storage.write_artifact(path.with_suffix(".json"), {"dataset": name}, path, data)


def _csv(table: pd.DataFrame) -> bytes:
    return bytes(table.to_csv(index=False, lineterminator="\n"), "utf-8")


def _table(rows: Iterable[tuple[Any, ...]]) -> pd.DataFrame:
    kinds = dict.fromkeys(NAMES, "str") | {"movie_id": "int64", "minutes": "Int64"}
    return pd.DataFrame(list(rows), columns=list(COLUMNS)).astype(kinds)
