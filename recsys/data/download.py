"""Download files. The result is a complete, verified file, or an error.

Data is written to the part file, `NAME.part` beside the target. The part file is renamed when its length and hash are
right. If the server sent an ETag, a later connection or call continues the download. For this, the part file is kept
after a network failure, a cancelled call or a killed process. It is deleted after any other failure.
"""

import hashlib
import math
import os
import threading
import time
from collections.abc import Generator, Iterator
from concurrent.futures import Future, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from recsys import storage
from recsys.data.dataset import DataError
from recsys.errors import N_, Message, RecsysError, disk_errors
from recsys.progress import Cancelled, ProgressCallback, no_progress

if TYPE_CHECKING:
    import requests

CHUNK_BYTES = 1 << 16
MAX_ATTEMPTS = 5  # failed connections in a row without new bytes, after which the download fails
PAUSE_SECONDS = 0.25  # between connections; doubled by every failure in a row, also by the first
READ_TIMEOUT_SECONDS = 20.0  # after this time without a byte, a connection counts as lost
POLL_SECONDS = 0.5  # between two progress reports while nothing arrives
REPORT_SECONDS = 0.1  # between two progress reports while data arrives
_END = object()  # result of `_read_next` at the end of a stream


class DownloadError(DataError):
    """A file that cannot be downloaded. The message is `reason`, a `Message`, followed by advice."""

    def __init__(
        self, reason: str | Message, advice: str | Message = "", command: str | None = None, /, **fields: Any
    ) -> None:
        """Create the error. `fields` are the values of the placeholders in `reason` and `advice`."""
        self.reason = reason if isinstance(reason, Message) else Message(reason, **fields)
        message = self.reason
        if advice:
            advice = advice if isinstance(advice, Message) else Message(advice, **fields)
            message = Message("{reason}; {advice}", reason=self.reason, advice=advice)
        super().__init__(message, command)


class DiskError(DownloadError):
    """A disk that is full or not writable."""


class _NetworkError(DownloadError):
    """Too many connections in a row have failed. A later call can continue the download."""


class _RetryableError(RecsysError):
    """A connection has failed, but another connection may succeed."""


class Hashes(NamedTuple):
    """Hexadecimal hashes of a file."""

    md5: str
    sha256: str


def file_hashes(path: Path) -> Hashes:
    """Read a file once and compute its hashes."""
    md5, sha256 = hashlib.md5(usedforsecurity=False), hashlib.sha256()
    with path.open("rb") as file:
        while data := file.read(1 << 20):
            md5.update(data)
            sha256.update(data)
    return Hashes(md5.hexdigest(), sha256.hexdigest())


def fetch(
    address: str,
    target: Path,
    *,
    md5: str | None = None,
    max_bytes: int = 1 << 30,
    seconds: float | None = None,
    attempts: int = MAX_ATTEMPTS,
    report: ProgressCallback = no_progress,
) -> Hashes:
    """Download a file, or continue its download, and return its hashes. A target with the expected MD5 is kept.

    Args:
        address: URL.
        target: Path of the file.
        md5: Expected MD5; None: it is not checked.
        max_bytes: Maximum size of the file.
        seconds: Maximum duration, including name resolution; None: no limit.
        attempts: Number of failed connections in a row after which the download fails. A connection that received new
            bytes restarts the count at 1.
        report: Receives {"stage": "download", "done", "total" (bytes, or None), "from" (host)}, and {"stage": "wait"}
            while nothing arrives. It may raise Cancelled.

    Raises:
        DownloadError: If the file cannot be downloaded, or if it is not the expected one.
    """
    if md5 and target.exists() and (hashes := file_hashes(target)).md5 == md5:
        return hashes
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    part, etag_file = (target.with_name(f"{target.name}.{suffix}") for suffix in ("part", "etag.part"))
    download = _Download(part, etag_file, address, urlsplit(address).hostname or address, deadline, max_bytes, report)
    with disk_errors(target.parent, DiskError):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            download.run(attempts)
            hashes = file_hashes(part)
            if md5 and hashes.md5 != md5:
                text = "{host} sent a different file from the one expected (its MD5 is not {md5})"
                raise DownloadError(text, "try later", host=download.host, md5=md5)
            os.replace(part, target)
        except BaseException as error:
            may_continue_later = isinstance(error, Cancelled | _NetworkError) and download.is_resumable
            if not may_continue_later:
                download.remove_part()
            raise
        download.remove_part()  # only the ETag file is left
    return hashes


