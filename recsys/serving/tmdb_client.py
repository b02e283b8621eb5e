"""Send requests to TMDB, with a deadline, a limit of bytes and a limit of requests per second.

Requests are coroutines on an event loop in a separate thread, because a coroutine can have a deadline. The timeout of a
blocking socket restarts with every byte, and does not limit the look-up of an address.
"""

import asyncio
import json
import logging
import math
import re
import threading
import time
import zlib
from collections.abc import Coroutine
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2

DEADLINE_SECONDS = 3.0  # from the address look-up to the last byte, including a retry
MAX_PARALLEL = 8  # requests at the same time
MAX_PER_SECOND = 35  # requests, evenly spaced; TMDB allows about 40
MAX_REPLY_BYTES = 1 << 18  # size of a decompressed reply
PAUSE_SECONDS = 60.0  # pause after a rate limit, if the reply does not contain a pause
MIN_PAUSE_SECONDS = 1.0
MAX_PAUSE_SECONDS = 300.0

_API_KEY_PARAMETER = re.compile(r"api_key=[^&\s\"']+")


class _KeyFilter(logging.Filter):
    """Removes keys from the URLs that the HTTP client logs."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Replace a key in the message. Returns True, so that the message is logged."""
        record.msg, record.args = _API_KEY_PARAMETER.sub("api_key=…", record.getMessage()), ()
        return True


logging.getLogger("httpx2").addFilter(_KeyFilter())


@dataclass(frozen=True)
class Key:
    """An API key (32 hexadecimal digits) or a read access token (a JSON Web Token).

    TMDB accepts a token in a header, but an API key only in the URL
    (developer.themoviedb.org/docs/authentication-application). So URLs are not displayed, and `_KeyFilter` removes the
    API key from logged URLs.
    """

    text: str = field(repr=False)

    @property
    def _is_token(self) -> bool:
        """Whether the key is a read access token."""
        return self.text.startswith("eyJ")

    @property
    def headers(self) -> dict[str, str]:
        """HTTP headers with a token, {} for an API key."""
        return {"Authorization": f"Bearer {self.text}"} if self._is_token else {}

    @property
    def params(self) -> dict[str, str]:
        """URL parameters with an API key, {} for a token."""
        return {} if self._is_token else {"api_key": self.text}


class RequestFailed(Exception):
    """A request without a valid reply. The exception has no text, so it cannot contain a key."""


class KeyRejected(RequestFailed):
    """The service rejects the key."""


class RateLimited(RequestFailed):
    """The service requires that no requests are sent for `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


_loop_lock = threading.Lock()


def start_coroutine(coroutine: Coroutine[Any, Any, None]) -> "Future[None]":
    """Start a coroutine on the event loop, and return its future."""
    with _loop_lock:  # without it, two threads could each start a loop: `functools.cache` does not wait
        loop = _event_loop()
    return asyncio.run_coroutine_threadsafe(coroutine, loop)


@cache
def _event_loop() -> asyncio.AbstractEventLoop:
    """Return the event loop. The first call starts it in a thread that ends with the process."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="tmdb", daemon=True).start()
    return loop


