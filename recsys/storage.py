"""Files that are written whole or not at all, and in which an altered bit is noticed.

A *sealed* document is JSON with a SHA-256 over the rest of itself. A *pair* is a sealed document and the binary file
whose hash it names: the two are replaced together, and damage to either is noticed. A folder of large files has a
sealed document that names their hashes, see `verify`. Binary data that stands alone lies behind its hash.

Nothing here writes into a file that somebody may have open: whoever has mapped one into memory keeps the old one. Only
the largest arrays are mapped, see `recsys.data.prepared`.
"""

import contextlib
import hashlib
import json
import logging
import os
import shlex
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from recsys import paths
from recsys.errors import RecsysError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class DamagedFileError(RecsysError):
    """A file whose content is not what was written."""


def replace_file(path: Path, data: bytes) -> None:
    """Replace a file in one step: a full disk, Ctrl-C or a kill leaves the old one. Raises OSError.

    Two writers of one path must take turns: see `locked`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _sync(path.parent)


def has_locks() -> bool:
    """Whether this system has locks that end with the process that holds them."""
    return fcntl is not None


@contextlib.contextmanager
def locked(folder: Path, shared: bool = False) -> Iterator[None]:
    """Hold the lock of a folder, once other threads and processes have released it; readers may share it.

    Where the system has no such lock (Windows, some network disks) this does nothing.
    """
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def try_locked(path: Path) -> Iterator[bool]:
    """Hold the lock file `path` if nobody else does; yields whether it is held. The file stays.

    The system lets go of it when the process ends, however it ends. Where there is no such lock this yields True.
    """
    if fcntl is None:
        yield True
        return
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        handle = os.open(path, os.O_RDONLY)  # on a disk that takes no writes a lock can still be looked at
    try:
        yield _lock_at_once(handle)
    finally:
        os.close(handle)


def _lock_at_once(handle: int) -> bool:
    """Whether nobody else holds the lock of an open file; an OSError of another kind means that there are no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def sign_document(document: dict[str, Any]) -> bytes:
    """Canonical JSON with its own SHA-256: under "run" where there is one, so that all else repeats in a second run."""
    bare = _with_digest(json.loads(_text(document)), None)  # as it will be read: tuples become lists
    return _text(_with_digest(bare, sha256(_text(bare)))) + b"\n"


def keep(document: dict[str, Any], place: Callable[[Path], Path], ship: bool = False) -> Path:
    """Write a sealed document to its place in the home folder (`ship`: in assets/ too); returns the former."""
    data = sign_document(document)
    for root in (paths.home(), *([paths.ASSETS] if ship else [])):
        replace_file(place(root), data)
    return place(paths.home())


def read_document(path: Path) -> dict[str, Any]:
    """The document that `sign_document` made. Raises OSError, and DamagedFileError if a single bit differs."""
    data = path.read_bytes()
    try:
        document = json.loads(data)
        # bytes are compared, not values, to notice also what means the same: 1E-05 for 1e-05
        intact = isinstance(document, dict) and sign_document(document) == data
    except (ValueError, RecursionError):
        intact = False
    if not intact:
        raise DamagedFileError(f"{path} is damaged")
    return document


def read_shipped_json(path: Path, is_valid: Callable[[Any], bool]) -> Any:
    """Return the JSON of a shipped file; None, with one log warning per process, if it is missing or damaged.

    Args:
        path: A file without a hash of its own, see `recsys.checksums`.
        is_valid: Whether the parsed content has the expected structure. LookupError, TypeError and AttributeError
            count as False.
    """
    try:
        content = json.loads(path.read_bytes())
        if is_valid(content):
            return content
        reason = "unexpected structure"
    except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        reason = str(error)
    _warn_once(path, reason)
    return None


@cache
def _warn_once(path: Path, reason: str) -> None:
    logging.getLogger(__name__).warning("ignored %s: %s; run: %s", path, reason, restore_command(path))


