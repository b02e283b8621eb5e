"""Two tables of films that come with the project: directors and original languages, by MovieLens id.

We compiled both from memory, without a reference. The directors of a film that is not in the table are unknown. The
language of such a film is English or unknown.
"""

import csv
import logging
from functools import lru_cache
from pathlib import Path

from recsys import paths, storage
from recsys.data import published

SEPARATOR = "|"  # between several directors


def original_languages(dataset: str) -> dict[int, str]:
    """Return movie id → ISO 639 code of the original language, for films that are not in English.

    The result is {} for a data set without the common movie ids of MovieLens. It is also {}, and the log has a warning,
    if the table cannot be read. Callers must not change it.
    """
    return _column(dataset, paths.film_languages(), "language")


def directors(dataset: str) -> dict[int, tuple[str, ...]]:
    """Return movie id → names of the directors. Like `original_languages`, it can be {}."""
    names = _column(dataset, paths.film_directors(), "directors")
    return {movie: tuple(text.split(SEPARATOR)) for movie, text in names.items()}


def _column(dataset: str, path: Path, column: str) -> dict[int, str]:
    """Return movie id → value of a column of a table."""
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
