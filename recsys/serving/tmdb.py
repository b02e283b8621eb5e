"""Get posters, plots and casts from TMDB with the key of the visitor or of this machine.

Only poster URLs are cached, in memory. A page waits at most MAX_WAIT_SECONDS. Requests run in parallel, and the next
run of the page shows late replies. After failures or a rate limit, no requests are sent for a while. Replies are
untrusted input. The key is neither logged nor sent to another host. Models do not use data of TMDB.
"""

import math
import os
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from recsys import monitoring
from recsys.data.dataset import Catalog
from recsys.serving import tmdb_client
from recsys.serving.search.normalize import normalize, title_names
from recsys.serving.tmdb_client import Client, Key, KeyRejected, RateLimited, RequestFailed

API_URL = "https://api.themoviedb.org/3"
IMAGE_URL = "https://image.tmdb.org/t/p/w342"
MAX_PENDING = 200  # requests without a reply; more films are requested in a later run of the page
MAX_WAIT_SECONDS = 1.0  # for which a page waits for all its posters together
MAX_KEY_CHARS = 1024
MAX_QUERY_CHARS = 200
MAX_STORY_BYTES = 1 << 20  # size of a reply with plot and cast
MAX_PLOT_CHARS = 2_000
MAX_NAME_CHARS = 100
MAX_CAST = 12  # actors
MAX_FAILURES = 5  # successive failures, after which no requests are sent for FAILURE_PAUSE_SECONDS
FAILURE_PAUSE_SECONDS = 60.0  # also the time for which pages do not wait for a slow service
FOREVER = math.inf  # end of the pause of a rejected key
MAX_CACHED_FILMS = 20_000
MAX_PAUSED_KEYS = 1_000  # paused or rejected keys that are stored
POSTER_TTL_SECONDS = 7 * 86_400.0  # lifetime of a cached URL; the terms of TMDB allow 6 months
NO_POSTER_TTL_SECONDS = 86_400.0  # time after which a missing poster is requested again

_TOKEN = re.compile(r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}", re.ASCII)
_API_KEY = re.compile(r"[0-9a-fA-F]{32}")
_IMAGE_PATH = re.compile(r"/[A-Za-z0-9_-]+\.(jpg|png|svg)")


def parse_key(text: str) -> Key | None:
    """Return the key in a text, or None if the text is neither an API key nor a token."""
    text = text.strip().removeprefix("Bearer ").strip()
    is_key = len(text) <= MAX_KEY_CHARS and (_TOKEN.fullmatch(text) or _API_KEY.fullmatch(text))
    return Key(text) if is_key else None


def host_key() -> Key | None:
    """Return the key in $TMDB_TOKEN or $TMDB_API_KEY of this machine, or None."""
    return parse_key(os.environ.get("TMDB_TOKEN", "")) or parse_key(os.environ.get("TMDB_API_KEY", ""))


@dataclass(frozen=True)
class FilmRef:
    """A reference to a film: the values by which it is requested from TMDB."""

    title: str
    year: int | None
    tmdb_id: int | None


def film_refs(catalog: Catalog, items: Sequence[int]) -> dict[int, FilmRef]:
    """Return item → reference for items of a catalogue."""
    tmdb_ids = catalog.movies["tmdb_id"].iloc[list(items)].to_numpy(float, na_value=math.nan).tolist()
    films = [catalog.films[item] for item in items]
    return {
        item: FilmRef(film.title, film.year, None if math.isnan(tmdb_id) else int(tmdb_id))
        for item, film, tmdb_id in zip(items, films, tmdb_ids, strict=True)
    }


@dataclass(frozen=True)
class Story:
    """The plot and cast of a film."""

    plot: str = ""
    cast: tuple[tuple[str, str], ...] = ()  # (name, role or ""), leading actors first


class ServiceStatus(Enum):
    """The status of TMDB for a key."""

    GOOD = "good"
    KEY_REJECTED = "key rejected"
    PAUSED = "paused"  # no requests are sent after failures or a rate limit, or pages do not wait for a slow service


class CachedPoster(NamedTuple):
    """The URL of a poster, or None if TMDB has no poster, and the time at which it must be requested again."""

    url: str | None
    expiry: float  # by the clock of `TmdbService`