def write_artifact(index: Path, document: dict[str, Any], payload: Path, data: bytes) -> None:
    """Replace a document and its binary file so that a reader finds both old or both new. Raises OSError.

    The new data is written under another name; replacing the document is the moment from which it counts; then it is
    renamed. The caller holds the folder's lock.
    """
    _settle(index, payload)
    try:
        replace_file(_waiting(payload), data)
        replace_file(index, sign_document(document | {"files": {payload.name: sha256(data)}}))
    finally:
        _settle(index, payload)


def read_artifact(index: Path, payload: Path) -> tuple[dict[str, Any], bytes]:
    """The document and the bytes whose hash it names. Raises OSError and DamagedFileError."""
    document = read_document(index)
    wanted = _hash_of(document, payload)
    for path in (payload, _waiting(payload)):  # the second: a kill came just before the last rename
        if path.exists() and sha256(data := path.read_bytes()) == wanted:
            return document, data
    raise DamagedFileError(f"{payload} is missing or damaged")


def sealed_bytes(data: bytes) -> bytes:
    """Binary data behind its SHA-256 (32 bytes), for a file that stands alone."""
    return hashlib.sha256(data).digest() + data


def read_sealed_bytes(path: Path) -> bytes:
    """The data that `sealed_bytes` was given. Raises OSError, and DamagedFileError if a single bit differs."""
    data = path.read_bytes()
    if sealed_bytes(data[32:]) != data:
        raise DamagedFileError(f"{path} is damaged")
    return data[32:]


def verify(path: Path, wanted: str) -> None:
    """Raise DamagedFileError unless a file has this SHA-256, and OSError where it cannot be read.

    A file is read once by each process, and again when it is another one: by its number, size and times.
    """
    known = path.stat()
    found = _sha256_of(path, known.st_ino, known.st_size, known.st_mtime_ns, known.st_ctime_ns)
    if found != wanted:
        raise DamagedFileError(f"{path} is damaged")


@lru_cache(maxsize=4096)
def _sha256_of(path: Path, *version: int) -> str:
    return digest(path, "sha256")


def digest(path: Path, algorithm: str) -> str:
    """The hash of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def restore_command(*kept: Path) -> str:
    """The command that restores files or folders of the project."""
    root = paths.REPOSITORY
    inside = [str(path.relative_to(root) if path.is_relative_to(root) else path) for path in kept]
    return shlex.join(["git", "-C", str(root), "checkout", "--", *inside])


def sha256(data: bytes) -> str:
    """Hexadecimal digest."""
    return hashlib.sha256(data).hexdigest()


def _settle(index: Path, payload: Path) -> None:
    """Finish or undo an interrupted `write_artifact`: rename waiting data that the document names, else delete it."""
    waiting = _waiting(payload)
    if not waiting.exists():
        return
    try:
        wanted = _hash_of(read_document(index), payload)
    except (OSError, DamagedFileError):
        wanted = None
    if sha256(waiting.read_bytes()) == wanted:
        os.replace(waiting, payload)
        _sync(payload.parent)
    else:
        waiting.unlink()


def _hash_of(document: dict[str, Any], payload: Path) -> str | None:
    """What a document says of its binary file; None where it says nothing."""
    named = document.get("files")
    return named.get(payload.name) if isinstance(named, dict) else None


def _waiting(payload: Path) -> Path:
    return payload.with_name(f"{payload.name}.next")


def _with_digest(document: dict[str, Any], digest: str | None) -> dict[str, Any]:
    """A copy with its "sha256" set, or without it (None)."""
    if isinstance(document.get("run"), dict):
        return document | {"run": _with_digest(document["run"], digest)}
    rest = {key: value for key, value in document.items() if key != "sha256"}
    return rest if digest is None else rest | {"sha256": digest}


def _text(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True).encode()


def _sync(folder: Path) -> None:
    """Make a rename survive a power failure."""
    with contextlib.suppress(OSError):  # Windows cannot open a folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