class Client:
    """Sends requests to one service, from coroutines of `start_coroutine`."""

    def __init__(self, api: str) -> None:
        self._api = api
        # The caller of `get` acquires a slot and then decides whether to send a request. So the decision depends on
        # failures during the wait for the slot.
        self.slots = asyncio.Semaphore(MAX_PARALLEL)
        self._rate_lock = asyncio.Lock()  # held in `_wait_for_rate`, so that requests start one after the other
        self._latest_start = -math.inf  # of a request, monotonic clock in seconds
        self._start_times: dict[object, float] = {}  # id of an open request → its start, monotonic clock in seconds

    @cached_property
    def _http(self) -> "httpx2.AsyncClient":
        import httpx2  # imported late, because most visits send no request

        headers = {"Accept": "application/json", "Accept-Encoding": "gzip"}
        return httpx2.AsyncClient(headers=headers, timeout=None, follow_redirects=False)  # `get` has the deadline

    async def get(
        self, path: str, params: dict[str, str], key: Key, max_bytes: int = MAX_REPLY_BYTES
    ) -> dict[str, Any]:
        """Return the JSON of a reply, {} for status 404. A failed request is repeated once before the deadline.

        Raises:
            RequestFailed: If there is no valid reply within DEADLINE_SECONDS.
        """
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                try:
                    return await self._get_once(path, params, key, max_bytes)
                except (KeyRejected, RateLimited):
                    raise
                except RequestFailed:
                    return await self._get_once(path, params, key, max_bytes)
        except TimeoutError:
            raise RequestFailed from None

    async def _get_once(self, path: str, params: dict[str, str], key: Key, max_bytes: int) -> dict[str, Any]:
        """Send one request, see `get`."""
        from httpx2 import HTTPError, InvalidURL

        http = self._http  # created before the wait, because the first access takes 0.1 s
        await self._wait_for_rate()
        request = http.stream("GET", f"{self._api}{path}", params=params | key.params, headers=key.headers)
        request_id = object()
        self._start_times[request_id] = time.monotonic()
        try:
            async with request as reply:
                if reply.status_code == 404:
                    return {}
                _check_status(reply)
                content = json.loads(await _read_body(reply, max_bytes))
        except (HTTPError, InvalidURL, OSError, ValueError, RecursionError, zlib.error):
            raise RequestFailed from None
        finally:
            del self._start_times[request_id]
        if not isinstance(content, dict):
            raise RequestFailed
        return content

    async def _wait_for_rate(self) -> None:
        """Wait until 1 / MAX_PER_SECOND seconds have passed since the start of the latest request."""
        async with self._rate_lock:
            delay = self._latest_start + 1 / MAX_PER_SECOND - time.monotonic()
            if delay > 0:
                await asyncio.sleep(delay)
            self._latest_start = time.monotonic()  # the actual start: `sleep` can last longer than `delay`

    def oldest_request_seconds(self) -> float:
        """Return the seconds since the oldest open request was sent, 0 if no request is open."""
        starts = list(self._start_times.values())  # a copy, because the event loop changes the dictionary
        return time.monotonic() - min(starts) if starts else 0.0


def _check_status(reply: "httpx2.Response") -> None:
    """Raise RequestFailed, or the subclass for the reason, for a status other than 200."""
    if reply.status_code in (401, 403):
        raise KeyRejected
    if reply.status_code == 429:
        retry_after = reply.headers.get("Retry-After", "")  # seconds, or a date, which is ignored
        is_number = retry_after.isascii() and retry_after.isdigit() and len(retry_after) < 6
        seconds = float(retry_after) if is_number else PAUSE_SECONDS
        raise RateLimited(min(max(seconds, MIN_PAUSE_SECONDS), MAX_PAUSE_SECONDS))
    if reply.status_code != 200:
        raise RequestFailed


async def _read_body(reply: "httpx2.Response", max_bytes: int) -> bytes:
    """Return the decompressed body. Decompression stops after `max_bytes`, but `httpx2` would decompress it all.

    Raises:
        RequestFailed: If the body is longer, or if its compression is not supported.
    """
    encoding = reply.headers.get("Content-Encoding", "identity").lower()
    if encoding not in ("identity", "gzip"):
        raise RequestFailed
    decompressor = zlib.decompressobj(zlib.MAX_WBITS | 16) if encoding == "gzip" else None  # 16: gzip header
    body = b""
    async for chunk in reply.aiter_raw():
        remaining_bytes = max_bytes + 1 - len(body)  # one more, so that a longer body is noticed
        body += decompressor.decompress(chunk, remaining_bytes) if decompressor else chunk
        if len(body) > max_bytes:
            raise RequestFailed
    return body
