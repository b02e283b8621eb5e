"""Corrected titles and years of films, and their other names: assets/films/names.json.

Some titles of MovieLens are provisional: *Avengers: Endgame* is "Avengers: Infinity War - Part II". The table maps the
title and year of the data to the corrected ones. The app shows, finds and imports films by the corrected ones. Models
read the data as it is.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from recsys import paths, storage
from recsys.data.titles import title_and_year

FIELDS = {"title", "year", "also", "nicknames"}  # of a film in the file, all optional


class FilmNames(NamedTuple):
    """The names of a film."""

    title: str  # corrected
    year: int | None = None  # corrected
    also: tuple[str, ...] = ()  # other titles: of other countries, in Ukrainian, of the data if it is corrected
    nicknames: tuple[str, ...] = ()  # typed in a search, but in no history file: "t2"


class NameTable(NamedTuple):
    """The names of all films in the file."""

    in_data: Mapping[tuple[str, int | None], FilmNames]  # by title and year of the data
    corrected: Mapping[tuple[str, int | None], FilmNames]  # by corrected title and year


NO_NAMES = NameTable({}, {})


def read() -> NameTable:
    """Return the table. It is empty, with a warning, if the file is damaged."""
    return _read(paths.film_names(), storage.version(paths.film_names()))


@lru_cache(maxsize=4)
def _read(path: Path, version: str) -> NameTable:
    """Read the file. `version` changes with it."""
    content = storage.read_shipped_json(path, _is_valid)
    if content is None:
        return NO_NAMES
    in_data, corrected = {}, {}
    for label, entry in content.items():
        data_title, data_year = title_and_year(label)
        title, also = entry.get("title", data_title), entry.get("also", [])
        names = FilmNames(
            title,
            entry.get("year", data_year),
            tuple(also if title == data_title else [*also, data_title]),
            tuple(entry.get("nicknames", [])),
        )
        in_data[data_title, data_year] = corrected[names.title, names.year] = names
    return NameTable(in_data, corrected)


def _is_valid(content: Any) -> bool:
    return isinstance(content, dict) and all(
        isinstance(entry, dict)
        and entry.keys() <= FIELDS
        and isinstance(entry.get("title", ""), str)
        and isinstance(entry.get("year", 0), int)
        and all(isinstance(name, str) for field in ("also", "nicknames") for name in _strings(entry, field))
        for entry in content.values()
    )


def _strings(entry: dict[str, Any], field: str) -> list[Any]:
    """Return a list of an entry. A value that is no list becomes an element, which is no text."""
    value = entry.get(field, [])
    return value if isinstance(value, list) else [None]
