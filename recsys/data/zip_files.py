"""ZIP archives, judged by what they declare before anything is unpacked; nothing is ever unpacked to disk.

Refused are: too many members or too large ones, members that unpack to far more than they are packed in, that share
bytes, go by one name, have a password, or lead outside their folder. Of a member no more is read than it declares, and
that in small pieces. (OWASP ASVS 5, V5.2.3; overlapping members: Fifield, A better zip bomb, WOOT 2019.)
"""

import re
import stat
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import IO, Any, BinaryIO

from recsys.data.dataset import DataError

MOST_FILES = 2_000
DIRECTORY = 1 << 20  # bytes of the list of members, which is read whole: more than MOST_FILES need
PIECE = 1 << 12  # bytes that are asked for at a time, so that little is unpacked of a file that lies about its size
MAX_COMPRESSION_RATIO = 100  # times that a file may be larger than its compressed form; ratings shrink to a fifth
SMALL = 1 << 16  # bytes below which that does not matter
HEADER = 30  # bytes before each member, at least
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # those whose unpacking can be stopped at any byte
UNSOUND = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OverflowError)


class ArchiveError(DataError):
    """An archive that is damaged or not to be trusted; the message says what is wrong with it."""


class Archive:
    """The files of an archive, by their paths in it."""

    def __init__(self, zipped: zipfile.ZipFile) -> None:
        self._zipped = zipped
        self._members = {_path(one): one for one in zipped.infolist() if not one.is_dir()}

    @property
    def paths(self) -> list[str]:
        """All files, in the order of the archive."""
        return list(self._members)

    def stream(self, path: str) -> IO[bytes]:
        """A file, to be read in pieces of at most PIECE bytes or a few."""
        return self._zipped.open(self._members[path])

    def read(self, path: str) -> bytes:
        """All that a file holds."""
        with self.stream(path) as file:
            return b"".join(iter(lambda: file.read(PIECE), b""))


class _InPieces:
    """A file that gives no more than DIRECTORY bytes at once, so that no list of members can be longer."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        if size > DIRECTORY:
            raise ArchiveError("it lists too many files")
        return self._file.read(size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@contextmanager
def opened(
    file: BinaryIO, largest: int, wanted: Callable[[str], bool] = lambda path: True, verified: bool = False
) -> Iterator[Archive]:
    """The archive in a file; those of its files that are wanted may unpack to `largest` bytes in all.

    verified: its hash is a known one, so that it may be packed in any way. Raises ArchiveError for an archive that is
    refused, and for whatever turns out to be wrong while it is read.
    """
    try:
        with zipfile.ZipFile(_InPieces(file)) as zipped:  # type: ignore[call-overload]  # it has what is needed
            _refuse(zipped.infolist(), zipped.start_dir)
            _refuse_contents([one for one in zipped.infolist() if wanted(_path(one))], largest, verified)
            yield Archive(zipped)
    except UNSOUND as error:
        raise ArchiveError(str(error).splitlines()[0] if str(error) else type(error).__name__) from error


def _refuse(members: list[zipfile.ZipInfo], end: int) -> None:
    """Raise ArchiveError for members that no sound archive has; their list begins at byte `end`."""
    if len(members) > MOST_FILES:
        raise ArchiveError(f"it holds {len(members):,} files")
    _refuse_strays(members)
    places = sorted((one.header_offset, one.header_offset + HEADER + one.compress_size) for one in members)
    if any(after < until for (_, until), (after, _) in pairwise([*places, (end, end)])):
        raise ArchiveError("files in it share the same bytes")


def _refuse_contents(members: list[zipfile.ZipInfo], largest: int, verified: bool) -> None:
    """Raise ArchiveError for members that are not to be unpacked."""
    for one in members:
        if one.file_size > max(SMALL, MAX_COMPRESSION_RATIO * one.compress_size):
            raise ArchiveError(f"its {_path(one)} would unpack to {one.file_size:,} bytes")
        if one.compress_type not in METHODS and not verified:
            raise ArchiveError(f"its {_path(one)} is packed in a way that is not read here")
        if one.flag_bits & 1:
            raise ArchiveError(f"its {_path(one)} has a password")
    if (size := sum(one.file_size for one in members)) > largest:
        raise ArchiveError(f"it would unpack to {size:,} bytes")


def _path(member: zipfile.ZipInfo) -> str:
    """Old programs for Windows write backslashes between folders."""
    return member.orig_filename.replace("\\", "/")


def _refuse_strays(members: list[zipfile.ZipInfo]) -> None:
    """Nothing is unpacked, yet an archive that tries to write outside its folder, or twice, is not to be trusted."""
    for member in members:
        name, path = member.orig_filename, _path(member)
        outside = ".." in path.split("/") or path.startswith("/") or re.match(r"[A-Za-z]:", path) or "\0" in path
        if outside or not member.filename or stat.S_ISLNK(member.external_attr >> 16):
            raise ArchiveError(f"{name!r} in it leads outside its folder")
    for path, times in Counter(unicodedata.normalize("NFC", _path(one)).casefold() for one in members).items():
        if times > 1:
            raise ArchiveError(f"{path!r} is in it {times} times")
