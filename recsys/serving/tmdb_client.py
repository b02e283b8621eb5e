"""Questions to TMDB, each with an end: a deadline for all of it, a length, and only so many of them in a second.

They are coroutines on one event loop beside the pages. A thread with a socket has no deadline: its patience begins anew
with every byte that trickles in, and while an address is looked up it has none at all.
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

DEADLINE_SECONDS = (
    3.0  # seconds for a question, from the look-up of the address to the last byte, the second try included
)
MAX_PARALLEL = 8  # films that are asked about at a time
MAX_PER_SECOND = 35  # questions in a second, evenly spread; TMDB allows about 40
MAX_REPLY_BYTES = 1 << 18  # bytes of an answer that are read, unpacked
PAUSE_SECONDS, MAX_PAUSE_SECONDS = 60.0, 300.0  # seconds, where the service does not say for how long, and at most

_API_KEY_PARAMETER = re.compile(r"api_key=[^&\s\"']+")


class _KeyFilter(logging.Filter):
    """Takes keys out of the addresses that the client logs."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = _API_KEY_PARAMETER.sub("api_key=…", record.getMessage()), ()
        return True


logging.getLogger("httpx2").addFilter(_KeyFilter())


@dataclass(frozen=True)
class Key:
    """An API key (32 hexadecimal digits) or a read access token (it begins with eyJ); printed without its text.

    TMDB takes a token in a header. An API key it takes in the address alone, which nothing here logs or shows
    (developer.themoviedb.org/docs/authentication-application).
    """

    text: str = field(repr=False)

    @property
    def headers(self) -> dict[str, str]:
        """HTTP headers that carry a token; empty for an API key."""
        return {"Authorization": f"Bearer {self.text}"} if self.text.startswith("eyJ") else {}

    @property
    def params(self) -> dict[str, str]:
        """URL parameters that carry an API key; empty for a token."""
        return {} if self.text.startswith("eyJ") else {"api_key": self.text}


class RequestFailed(Exception):
    """A question without an answer; carries no text, so that no key can be in it."""


class KeyRejected(RequestFailed):
    """The service does not accept the key."""


class RateLimited(RequestFailed):
    """The service demands a pause of some seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


def start_request(question: Coroutine[Any, Any, None]) -> "Future[None]":
    """Begin a coroutine beside the pages, which may wait for it as long as they like."""
    return asyncio.run_coroutine_threadsafe(question, _event_loop())


_loop_lock = threading.Lock()


def _event_loop() -> asyncio.AbstractEventLoop:
    with _loop_lock:
        return _start_event_loop()


@cache
def _start_event_loop() -> asyncio.AbstractEventLoop:
    """The event loop, running in a thread of its own as long as the process does."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="tmdb", daemon=True).start()
    return loop


class Client:
    """Asks one service; for coroutines begun by `start`."""

    def __init__(self, api: str) -> None:
        self._api = api
        self.places = asyncio.Semaphore(
            MAX_PARALLEL
        )  # for whoever asks to hold, from before looking whether to ask at all
        self._order = asyncio.Lock()  # held while the next question waits for its turn
        self._latest = -math.inf  # when the latest question began, on the monotonic clock
        self._in_flight: dict[object, float] = {}  # when each question without an answer so far began

    @cached_property
    def _http(self) -> "httpx2.AsyncClient":
        import httpx2  # here, because most visits ask nothing

        headers = {"Accept": "application/json", "Accept-Encoding": "gzip"}
        return httpx2.AsyncClient(headers=headers, timeout=None, follow_redirects=False)  # the deadline is ours

    async def get(self, path: str, params: dict[str, str], key: Key, longest: int = MAX_REPLY_BYTES) -> dict[str, Any]:
        """An answer, {} where TMDB has no such thing. One that fails is asked for once more, if there is time.

        Raises RequestFailed, after DEADLINE at the latest.
        """
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                try:
                    return await self._once(path, params, key, longest)
                except (KeyRejected, RateLimited):
                    raise
                except RequestFailed:
                    return await self._once(path, params, key, longest)
        except TimeoutError:
            raise RequestFailed from None

    async def _once(self, path: str, params: dict[str, str], key: Key, longest: int) -> dict[str, Any]:
        from httpx2 import HTTPError, InvalidURL

        http = self._http  # made before it is our turn: the first time takes a tenth of a second
        await self._turn()
        question = http.stream("GET", f"{self._api}{path}", params=params | key.params, headers=key.headers)
        this = object()
        self._in_flight[this] = time.monotonic()
        try:
            async with question as reply:
                if reply.status_code == 404:
                    return {}
                _check_status(reply)
                found = json.loads(await _read_body(reply, longest))
        except (HTTPError, InvalidURL, OSError, ValueError, RecursionError, zlib.error):
            raise RequestFailed from None
        finally:
            del self._in_flight[this]
        if not isinstance(found, dict):
            raise RequestFailed
        return found

    async def _turn(self) -> None:
        """Wait until 1 / RATE seconds have passed since the latest question. A late one is not made up for."""
        async with self._order:
            delay = self._latest + 1 / MAX_PER_SECOND - time.monotonic()
            if delay > 0:
                await asyncio.sleep(delay)
            self._latest = time.monotonic()

    def longest_wait(self) -> float:
        """Return for how many seconds the oldest question has been without an answer; 0 if there is none."""
        begun = list(self._in_flight.values())
        return time.monotonic() - min(begun) if begun else 0.0


def _check_status(reply: "httpx2.Response") -> None:
    """Raise RequestFailed for any status but 200."""
    if reply.status_code in (401, 403):
        raise KeyRejected
    if reply.status_code == 429:
        said = reply.headers.get("Retry-After", "")
        seconds = float(said) if said.isascii() and said.isdigit() and len(said) < 6 else PAUSE_SECONDS
        raise RateLimited(min(max(seconds, 1.0), MAX_PAUSE_SECONDS))
    if reply.status_code != 200:
        raise RequestFailed


async def _read_body(reply: "httpx2.Response", longest: int) -> bytes:
    """The body, unpacked here so that no more is unpacked than is read; raises RequestFailed for one that is longer."""
    packing = reply.headers.get("Content-Encoding", "identity").lower()
    if packing not in ("identity", "gzip"):
        raise RequestFailed
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16) if packing == "gzip" else None  # 16: with gzip's header
    body = b""
    async for piece in reply.aiter_raw():
        body += unpacking.decompress(piece, longest + 1 - len(body)) if unpacking else piece
        if len(body) > longest:
            raise RequestFailed
    return body
