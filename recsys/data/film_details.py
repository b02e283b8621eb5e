"""Details of films: credits, subjects, countries, languages and titles.

They come from Wikidata and are optional: `recsys.data.enrich` downloads them. Directors also come with the project, in
a table that `recsys.data.film_tables` reads. *Facts* are the downloaded details of a film as a dict, see
`Details.from_facts`.
"""

import io
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd

from recsys import paths, storage
from recsys.errors import recsys_command

NAME_COLUMNS = ("directors", "cast", "subjects", "countries", "languages", "titles")  # a cell has any number of names
COLUMNS = ("movie_id", *NAME_COLUMNS, "minutes")  # of `Details.table`
DTYPES = dict.fromkeys(NAME_COLUMNS, "str") | {"movie_id": "int64", "minutes": "Int64"}
SEPARATOR = "|"  # between the names in a cell. No name contains it


class FilmDetails(NamedTuple):
    """The details of one film. Unknown details are empty."""

    directors: tuple[str, ...] = ()
    cast: tuple[str, ...] = ()  # most popular actors first
    subjects: tuple[str, ...] = ()  # such as "artificial intelligence"
    countries: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()  # in other languages and scripts
    minutes: int | None = None


def _table(rows: Iterable[tuple[Any, ...]] = ()) -> pd.DataFrame:
    """Return a table with COLUMNS and DTYPES."""
    return pd.DataFrame(list(rows), columns=list(COLUMNS)).astype(DTYPES)


@dataclass(frozen=True, eq=False)
class Details:
    """The details of the films of a data set. `len` is the number of films with details from Wikidata.

    `table` has COLUMNS with DTYPES, and a row for each film that Wikidata has, in any order. `read_directors` returns
    movie id → directors that come with the project. They are used if the table lacks the directors of a film.
    """

    table: pd.DataFrame = field(default_factory=_table)
    version: str = ""  # see the function `version`
    read_directors: Callable[[], Mapping[int, tuple[str, ...]]] = dict  # called on first use

    @classmethod
    def from_facts(cls, films: Mapping[int, Mapping[str, Any]]) -> "Details":
        """Create details from movie id → {"directors": [names], …, "minutes": number or None}. Keys are optional."""
        rows = (
            (movie, *(SEPARATOR.join(facts.get(column, ())) for column in NAME_COLUMNS), facts.get("minutes"))
            for movie, facts in films.items()
        )
        return cls(_table(rows))

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def shipped_directors(self) -> Mapping[int, tuple[str, ...]]:
        """Movie id → directors that come with the project."""
        return self.read_directors()

    @property
    def has_people_or_titles(self) -> bool:
        """Whether the details have people or titles in other languages."""
        return bool(len(self) or self.shipped_directors)

    @cached_property
    def _rows(self) -> dict[int, Any]:
        """Movie id → row of the table."""
        return {row.movie_id: row for row in self.table.itertuples(index=False)}

    def get(self, movie_id: int) -> FilmDetails:
        """Return the details of a film. They are empty for an unknown film."""
        row, shipped_directors = self._rows.get(movie_id), self.shipped_directors.get(movie_id, ())
        if row is None:
            return FilmDetails(shipped_directors)
        lists = {column: tuple(filter(None, getattr(row, column).split(SEPARATOR))) for column in NAME_COLUMNS}
        lists["directors"] = lists["directors"] or shipped_directors
        return FilmDetails(**lists, minutes=None if pd.isna(row.minutes) else int(row.minutes))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the table, sorted by movie id, "" for an empty table."""
        return storage.sha256(_csv(self.table.sort_values("movie_id"))) if len(self) else ""

    def without_subjects(self) -> "Details":
        """Return a copy without subjects. `Catalog.as_of` removes them, because the date of a subject is unknown."""
        return replace(self, table=self.table.assign(subjects=pd.array([""] * len(self), dtype="str")))


def read(name: str) -> Details:
    """Read the details of a data set. They are empty without a file, and for a damaged file, which causes a warning."""
    file_version = version(name)
    if not file_version:
        return Details()
    try:
        _, (data,) = storage.read_payloads(paths.details(name))
        table = pd.read_csv(io.BytesIO(data), dtype=DTYPES, keep_default_na=False, na_values={"minutes": [""]})
        if tuple(table.columns) != COLUMNS or table["movie_id"].duplicated().any():
            raise ValueError("unexpected columns or repeated movie ids")
    except (OSError, ValueError, storage.DamagedFileError):
        command = recsys_command("data", "enrich", name)
        warnings.warn(f"the film details of {name} are damaged; run: {command}", stacklevel=2)
        return Details()
    return Details(table, file_version)


def version(name: str) -> str:
    """Return a text that changes when the stored details of a data set are replaced, "" without stored details."""
    return storage.version(paths.details(name))


def write(name: str, films: Mapping[int, Mapping[str, Any]]) -> None:
    """Write the details of a data set, given in the format of `Details.from_facts`. Raises OSError."""
    table = Details.from_facts(films).table
    storage.write_document(paths.details(name), {"dataset": name}, {"films.csv": _csv(table)})


def _csv(table: pd.DataFrame) -> bytes:
    """Return a table as CSV, with equal bytes on all operating systems."""
    return bytes(table.to_csv(index=False, lineterminator="\n"), "utf-8")