class TmdbService:
    """Requests posters and stories for all visitors of a process, and caches poster URLs. Thread-safe."""

    def __init__(
        self,
        api: str = API_URL,
        images: str = IMAGE_URL,
        clock: Callable[[], float] = time.monotonic,
        max_wait: float = MAX_WAIT_SECONDS,
    ) -> None:
        self._client, self._images, self._clock, self.max_wait = Client(api), images, clock, max_wait
        self._lock = threading.Lock()
        self._cache: OrderedDict[FilmRef, CachedPoster] = OrderedDict()
        self._pending: dict[tuple[Key, FilmRef], Future[None]] = {}
        self._paused_keys: OrderedDict[Key, float] = OrderedDict()  # key → end of its pause, FOREVER if rejected
        self._failures = 0  # successive failures
        self._paused_until = -math.inf  # no requests before this time
        self._no_wait_until = -math.inf  # pages do not wait for replies before this time
        monitoring.register_gauge("tmdb_paused", lambda: self._clock() < self._paused_until)

    def poster_urls(self, key: Key | None, films: Mapping[int, FilmRef]) -> dict[int, str]:
        """Return item → poster URL, for the posters that are available within `max_wait` seconds.

        A later call returns the posters of late replies. Without a key, the result is {}. Never raises an exception.
        """
        if key is None:
            return {}
        pending = self._start_requests(key, list(dict.fromkeys(films.values())))
        if self._clock() >= self._no_wait_until and wait(pending, self.max_wait).not_done:
            self._stop_waiting_if_slow()
        with self._lock:
            urls = {item: self._cache[film].url for item, film in films.items() if self._is_cached(film)}
        return {item: url for item, url in urls.items() if url}

    def story(self, key: Key, film: FilmRef) -> Story | None:
        """Request plot and cast of a film. Returns None if there is no valid reply within `max_wait` seconds."""
        stories: list[Story] = []

        async def request() -> None:
            stories.append(await self._get_story(film, key))

        wait([tmdb_client.start_coroutine(self._send_unless_paused(key, request))], self.max_wait)
        return stories[0] if stories else None

    def service_status(self, key: Key) -> ServiceStatus:
        """Return the status according to previous requests. Sends no request."""
        key_paused_until = self._paused_keys.get(key, -math.inf)
        if key_paused_until == FOREVER:
            return ServiceStatus.KEY_REJECTED
        is_paused = self._clock() < max(key_paused_until, self._paused_until, self._no_wait_until)
        return ServiceStatus.PAUSED if is_paused else ServiceStatus.GOOD

    def check_key(self, key: Key) -> ServiceStatus:
        """Send a request to test a key, and return the status after at most `max_wait` seconds."""
        with self._lock:
            self._paused_keys.pop(key, None)  # a rejected key can be valid by now
        test = self._send_unless_paused(key, lambda: self._client.get("/authentication", {}, key))
        if wait([tmdb_client.start_coroutine(test)], self.max_wait).not_done:
            self._stop_waiting_if_slow()
        return self.service_status(key)

    def _stop_waiting_if_slow(self) -> None:
        """If TMDB is slow, do not wait for replies in the next FAILURE_PAUSE_SECONDS.

        TMDB is slow if a sent request has had no reply for half of `max_wait`. Time in the queue does not count.
        """
        if self._client.oldest_request_seconds() >= self.max_wait / 2:
            self._no_wait_until = self._clock() + FAILURE_PAUSE_SECONDS

    def _is_cached(self, film: FilmRef) -> bool:
        """Return whether the poster or its absence is cached and not expired. The caller holds the lock."""
        return film in self._cache and self._clock() < self._cache[film].expiry

    def _is_paused(self, key: Key) -> bool:
        """Return whether no request may be sent with the key now. The caller holds the lock."""
        return self._clock() < max(self._paused_until, self._paused_keys.get(key, -math.inf))

    def _start_requests(self, key: Key, films: Sequence[FilmRef]) -> list[Future[None]]:
        """Request the films that are not cached or pending, and return the pending requests of `films`.

        If `_is_paused`, nothing is requested, and [] is returned.
        """
        with self._lock:
            if self._is_paused(key):
                return []
            for film in films:
                needs_request = not self._is_cached(film) and (key, film) not in self._pending
                if needs_request and len(self._pending) < MAX_PENDING:
                    self._pending[key, film] = tmdb_client.start_coroutine(self._find_and_cache_poster(key, film))
            return [self._pending[key, film] for film in films if (key, film) in self._pending]

    async def _find_and_cache_poster(self, key: Key, film: FilmRef) -> None:
        """Find a poster, and cache its URL or its absence."""

        async def find() -> None:
            if film.tmdb_id is None:
                reply = await self._search(film, key)
            else:
                reply = await self._client.get(f"/movie/{film.tmdb_id}", {}, key)
            path = poster_path(reply or {})
            with self._lock:
                expiry = self._clock() + (POSTER_TTL_SECONDS if path else NO_POSTER_TTL_SECONDS)
                poster = CachedPoster(f"{self._images}{path}" if path else None, expiry)
                _put_last(self._cache, film, poster, MAX_CACHED_FILMS)

        try:
            await self._send_unless_paused(key, find)
        finally:
            with self._lock:
                self._pending.pop((key, film), None)

    async def _send_unless_paused(self, key: Key, request: Callable[[], Awaitable[object]]) -> None:
        """Wait for a free slot, send a request unless `_is_paused`, and record the outcome."""
        async with self._client.slots:
            with self._lock:
                if self._is_paused(key):
                    return
            try:
                await request()
            except KeyRejected:
                outcome = "key rejected"
                self._pause_key(key, FOREVER)
            except RateLimited as limit:
                outcome = "rate limited"
                self._pause_key(key, self._clock() + limit.seconds)
            except RequestFailed:
                outcome = "failed"
                with self._lock:
                    self._failures += 1
                    if self._failures >= MAX_FAILURES:
                        self._paused_until, self._failures = self._clock() + FAILURE_PAUSE_SECONDS, 0
            else:
                outcome = "answered"
                with self._lock:
                    self._failures = 0
            monitoring.count("tmdb_requests", outcome)

    def _pause_key(self, key: Key, until: float) -> None:
        """Send no requests with a key until a time."""
        with self._lock:
            _put_last(self._paused_keys, key, until, MAX_PAUSED_KEYS)

    async def _search(self, film: FilmRef, key: Key) -> dict[str, Any] | None:
        """Return the hit of a search for a film, or None, see `unique_hit`."""
        params = {"query": title_names(film.title)[0][:MAX_QUERY_CHARS]}
        if film.year:
            params["year"] = str(film.year)
        return unique_hit(await self._client.get("/search/movie", params, key), film)

    async def _get_story(self, film: FilmRef, key: Key) -> Story:
        """Return plot and cast of a film, empty if TMDB does not have the film."""
        tmdb_id = film.tmdb_id
        if tmdb_id is None:
            tmdb_id = (await self._search(film, key) or {}).get("id")
        if not isinstance(tmdb_id, int):
            return Story()
        params = {"append_to_response": "credits"}
        return parse_story(await self._client.get(f"/movie/{tmdb_id}", params, key, MAX_STORY_BYTES))


