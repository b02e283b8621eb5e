"""Two tables of films that come with the project: directors and original languages, by MovieLens id.

We compiled both from memory, without a reference. A film that a table lacks is unknown to it.
"""

import csv
import warnings
from pathlib import Path

from recsys import paths
from recsys.data import published

SEPARATOR = "|"  # between several directors


def original_languages(dataset: str) -> dict[int, str]:
    """Return movie id → ISO 639 code of the original language, for films that are not in English.

    The result is {} for a data set without the common movie ids of MovieLens. If the table cannot be read, it warns and
    returns {}.
    """
    return _column(dataset, paths.film_languages(), "language", "the original languages of films are not used")


def directors(dataset: str) -> dict[int, tuple[str, ...]]:
    """Return movie id → names of the directors. Like `original_languages`, it can be {}."""
    names = _column(dataset, paths.film_directors(), "directors", "the directors of films are not used")
    return {movie: tuple(text.split(SEPARATOR)) for movie, text in names.items()}


def _column(dataset: str, path: Path, column: str, warning: str) -> dict[int, str]:
    """Return movie id → value of a column of a table. It is {} after a warning if the table cannot be read."""
    if not published.has_common_movie_ids(dataset):
        return {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return {int(row["movie_id"]): row[column] for row in csv.DictReader(file)}
    except (OSError, ValueError, KeyError) as error:
        warnings.warn(f"{warning}: {error}", stacklevel=3)
        return {}
