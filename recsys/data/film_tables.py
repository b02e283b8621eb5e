"""Three tables of films that come with the project: directors, original languages and themes, by movie id of MovieLens.

They were written from memory, so they can have errors. If a film is not in a table, its directors or themes are
unknown, and its language is English or unknown.
"""

import csv
import logging
from functools import lru_cache
from pathlib import Path

from recsys import paths, storage
from recsys.data import published
from recsys.data.film_details import SEPARATOR


def original_languages(dataset: str) -> dict[int, str]:
    """Return movie id → ISO 639 code of the original language, for films that are not in English.

    The result is {} for a data set without the common movie ids of MovieLens. If the table cannot be read, a warning is
    logged, and the result is {} too. Callers must not change the result.
    """
    return _column(dataset, "languages", "language")


def directors(dataset: str) -> dict[int, tuple[str, ...]]:
    """Return movie id → names of the directors. Like `original_languages`, it can be {}."""
    return _list_column(dataset, "directors")


def themes(dataset: str) -> dict[int, tuple[str, ...]]:
    """Return movie id → themes, such as "boxing" or "time loop". Like `original_languages`, it can be {}."""
    return _list_column(dataset, "themes")


def fingerprint(dataset: str) -> str:
    """Return a hash of the three tables, "" for a data set without the common movie ids of MovieLens."""
    if not published.has_common_movie_ids(dataset):
        return ""
    tables = map(paths.film_table, ("languages", "directors", "themes"))
    return storage.sha256("".join(_hash(path, storage.version(path)) for path in tables).encode())


def _list_column(dataset: str, table: str) -> dict[int, tuple[str, ...]]:
    """Return movie id → values in the column with the same name as its table."""
    return {movie: tuple(text.split(SEPARATOR)) for movie, text in _column(dataset, table, table).items()}


def _column(dataset: str, table: str, column: str) -> dict[int, str]:
    """Return movie id → cell of a column of a table, {} for a data set without the common movie ids of MovieLens."""
    path = paths.film_table(table)
    return _read(path, column, storage.version(path)) if published.has_common_movie_ids(dataset) else {}


@lru_cache(maxsize=4)
def _read(path: Path, column: str, version: str) -> dict[int, str]:
    """Read a column of a table. `version` changes with the file, so the cache has no outdated table."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return {int(row["movie_id"]): row[column] for row in csv.DictReader(file)}
    except (OSError, ValueError, KeyError) as error:
        logging.getLogger(__name__).warning("ignored %s: %s", path, error)
        return {}


@lru_cache(maxsize=4)
def _hash(path: Path, version: str) -> str:
    """Return the hash of a table, "" if it cannot be read. For `version`, see `_read`."""
    try:
        return storage.sha256(path.read_bytes())
    except OSError:
        return ""
