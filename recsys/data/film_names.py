"""Corrected titles and years of films, and their other names: assets/films/names.json.

Some titles of MovieLens are provisional: *Avengers: Endgame* is "Avengers: Infinity War - Part II". The table maps the
title and year of the data to the corrected ones. The app shows, finds and imports films by the corrected ones. Models
read the data as it is.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from recsys import paths, storage
from recsys.data.titles import title_and_year


class FilmNames(NamedTuple):
    """The names of a film."""

    title: str  # corrected
    year: int | None = None  # corrected
    also: tuple[str, ...] = ()  # from other countries, in Ukrainian, and the title of the data if `title` differs
    nicknames: tuple[str, ...] = ()  # only for the search, not for the import of history files: "t2"


class NameTable(NamedTuple):
    """The names of all films in the file."""

    by_data_title: Mapping[tuple[str, int | None], FilmNames]  # by title and year of the data
    by_corrected_title: Mapping[tuple[str, int | None], FilmNames]  # by corrected title and year


NO_NAMES = NameTable({}, {})


def read() -> NameTable:
    """Return the table. It is empty, with a warning, if the file is damaged."""
    return _read(paths.film_names(), storage.version(paths.film_names()))


@lru_cache(maxsize=4)
def _read(path: Path, version: str) -> NameTable:
    """Read the file. `version` changes with it."""
    return storage.read_shipped_json(path, _parse, NO_NAMES)


def _parse(content: dict[str, dict[str, Any]]) -> NameTable:
    """Return the table of the JSON document: title and year of the data → other names."""
    by_data_title = {title_and_year(label): _names(label, **entry) for label, entry in content.items()}
    return NameTable(by_data_title, {(names.title, names.year): names for names in by_data_title.values()})


def _names(
    label: str, title: str = "", year: int | None = None, also: Sequence[str] = (), nicknames: Sequence[str] = ()
) -> FilmNames:
    """Return the names of a film of the document. `label` has its title and year in the data."""
    data_title, data_year = title_and_year(label)
    other_titles = also if title in ("", data_title) else [*also, data_title]
    return FilmNames(title or data_title, year or data_year, tuple(other_titles), tuple(nicknames))