@contextmanager
def exclusive_folder(folder: Path) -> Iterator[None]:
    """Create a folder and lock it against other processes and threads. An OSError in the block becomes a DiskError."""
    with disk_errors(folder, DiskError):
        folder.mkdir(parents=True, exist_ok=True)
        with storage.locked(folder):
            yield


@dataclass(frozen=True)
class _Download:
    """A download in progress, over one or several connections."""

    part: Path  # part file, with the received data
    etag_file: Path  # contains the ETag that the server sent for the file
    address: str
    host: str
    deadline: float  # on the monotonic clock
    max_bytes: int
    report: ProgressCallback

    @property
    def size(self) -> int:
        """The number of bytes received by this call and earlier calls."""
        return self.part.stat().st_size if self.part.exists() else 0

    @property
    def is_resumable(self) -> bool:
        """Whether the rest of the file can be requested. The server sends only the rest if its ETag has not changed."""
        return self.size > 0 and self.etag_file.exists()

    def remove_part(self) -> None:
        """Delete the part file and its ETag."""
        self.part.unlink(missing_ok=True)
        self.etag_file.unlink(missing_ok=True)

    def run(self, attempts: int) -> None:
        """Complete the part file, with up to `attempts` failed connections in a row. Raises DownloadError."""
        largest_size, failures = self.size, 0
        while True:
            try:
                return self._connect()
            except _RetryableError as error:
                failures = 1 if self.size > largest_size else failures + 1
                if failures >= attempts:
                    raise _NetworkError(
                        "{host}: {why}", "check the network and try again", host=self.host, why=error
                    ) from error
            largest_size = max(largest_size, self.size)
            pause(min(PAUSE_SECONDS * 2**failures, self.deadline - time.monotonic()), self.report)

    def _connect(self) -> None:
        """Open a connection and append its data to the part file. Raises DownloadError or _RetryableError."""
        headers = {"Accept-Encoding": "identity", "User-Agent": "nextreel"}
        if self.is_resumable:
            headers |= {"Range": f"bytes={self.size}-", "If-Range": self.etag_file.read_text("ascii")}
        timeout_message = Message("{host} did not deliver the file in time", host=self.host)
        response_and_chunks = _response_and_body(self.address, headers)
        with closing(stream_with_timeout(response_and_chunks, self.report, self.deadline, timeout_message)) as stream:
            response = next(stream)
            _check_response(response, self.host)
            if response.status_code == 200:  # the whole file
                self.remove_part()
                etag = response.headers.get("ETag") or ""
                if etag and not etag.startswith("W/") and etag.isascii():  # a weak ETag does not guarantee equal bytes
                    self.etag_file.write_text(etag, "ascii")
            elif not response.headers.get("Content-Range", "").startswith(f"bytes {self.size}-"):
                self.remove_part()  # status 416 or another range: the server has a different file
                raise _RetryableError("the file has changed there")
            length = response.headers.get("Content-Length", "")
            self._append(stream, self.size + int(length) if length.isdigit() else None)

    def _append(self, chunks: Iterator[bytes], total: int | None) -> None:
        """Append chunks to the part file and report progress. `total` is the size of the file, None if unknown."""
        done, report_time = self.size, 0.0
        with self.part.open("ab") as file:
            for chunk in chunks:
                done += len(chunk)
                if max(done, total or 0) > self.max_bytes:
                    text = "{host} sent more than {max_bytes:,} bytes, so this is not the expected file"
                    raise DownloadError(text, host=self.host, max_bytes=self.max_bytes)
                file.write(chunk)
                if time.monotonic() - report_time > REPORT_SECONDS or done == total:
                    report_time = time.monotonic()
                    self.report({"stage": "download", "done": done, "total": total, "from": self.host})
            file.flush()
            os.fsync(file.fileno())
        if total is not None and done < total:
            raise _RetryableError("the connection was lost after {done:,} of {total:,} bytes", done=done, total=total)


