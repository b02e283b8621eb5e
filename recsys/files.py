"""Files that are old or new, never half, and that tell when a bit of them was altered.

A *sealed* document is JSON with a SHA-256 over the rest of itself. A *pair* is a sealed document and the binary file
whose hash it names; to altered bits and cut-off writes the two are one.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class DamagedFileError(ValueError):
    """A file that is not what was written."""


def write(path: Path, data: bytes) -> None:
    """Replace a file in one step: after a full disk, Ctrl-C or a kill the old one is still there. Raises OSError.

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


@contextlib.contextmanager
def locked(folder: Path, shared: bool = False) -> Iterator[None]:
    """Keep other threads and processes out of a folder; those who only read may share it.

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


def seal(document: dict[str, Any]) -> bytes:
    """Canonical JSON with its own SHA-256, which stands under `run` where there is one, so that the rest can repeat."""
    bare = _with_digest(json.loads(_text(document)), None)  # as it will be read: keys are text, tuples are lists
    return _text(_with_digest(bare, sha256(_text(bare)))) + b"\n"


def read_sealed(path: Path) -> dict[str, Any]:
    """The document that `seal` made. Raises OSError, and DamagedFileError for anything else, be it by one bit."""
    data = path.read_bytes()
    try:
        document = json.loads(data)
        # comparing bytes, not values, also finds a changed letter case in 1e-05 or in an escape
        intact = isinstance(document, dict) and seal(document) == data
    except (ValueError, RecursionError):
        intact = False
    if not intact:
        raise DamagedFileError(f"{path} is damaged")
    return document


def write_pair(index: Path, document: dict[str, Any], payload: Path, data: bytes) -> None:
    """Replace a document and its binary file so that a reader finds both old or both new. Raises OSError.

    The new data waits under another name; replacing the document is the moment from which it counts; then it gets its
    name. The caller holds the folder's lock.
    """
    _settle(index, payload)
    try:
        write(_waiting(payload), data)
        write(index, seal(document | {"files": {payload.name: sha256(data)}}))
    finally:
        _settle(index, payload)


def read_pair(index: Path, payload: Path) -> tuple[dict[str, Any], bytes]:
    """The document and the bytes it vouches for. Raises OSError and DamagedFileError."""
    document = read_sealed(index)
    wanted = document.get("files", {}).get(payload.name)
    for path in (payload, _waiting(payload)):  # the second: a kill came just before the last rename
        if path.exists() and sha256(data := path.read_bytes()) == wanted:
            return document, data
    raise DamagedFileError(f"{payload} is missing or damaged")


def sha256(data: bytes) -> str:
    """Hexadecimal digest."""
    return hashlib.sha256(data).hexdigest()


def _settle(index: Path, payload: Path) -> None:
    """Give waiting data its name if the document vouches for it, else drop it."""
    waiting = _waiting(payload)
    if not waiting.exists():
        return
    try:
        wanted = read_sealed(index).get("files", {}).get(payload.name)
    except (OSError, DamagedFileError):
        wanted = None
    if sha256(waiting.read_bytes()) == wanted:
        os.replace(waiting, payload)
        _sync(payload.parent)
    else:
        waiting.unlink()


def _waiting(payload: Path) -> Path:
    return payload.with_name(f"{payload.name}.next")


def _with_digest(document: dict[str, Any], digest: str | None) -> dict[str, Any]:
    """A copy with "sha256" set in its place, or without it (None)."""
    if isinstance(document.get("run"), dict):
        return document | {"run": _with_digest(document["run"], digest)}
    rest = {key: value for key, value in document.items() if key != "sha256"}
    return rest if digest is None else rest | {"sha256": digest}


def _text(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True).encode()


def _sync(folder: Path) -> None:
    """Make a rename survive a power cut."""
    with contextlib.suppress(OSError):  # Windows cannot open a folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
