"""The files of a ZIP, read from memory and never unpacked to disk; what is too large or folded is refused first."""

import io
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath

from recsys.data.imports.entries import MOST_BYTES, HistoryError

MOST_FILES = 2_000
MOST_UNPACKED = 5 * MOST_BYTES  # of all files that are read
STEEPEST = 100  # times that a file may be larger than its compressed form; histories shrink to a tenth
SMALL = 1 << 16  # bytes below which that does not matter
READ = (".csv", ".json")
_UNSOUND = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError)


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
        with zipfile.ZipFile(io.BytesIO(data)) as zipped:
            members = [one for one in zipped.infolist() if not one.is_dir()]
            _refuse_bombs(name, members, len(data))
            for member in members:
                yield member.filename, _content(name, zipped, member)
    except _UNSOUND as error:
        raise HistoryError(f"“{name}” is not a sound ZIP file; export it again") from error


def _refuse_bombs(name: str, members: list[zipfile.ZipInfo], size: int) -> None:
    """Look at what the archive declares, before anything is unpacked."""
    if any(one.filename == "[Content_Types].xml" for one in members):
        raise HistoryError(f"“{name}” is a document of an office program; save the table as CSV and bring that")
    wanted = [one for one in members if _is_wanted(one)]
    steep = any(one.file_size > max(SMALL, STEEPEST * one.compress_size) for one in wanted)
    folded = sum(one.compress_size for one in members) > size  # several share the same bytes
    if len(members) > MOST_FILES or sum(one.file_size for one in wanted) > MOST_UNPACKED or steep or folded:
        raise HistoryError(f"“{name}” unpacks to more than a history of films has; bring the CSV or JSON files in it")
    if any(one.flag_bits & 1 for one in wanted):
        raise HistoryError(f"“{name}” has a password; bring the files without one")


def _is_wanted(member: zipfile.ZipInfo) -> bool:
    path = PurePosixPath(member.filename)
    return path.suffix.lower() in READ and not path.name.startswith("._")


def _content(name: str, zipped: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes | None:
    """What a file holds, but no more of it than the archive declares."""
    if not _is_wanted(member):
        return None
    with zipped.open(member) as file:
        content = file.read(member.file_size + 1)
    if len(content) > member.file_size:
        raise HistoryError(f"“{name}”: {member.filename} is larger than it says; export it again")
    return content