def _check_response(response: "requests.Response", host: str) -> None:
    """Raise DownloadError for a response without the file, or _RetryableError if another attempt can succeed."""
    status = response.status_code
    if status in (429, 500, 502, 503, 504):
        raise _RetryableError("it answered {status}", status=status)
    if status not in (200, 206, 416):
        text = "{host} answered {status} {reason}"
        raise DownloadError(text, "the file may have moved", host=host, status=status, reason=response.reason)
    if response.headers.get("Content-Type", "").startswith("text/html"):
        text = "{host} answered with a web page instead of the file"
        raise DownloadError(text, "does this network require a login?", host=host)


def _response_and_body(address: str, headers: dict[str, str]) -> Iterator[Any]:
    """Yield the response, then its body in chunks."""
    import requests

    try:
        with requests.get(address, headers=headers, stream=True, timeout=READ_TIMEOUT_SECONDS) as response:
            yield response
            yield from response.iter_content(CHUNK_BYTES)
    except requests.exceptions.SSLError as error:
        host = urlsplit(address).hostname
        text = "{host}: its certificate cannot be verified"
        advice = Message("try later, or use --from FILE.zip", app_text="try later")
        raise DownloadError(text, advice, host=host) from error
    except requests.RequestException as error:
        raise _RetryableError(network_error_text(error)) from error


def pause(seconds: float, report: ProgressCallback) -> None:
    """Wait, and report {"stage": "wait"} while waiting."""
    while seconds > 0:
        time.sleep(min(seconds, POLL_SECONDS))
        report({"stage": "wait"})
        seconds -= POLL_SECONDS


def network_error_text(error: BaseException) -> Message:
    """Return the cause of an exception of `requests` as a clause: "it refuses connections"."""
    text = str(error)
    for pattern, summary in (
        ("resolve", N_("its name cannot be resolved")),
        ("refused", N_("it refuses connections")),
        ("timed out", N_("it does not answer")),
        ("IncompleteRead", N_("the connection was lost")),
    ):
        if pattern in text:
            return Message(summary)
    return Message("the connection failed ({name})", name=type(error).__name__)


def stream_with_timeout(
    stream: Iterator[Any], report: ProgressCallback, deadline: float, timeout_message: Message
) -> Generator[Any]:
    """Yield the items of `stream`. Raises DownloadError with `timeout_message` at the deadline.

    The stream is read in other threads, so that deadline and cancellation also apply while DNS or TLS blocks. `report`
    receives {"stage": "wait"} while nothing arrives, and may raise Cancelled. The deadline is a time of the monotonic
    clock.
    """
    while True:
        result: Future[Any] = Future()
        # a daemon, because a blocked thread of an executor would delay the end of the program
        threading.Thread(target=_read_next, args=(stream, result), daemon=True).start()
        while not result.done():
            seconds_left = deadline - time.monotonic()
            if seconds_left <= 0:
                raise DownloadError(timeout_message)
            wait([result], min(seconds_left, POLL_SECONDS))
            if not result.done():
                report({"stage": "wait"})
        if result.result() is _END:
            return
        yield result.result()


def _read_next(stream: Iterator[Any], result: Future[Any]) -> None:
    """Store the next item of a stream in `result`, or _END at its end, or the exception that it raises."""
    try:
        result.set_result(next(stream, _END))
    except Exception as error:  # noqa: BLE001 - raised again in the consumer
        result.set_exception(error)