def _put_last(entries: OrderedDict[Any, Any], key: Any, value: Any, max_entries: int) -> None:
    """Set an entry, move it to the end, and remove the first entry if there are more than `max_entries`."""
    entries[key] = value
    entries.move_to_end(key)
    if len(entries) > max_entries:
        entries.popitem(last=False)


def poster_path(reply: Mapping[str, Any]) -> str | None:
    """Return the poster path in a reply about a film, or None if it is missing or invalid."""
    path = reply.get("poster_path")
    return path if isinstance(path, str) and _IMAGE_PATH.fullmatch(path) else None


def parse_story(reply: Mapping[str, Any]) -> Story:
    """Return the plot and cast in a reply about a film. Invalid parts are dropped."""
    credits = reply.get("credits")
    people = credits.get("cast") if isinstance(credits, dict) else None
    members = [member for member in people if isinstance(member, dict)] if isinstance(people, list) else []
    cast = [
        (_one_line(member.get("name"), MAX_NAME_CHARS), _one_line(member.get("character"), MAX_NAME_CHARS))
        for member in members
    ]
    plot = _one_line(reply.get("overview"), MAX_PLOT_CHARS)
    return Story(plot, tuple((name, role) for name, role in cast if name)[:MAX_CAST])


def _one_line(text: object, max_chars: int) -> str:
    """Return a text on one line, cut to `max_chars`, or "" if the value is not a text."""
    line = " ".join(text.split()) if isinstance(text, str) else ""
    return line if len(line) <= max_chars else f"{line[:max_chars]}…"


def unique_hit(reply: Mapping[str, Any], film: FilmRef) -> dict[str, Any] | None:
    """Return the hit of a search that has the title and year of a film. Returns None unless there is exactly one.

    If no hit has the year, the year may differ by one, because sources differ in release years. If the reply has
    several pages, the result is None.
    """
    results = reply.get("results")
    if not isinstance(results, list) or reply.get("total_pages", 1) not in (0, 1):
        return None
    names = {normalize(name) for name in title_names(film.title)}
    hits = [hit for hit in results if isinstance(hit, dict) and names & _hit_names(hit)]
    if film.year is None:
        return hits[0] if len(hits) == 1 else None
    dated_hits = [(hit, year) for hit in hits if (year := _hit_year(hit)) is not None]
    for max_distance in (0, 1):
        near_hits = [hit for hit, year in dated_hits if abs(year - film.year) <= max_distance]
        if near_hits:
            return near_hits[0] if len(near_hits) == 1 else None
    return None


def _hit_names(hit: Mapping[str, Any]) -> set[str]:
    """Return the normalized title and original title of a hit."""
    titles = (hit.get("title"), hit.get("original_title"))
    return {normalize(title) for title in titles if isinstance(title, str) and title}


def _hit_year(hit: Mapping[str, Any]) -> int | None:
    """Return the release year of a hit, None if it is missing or invalid."""
    date = hit.get("release_date")
    match = re.match(r"(\d{4})-", date) if isinstance(date, str) else None
    return int(match[1]) if match else None
