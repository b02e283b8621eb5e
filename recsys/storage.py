"""Replace files atomically, and detect every altered bit of documents and their payloads.

A *document* is a JSON file that contains its own SHA-256. An *artifact* is a document with payload files. The document
lists the names and SHA-256 of the payloads. The name of a payload contains the start of its SHA-256:
`weights-497d6bc544b6.safetensors`. A writer writes the payloads, then replaces the document, then deletes the payloads
of the old version. So an interrupted write leaves the old version or the new version, and the next write deletes unused
files. Readers need no lock. No file is changed in place, so a memory map of an old payload stays valid.
"""

import hashlib
import json
import logging
import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, TypeVar

from filelock import FileLock, Timeout

from recsys import paths
from recsys.errors import RecsysError, restore_command

HASH = re.compile(r"-[0-9a-f]{12}(?=\.|$)")  # the hash in the name of a payload
TEMPORARY = re.compile(r"(\.[0-9a-f]{8})?\.part$")  # suffix of temporary files; in older versions only ".part"

Content = bytes | Callable[[BinaryIO], object]  # the bytes of a file, or a function that writes them
T = TypeVar("T")

_verified_versions: dict[Path, tuple[object, ...]] = {}  # file → `_identity` of the version that was intact


class DamagedFileError(RecsysError):
    """The content of a file differs from the content that was written."""


def write_document(path: Path, document: dict[str, Any], payloads: Mapping[str, Content] | None = None) -> None:
    """Replace a document and its payloads, which are given by names without hash, such as "weights.safetensors".

    Several documents can share a payload outside their folders, such as "../counts.safetensors". It is never deleted.
    Raises OSError. The old version is then intact.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path):
        previous_payload_names = _payload_names(path)
        try:
            files = dict(_write_payload(path.parent, name, content) for name, content in (payloads or {}).items())
            replace_file(path, sign_document(document | ({"files": files} if files else {})))
        finally:
            _delete_unused(path, payloads or {}, previous_payload_names)


def read_document(path: Path) -> dict[str, Any]:
    """Return the content of a document, hashes included. Raises OSError, and DamagedFileError if a bit was altered."""
    identity, data = _identity(path), path.read_bytes()
    try:
        document: dict[str, Any] = json.loads(data)
        # compares bytes, because different bytes may have equal values: 1E-05 and 1e-05
        is_intact = _verified_versions.get(path) == identity or (isinstance(document, dict) and _sign(document) == data)
    except (ValueError, RecursionError):
        is_intact = False
    if not is_intact:
        raise DamagedFileError("{path} is damaged", path=path)
    _verified_versions[path] = identity
    return document


def read_artifact(path: Path, read: Callable[[dict[str, Any], dict[str, Path]], T]) -> T:
    """Return the result of `read` for one version of an artifact, even if a writer replaces it at the same time.

    `read` gets the content of the document, and the verified payloads by their names without hash. Raises OSError if a
    file cannot be read, and DamagedFileError if a file is altered or a payload is missing.
    """
    document = read_document(path)
    while True:
        try:
            return read(document, _payloads(path, document))
        except (FileNotFoundError, DamagedFileError):
            newest_document = read_document(path)
            if newest_document == document:
                raise
            document = newest_document  # a writer has replaced it and deleted the previous payloads


def read_payloads(path: Path) -> tuple[dict[str, Any], list[bytes]]:
    """Return the content of a document and of its payloads. Raises as `read_artifact`."""
    return read_artifact(path, lambda document, files: (document, [file.read_bytes() for file in files.values()]))


def check(path: Path) -> None:
    """Verify a document and its payloads, also if they were verified before. Raises as `read_artifact`."""
    _verified_versions.clear()
    read_artifact(path, lambda document, files: None)


def version(*files: Path) -> str:
    """Return a text that changes when one of these files is replaced or deleted; "" if none exists."""
    identities = []
    for path in files:
        with suppress(OSError):
            identities.append((path.name, *_identity(path)))
    return sha256(repr(identities).encode()) if identities else ""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a path during the block. Other threads and processes wait. A read-only disk has no locks.

    The thread that holds the lock may lock the path again.
    """
    name = f"{sha256(os.fsencode(path.absolute()))[:16]}.lock"
    lock = FileLock(paths.home() / "locks" / name, is_singleton=True)
    with suppress(OSError):  # the write in the block fails too, and reports the error
        Path(lock.lock_file).parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def try_locked(path: Path) -> Iterator[bool]:
    """Yield False if another thread or process holds a lock file. Otherwise hold it during the block, and yield True.

    The system releases the lock when the process ends. On a read-only disk nothing can be locked. The function then
    yields True if the file exists, and raises OSError otherwise.
    """
    lock, is_free = FileLock(path, blocking=False), True
    try:
        lock.acquire()
    except Timeout:
        is_free = False
    except OSError:
        if not path.exists():
            raise
    try:
        yield is_free
    finally:
        lock.release()


