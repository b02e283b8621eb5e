"""The files of a ZIP, read from memory and never unpacked to disk."""

import io
from collections.abc import Iterator
from pathlib import PurePosixPath

from recsys.data import zip_files
from recsys.data.history_import.entries import MOST_BYTES, HistoryError

MOST_UNPACKED = 5 * MOST_BYTES  # of all files that are read
READ = (".csv", ".json")


def is_zip(data: bytes) -> bool:
    """Whether these bytes begin as a ZIP does."""
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def files(name: str, data: bytes) -> Iterator[tuple[str, bytes | None]]:
    """(path in the archive, content) of each file, None for one that is neither CSV nor JSON.

    Raises HistoryError for a file that is no ZIP, or that would unpack to more than anybody's history.
    """
    if len(data) > MOST_BYTES:
        raise HistoryError(f"“{name}” has more than {MOST_BYTES >> 20} MB; bring the CSV files in it one by one")
    try:
        with zip_files.opened(io.BytesIO(data), MOST_UNPACKED, _is_wanted) as archive:
            if "[Content_Types].xml" in archive.paths:
                raise HistoryError(f"“{name}” is a document of an office program; save the table as CSV and bring that")
            for path in archive.paths:
                yield path, archive.read(path) if _is_wanted(path) else None
    except zip_files.ArchiveError as error:
        advice = "bring the CSV or JSON files in it one by one, or export it again"
        raise HistoryError(f"“{name}” is not a sound ZIP file: {error.message}; {advice}") from error


def _is_wanted(path: str) -> bool:
    place = PurePosixPath(path)
    return place.suffix.lower() in READ and not place.name.startswith("._")
