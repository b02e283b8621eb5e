"""Corrected titles and years of films, and their other names: assets/films/names.json.

Some titles of MovieLens are provisional: *Avengers: Endgame* is "Avengers: Infinity War - Part II". The app shows,
finds and imports films by corrected title and year. Models read the titles in the data set.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ConfigDict, TypeAdapter, with_config
from typing_extensions import TypedDict

from recsys import paths, storage
from recsys.data.titles import title_and_year


@with_config(ConfigDict(strict=True, extra="forbid"))
class _Entry(TypedDict, total=False):
    """The names of a film in the file. The key of the entry is the film's title and year in the data set."""

    title: str  # corrected; missing: the title in the data set is correct
    year: int  # likewise
    also: list[str]  # `FilmNames.other_titles`
    nicknames: list[str]  # `FilmNames.nicknames`


class FilmNames(NamedTuple):
    """The names of a film."""

    title: str  # corrected
    year: int | None = None  # corrected
    # titles in other countries, in Ukrainian and in Russian, and the title in the data set if it differs
    other_titles: tuple[str, ...] = ()
    nicknames: tuple[str, ...] = ()  # such as "t2"; only for the search, not for the import of history files


class NameTable(NamedTuple):
    """The names of all films in the file."""

    by_data_title: Mapping[tuple[str, int | None], FilmNames]  # by title and year in the data set
    by_corrected_title: Mapping[tuple[str, int | None], FilmNames]  # by corrected title and year


NO_NAMES = NameTable({}, {})
_FILE_ADAPTER = TypeAdapter(dict[str, _Entry])


def read() -> NameTable:
    """Return the table. It is empty, with a warning, if the file is damaged."""
    return _read(paths.film_names(), storage.version(paths.film_names()))


@lru_cache(maxsize=4)
def _read(path: Path, version: str) -> NameTable:
    """Read the file. `version` changes with the file, so the cache has no outdated table."""
    return storage.read_shipped_json(path, _name_table, NO_NAMES)


def _name_table(content: Any) -> NameTable:
    """Return the table from the content of the file. Raises ValidationError."""
    by_data_title, by_corrected_title = {}, {}
    for label, entry in _FILE_ADAPTER.validate_python(content).items():
        data_title, data_year = title_and_year(label)
        title, other_titles = entry.get("title", data_title), entry.get("also", [])
        names = FilmNames(
            title,
            entry.get("year", data_year),
            tuple(other_titles if title == data_title else [*other_titles, data_title]),
            tuple(entry.get("nicknames", [])),
        )
        by_data_title[data_title, data_year] = names
        by_corrected_title[names.title, names.year] = names
    return NameTable(by_data_title, by_corrected_title)