def replace_file(path: Path, content: Content) -> None:
    """Replace a file in one step. A full disk, Ctrl-C or a kill leaves the old file. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _temporary(path, content) as temporary:
        os.replace(temporary, path)


def sign_document(document: dict[str, Any]) -> bytes:
    """Return canonical JSON with a checksum, the SHA-256 of all other fields.

    The hash is in the object "run", or else at the top. If "run" contains another "run", the hash is in the innermost
    "run". So repeated measurements differ only in "run".
    """
    return _sign(json.loads(_to_json(document)))  # tuples become lists, as when the file is read


def sealed_bytes(data: bytes) -> bytes:
    """Return the SHA-256 of data (32 bytes), followed by the data. It is the content of a file without a document."""
    return hashlib.sha256(data).digest() + data


def read_sealed_bytes(path: Path) -> bytes:
    """Return the data in a file of `sealed_bytes`. Raises OSError, and DamagedFileError if a bit was altered."""
    data = path.read_bytes()
    if sealed_bytes(data[32:]) != data:
        raise DamagedFileError("{path} is damaged", path=path)
    return data[32:]


def read_shipped_json(path: Path, parse: Callable[[Any], T], default: T) -> T:
    """Return the result of `parse` for a shipped JSON file that has no SHA-256.

    Returns `default`, with one log warning per process, if the file is damaged or `parse` fails.
    """
    try:
        return parse(json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        _warn_once(path, str(error))
        return default


def verify(path: Path, expected: str) -> None:
    """Check the SHA-256 of a file, once per process and version of the file. Raises OSError and DamagedFileError."""
    identity = (expected, *_identity(path))
    if _verified_versions.get(path) != identity:
        if digest(path, "sha256") != expected:
            raise DamagedFileError("{path} is damaged", path=path)
        _verified_versions[path] = identity


def digest(path: Path, algorithm: str) -> str:
    """Return the hexadecimal hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def sha256(data: bytes) -> str:
    """Return the hexadecimal SHA-256."""
    return hashlib.sha256(data).hexdigest()


@cache
def _warn_once(path: Path, reason: str) -> None:
    """Log that a damaged file is ignored."""
    logging.getLogger(__name__).warning("ignored %s: %s; run: %s", path, reason, restore_command(path))


def _sign(document: dict[str, Any]) -> bytes:
    """Return the bytes of `sign_document`. The document must come from `json.loads`. Its hash is replaced."""
    target = document  # the object with the hash
    while isinstance(target.get("run"), dict):
        target = target["run"]
    target.pop("sha256", None)
    target["sha256"] = sha256(_to_json(document))
    return _to_json(document) + b"\n"


def _identity(path: Path) -> tuple[int, ...]:
    """Return numbers that differ between versions of a file: inode, size and times. Raises OSError."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _payloads(path: Path, document: dict[str, Any]) -> dict[str, Path]:
    """Return the verified payloads of a document by their names without hash."""
    folder = path.parent / document.get("folder", "")  # older data sets keep their payloads in a folder
    files = document.get("files", {})
    if not isinstance(files, dict):
        raise DamagedFileError("{path} is damaged", path=path)
    payloads = {}
    for name, expected in files.items():
        payload = folder / name
        payloads[HASH.sub("", name)] = payload
        try:
            verify(payload, expected)
        except (FileNotFoundError, DamagedFileError) as error:
            raise DamagedFileError("{payload} is missing or damaged", payload=payload) from error
    return payloads


def _payload_names(path: Path) -> set[str]:
    """Return the names of the payloads of a document, with hashes; an empty set if it cannot be read."""
    with suppress(OSError, DamagedFileError, TypeError):
        return set(read_document(path).get("files", ()))
    return set()


def _delete_unused(path: Path, payloads: Mapping[str, Content], previous_payload_names: set[str]) -> None:
    """Delete the payloads of older versions, and temporary files of writers that were killed."""
    used_names = {path.name, *_payload_names(path)}
    for file in path.parent.iterdir():
        final_name = TEMPORARY.sub("", file.name)  # the name that a temporary file was going to get
        is_payload = final_name in previous_payload_names or HASH.sub("", final_name) in payloads
        belongs_to_artifact = is_payload or final_name == path.name
        if belongs_to_artifact and file.name not in used_names:
            file.unlink(missing_ok=True)


def _write_payload(folder: Path, name: str, content: Content) -> tuple[str, str]:
    """Write a payload, and return its name with hash and its SHA-256."""
    path = PurePosixPath(name)
    with _temporary(folder / path, content) as temporary:
        hexadecimal = digest(temporary, "sha256")
        path = path.with_stem(f"{path.stem}-{hexadecimal[:12]}")
        os.replace(temporary, folder / path)
    return str(path), hexadecimal


@contextmanager
def _temporary(path: Path, content: Content) -> Iterator[Path]:
    """Yield a temporary file with this content in the folder of `path`. The block must rename the file.

    After an error, the temporary file is deleted.
    """
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        with temporary.open("xb") as file:
            if isinstance(content, bytes):
                file.write(content)
            else:
                content(file)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # so that the rename survives a power failure
    finally:
        os.close(folder)


def _to_json(document: dict[str, Any]) -> bytes:
    """Return JSON with sorted keys, so that the order of the fields does not change the hash."""
    return json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True).encode()
