"""Read ZIP archives from untrusted sources. An archive is checked before a member (a file in it) is read.

An archive is refused if it has too many or too large members, high compression ratios, passwords, overlapping members,
duplicate names, or paths outside its folder. A member is read in small pieces, and never beyond its declared size.
Nothing is unpacked to disk.

References: OWASP ASVS 5, V5.2.3. Fifield, A better zip bomb, WOOT 2019.
"""

import re
import stat
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, BinaryIO

from recsys.data.dataset import DataError
from recsys.data.text_encoding import UnreadableTextError, decode_text
from recsys.errors import Message

MAX_MEMBERS = 2_000
MAX_DIRECTORY_BYTES = 1 << 20  # of the list of members at the end of the archive, which zipfile reads in one call
CHUNK_BYTES = 1 << 12  # read at a time; small, so that a member larger than declared is noticed early
MAX_COMPRESSION_RATIO = 100  # ratings files have about 5
ZIP_SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06")  # first bytes of an archive, and of an empty archive
UNCHECKED_BYTES = 1 << 16  # members up to this size can have any compression ratio
MIN_HEADER_BYTES = 30  # of the header before each member
COMPRESSION_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # their decompression can be stopped at any byte
READ_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError)  # raised by zipfile for a damaged member
OPEN_ERRORS = (*READ_ERRORS, NotImplementedError, RuntimeError, ValueError, OverflowError)


class ArchiveError(DataError):
    """A damaged or suspicious archive. The message calls the archive "it", and the caller adds the file name."""


class Archive:
    """The members of an archive. The name of a member is its path, or its file name without folders."""

    def __init__(self, zip_file: zipfile.ZipFile) -> None:
        self._zip_file = zip_file
        self._by_path = {_path(member): member for member in zip_file.infolist() if not member.is_dir()}
        # reversed, so that the first of several members with the same file name is used
        by_file_name = {path.rpartition("/")[2]: member for path, member in reversed(self._by_path.items())}
        self._by_name = by_file_name | self._by_path

    @property
    def paths(self) -> list[str]:
        """The paths of all members, in archive order."""
        return list(self._by_path)

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def stream(self, name: str) -> IO[bytes]:
        """Open a member as a file. Raises DataError if no member has this name."""
        if name not in self:
            raise DataError("it holds no {name}", name=name)
        with _archive_errors(OPEN_ERRORS):
            return self._zip_file.open(self._by_name[name])

    def read(self, name: str) -> bytes:
        """Read a whole member."""
        with self.stream(name) as file:
            return b"".join(iter(lambda: file.read(CHUNK_BYTES), b""))

    def text(self, name: str) -> str:
        """Read and decode a whole member. Raises DataError if it is not text."""
        try:
            return decode_text(self.read(name))[0]
        except UnreadableTextError as error:
            raise DataError("its {name} {message}", name=name, message=error.message) from error


class _LimitedFile:
    """An archive file of which at most MAX_DIRECTORY_BYTES are read at once. This limits the list of members."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        """Read bytes. Raises ArchiveError if the size is above the limit."""
        if size > MAX_DIRECTORY_BYTES:
            raise ArchiveError("it lists too many files")
        return self._file.read(size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@contextmanager
def open_archive(
    file: BinaryIO, max_bytes: int, is_needed: Callable[[str], bool] = lambda path: True, is_verified: bool = False
) -> Iterator[Archive]:
    """Check and open an archive. Raises ArchiveError, also if the caller reads a damaged member.

    Args:
        file: The archive.
        max_bytes: Maximum size of all needed members together after decompression.
        is_needed: Returns whether the member with a path will be read. Size, compression and passwords of other members
            are not checked.
        is_verified: Whether the archive has a published hash, so that all compression methods are allowed.
    """
    with _archive_errors(OPEN_ERRORS):
        zip_file = zipfile.ZipFile(_LimitedFile(file))  # type: ignore[call-overload]  # has all methods that it needs
        _check_members(zip_file.infolist(), zip_file.start_dir)
        _check_contents([member for member in zip_file.infolist() if is_needed(_path(member))], max_bytes, is_verified)
    with zip_file, _archive_errors(READ_ERRORS):  # not OPEN_ERRORS: a ValueError of the caller is a bug
        yield Archive(zip_file)


@contextmanager
def _archive_errors(errors: tuple[type[Exception], ...]) -> Iterator[None]:
    """Replace exceptions of zipfile by ArchiveError."""
    try:
        yield
    except errors as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ArchiveError(Message.literal(reason)) from error


def _check_members(members: list[zipfile.ZipInfo], directory_start: int) -> None:
    """Raise ArchiveError for too many, overlapping or duplicate members, or paths outside the archive's folder."""
    if len(members) > MAX_MEMBERS:
        raise ArchiveError("it holds too many files ({members:,})", members=len(members))
    for member in members:
        path = _path(member)
        is_outside = ".." in path.split("/") or path.startswith("/") or re.match(r"[A-Za-z]:", path) or "\0" in path
        is_link = stat.S_ISLNK(member.external_attr >> 16)
        if is_outside or is_link or not member.filename:
            raise ArchiveError("{name!r} in it leads outside its folder", name=member.orig_filename)
    # some file systems treat paths as equal that differ only in case or in the encoding of accents
    normalised_paths = [unicodedata.normalize("NFC", _path(member)).casefold() for member in members]
    for path, times in Counter(normalised_paths).items():
        if times > 1:
            raise ArchiveError("{path!r} is in it {times} times", path=path, times=times)
    members = sorted(members, key=lambda member: member.header_offset)
    ends = [member.header_offset + MIN_HEADER_BYTES + member.compress_size for member in members]
    starts = [*(member.header_offset for member in members), directory_start]
    if any(end > next_start for end, next_start in zip(ends, starts[1:], strict=True)):
        raise ArchiveError("files in it overlap")


def _check_contents(members: list[zipfile.ZipInfo], max_bytes: int, is_verified: bool) -> None:
    """Raise ArchiveError for members that are too large, compressed too much or by another method, or encrypted."""
    for member in members:
        if member.file_size > max(UNCHECKED_BYTES, MAX_COMPRESSION_RATIO * member.compress_size):
            text = "its {path} would be too large when unpacked ({file_size:,} bytes)"
            raise ArchiveError(text, path=_path(member), file_size=member.file_size)
        if member.compress_type not in COMPRESSION_METHODS and not is_verified:
            raise ArchiveError("its {path} uses an unsupported compression method", path=_path(member))
        if member.flag_bits & 1:
            raise ArchiveError("its {path} has a password", path=_path(member))
    if (size := sum(member.file_size for member in members)) > max_bytes:
        raise ArchiveError("it would be too large when unpacked ({size:,} bytes)", size=size)


def _path(member: zipfile.ZipInfo) -> str:
    """Return the path with forward slashes. Old Windows programs write backslashes."""
    return member.orig_filename.replace("\\", "/")
