"""Posters, plots and casts from TMDB, requested with a key of the person's own; of these only the addresses of posters
are kept, in memory.

A page never waits for more than a moment: requests run in parallel, late answers are used by the next run of the page,
and a service that is slow, fails or limits the rate gets no requests for a while. Answers are not trusted, and the key
neither reaches a log nor another host. What comes from here is for people to look at; no model sees it.
"""

import json
import logging
import math
import os
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import requests
from urllib3.exceptions import HTTPError

from recsys.data.schema import Catalog
from recsys.serving.films.search import names_of, normalise

API = "https://api.themoviedb.org/3"
IMAGES = "https://image.tmdb.org/t/p/w342"
PARALLEL = 8  # requests at a time; TMDB allows about 40 a second
QUEUE = 200  # requests that may wait for their turn; further films are requested in a later run
PATIENCE = 2.0  # seconds that a page waits, at most, for all its posters
TIMEOUT = 3.0  # seconds for one request, however the service answers
LONGEST = 1 << 18  # bytes of an answer that are read
LONGEST_STORY = 1 << 20  # bytes of one about everybody who took part in a film
PLOT, NAME, CAST = 2_000, 100, 12  # letters of a plot and of a name, and people, that are shown
FAILURES = 3  # in a row, after which no requests are sent for a while
REST = 60.0  # seconds without requests then; and seconds for which a service that was slow is not waited for
LONGEST_REST = 300.0  # seconds without requests that the service may demand
KEPT = 20_000  # films whose address is kept
REFUSED = 1_000  # refused keys that are kept
FOUND_FOR, NONE_FOR = (
    7 * 86_400.0,
    86_400.0,
)  # seconds for which an address, or the lack of one, is kept; the terms allow 6 months

_TOKEN = re.compile(r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}", re.ASCII)
_API_KEY = re.compile(r"[0-9a-fA-F]{32}")
_PATH = re.compile(r"/[A-Za-z0-9_-]+\.(jpg|png|svg)")
_IN_ADDRESS = re.compile(r"api_key=[^&\s\"']+")


class _WithoutKey(logging.Filter):
    """Takes keys out of the addresses that urllib3 logs at its lowest level."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = _IN_ADDRESS.sub("api_key=…", record.getMessage()), ()
        return True


logging.getLogger("urllib3.connectionpool").addFilter(_WithoutKey())


@dataclass(frozen=True)
class Key:
    """An API key (32 hexadecimal digits) or a read access token (it begins with eyJ); printed without its text."""

    text: str = field(repr=False)

    @property
    def headers(self) -> dict[str, str]:
        """HTTP headers that carry a token; empty for an API key."""
        return {"Authorization": f"Bearer {self.text}"} if self.text.startswith("eyJ") else {}

    @property
    def params(self) -> dict[str, str]:
        """URL parameters that carry an API key; empty for a token."""
        return {} if self.text.startswith("eyJ") else {"api_key": self.text}


def key(text: str) -> Key | None:
    """What somebody typed as a key, or None when it is neither an API key nor a token."""
    text = text.strip().removeprefix("Bearer ").strip()
    known = len(text) <= 1024 and (_TOKEN.fullmatch(text) or _API_KEY.fullmatch(text))
    return Key(text) if known else None


def key_of_host() -> Key | None:
    """The key in $TMDB_TOKEN or $TMDB_API_KEY of this machine."""
    found = (key(os.environ.get(name, "")) for name in ("TMDB_TOKEN", "TMDB_API_KEY"))
    return next((one for one in found if one), None)


@dataclass(frozen=True)
class Wanted:
    """A film as TMDB can find it."""

    title: str
    year: int | None
    tmdb_id: int | None


def wanted(catalog: Catalog, items: Sequence[int]) -> dict[int, Wanted]:
    """Items of a catalogue by what they are looked up with."""
    ids = catalog.movies["tmdb_id"].iloc[list(items)].to_numpy(float, na_value=math.nan).tolist()
    films = [catalog.films[item] for item in items]
    return {
        item: Wanted(film.title, film.year, None if math.isnan(number) else int(number))
        for item, film, number in zip(items, films, ids, strict=True)
    }


@dataclass(frozen=True)
class Story:
    """What a film is about, and who is in it as whom."""

    plot: str = ""
    cast: tuple[tuple[str, str], ...] = ()  # (name, role), the leading one first; "" for a role without a name


class Health(Enum):
    """How the service is doing."""

    GOOD = "good"
    REFUSED = "refused"  # it does not accept the key
    RESTING = "resting"  # it was slow, failed or limited the rate, and gets no requests for a while


class RequestFailed(Exception):
    """A request without an answer; carries no text, so that no key can be in it."""


class Refused(RequestFailed):
    """The service does not accept the key."""


class RateLimited(RequestFailed):
    """The service demands a pause of some seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


class Posters:
    """Poster addresses for everybody whom a process serves; safe to use from many threads."""

    def __init__(
        self,
        api: str = API,
        images: str = IMAGES,
        clock: Callable[[], float] = time.monotonic,
        patience: float = PATIENCE,
    ) -> None:
        self._api, self._images, self._clock, self.patience = api, images, clock, patience
        self._pool = ThreadPoolExecutor(PARALLEL, thread_name_prefix="tmdb")
        self._lock = threading.Lock()
        self._kept: OrderedDict[Wanted, tuple[str | None, float]] = OrderedDict()  # address, and until when it holds
        self._pending: dict[Wanted, Future[None]] = {}  # requested, not answered yet
        self._refused: OrderedDict[Key, None] = OrderedDict()
        self._failures, self._silent_until, self._hasty_until = 0, -math.inf, -math.inf

    def addresses(self, key: Key | None, films: Mapping[int, Wanted]) -> dict[int, str]:
        """Item → address of its poster, for those that have one and are known within `patience` seconds.

        What is answered later is there the next time. Never raises; without a key nothing is requested.
        """
        if key is None:
            return {}
        started = self._request(key, list(dict.fromkeys(films.values())))
        if started and self._clock() >= self._hasty_until and wait(started, self.patience).not_done:
            self._hasty_until = self._clock() + REST  # too slow to be waited for
        with self._lock:
            known = {item: self._known(film) for item, film in films.items()}
        return {item: address for item, address in known.items() if address}

    def story(self, key: Key, film: Wanted) -> Story | None:
        """Plot and cast of a film, asked for each time; None where they are not there within `patience` seconds."""
        told: list[Story] = []
        request = self._pool.submit(self._guarded, key, lambda: told.append(self._tell(film, key)))
        wait([request], self.patience)
        return told[0] if told else None

    def health(self, key: Key) -> Health:
        """How the service is doing for this key, by the requests so far."""
        if key in self._refused:
            return Health.REFUSED
        now = self._clock()
        return Health.RESTING if now < max(self._silent_until, self._hasty_until) else Health.GOOD

    def check(self, key: Key) -> Health:
        """Find out whether the service accepts the key; takes no longer than `patience` seconds."""
        with self._lock:
            self._refused.pop(key, None)  # it may be valid by now
        request = self._pool.submit(self._guarded, key, lambda: self._get("/authentication", {}, key))
        if wait([request], self.patience).not_done:
            self._hasty_until = self._clock() + REST  # nor will its posters be waited for
        return self.health(key)

    def _known(self, film: Wanted) -> str | None:
        address, until = self._kept.get(film, (None, -math.inf))
        return address if self._clock() < until else None

    def _request(self, key: Key, films: Sequence[Wanted]) -> list[Future[None]]:
        """Request the films of which nothing is known, unless the service rests."""
        with self._lock:
            if key in self._refused or self._clock() < self._silent_until:
                return []
            for film in films:
                stale = self._kept.get(film, (None, -math.inf))[1] <= self._clock()
                if stale and film not in self._pending and len(self._pending) < QUEUE:
                    self._pending[film] = self._pool.submit(self._answer, key, film)
            return [self._pending[film] for film in films if film in self._pending]

    def _answer(self, key: Key, film: Wanted) -> None:
        """Find one poster and keep its address, or that there is none."""
        try:
            self._guarded(key, lambda: self._keep(film, self._find(film, key)))
        finally:
            with self._lock:
                self._pending.pop(film, None)

    def _guarded(self, key: Key, request: Callable[[], object]) -> None:
        """Send a request unless the service rests by now, and note how it went."""
        with self._lock:
            if key in self._refused or self._clock() < self._silent_until:
                return
        try:
            request()
        except Refused:
            self._refuse(key)
        except RateLimited as pause:
            self._rest(pause.seconds)
        except RequestFailed:
            with self._lock:
                self._failures += 1
            if self._failures >= FAILURES:
                self._rest(REST)
        else:
            with self._lock:
                self._failures = 0

    def _refuse(self, key: Key) -> None:
        """Remember that a key is not accepted; of many, the latest."""
        with self._lock:
            self._refused[key] = None
            while len(self._refused) > REFUSED:
                self._refused.popitem(last=False)

    def _rest(self, seconds: float) -> None:
        """Send no requests for a while."""
        with self._lock:
            self._silent_until = max(self._silent_until, self._clock() + seconds)
            self._failures = 0

    def _keep(self, film: Wanted, path: str | None) -> None:
        """Remember an answer; the oldest one makes room."""
        with self._lock:
            until = self._clock() + (FOUND_FOR if path else NONE_FOR)
            self._kept[film] = (f"{self._images}{path}" if path else None, until)
            self._kept.move_to_end(film)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)

    def _find(self, film: Wanted, key: Key) -> str | None:
        """The path of a film's poster: by id, else by title and year if exactly one film answers to both."""
        if film.tmdb_id is not None:
            return poster_path(self._get(f"/movie/{film.tmdb_id}", {}, key))
        found = self._search(film, key)
        return poster_path(found) if found else None

    def _search(self, film: Wanted, key: Key) -> dict[str, Any] | None:
        """The one film that answers to title and year."""
        params = {"query": names_of(film.title)[0][:200]} | ({"year": str(film.year)} if film.year else {})
        return only(self._get("/search/movie", params, key), film)

    def _tell(self, film: Wanted, key: Key) -> Story:
        """Plot and cast; nothing of a film that TMDB does not know."""
        number = film.tmdb_id
        if number is None:
            number = (self._search(film, key) or {}).get("id")
        if not isinstance(number, int):
            return Story()
        return story_of(self._get(f"/movie/{number}", {"append_to_response": "credits"}, key, LONGEST_STORY))

    def _get(self, path: str, params: dict[str, str], key: Key, longest: int | None = None) -> dict[str, Any]:
        """An answer, {} where TMDB has no such thing; a request that fails is sent once more. Raises RequestFailed."""
        try:
            return self._get_once(path, params, key, longest or LONGEST)
        except (Refused, RateLimited):
            raise
        except RequestFailed:
            return self._get_once(path, params, key, longest or LONGEST)

    def _get_once(self, path: str, params: dict[str, str], key: Key, longest: int) -> dict[str, Any]:
        until = time.monotonic() + TIMEOUT
        try:
            with requests.get(
                f"{self._api}{path}",
                params=params | key.params,
                headers={"Accept": "application/json"},
                auth=_Identify(key),
                timeout=(TIMEOUT / 2, TIMEOUT / 2),
                allow_redirects=False,
                stream=True,
            ) as reply:
                if reply.status_code == 404:
                    return {}
                _check(reply)
                found = json.loads(_read(reply, until, longest))
        except (requests.RequestException, HTTPError, OSError, ValueError, RecursionError):
            raise RequestFailed from None
        if not isinstance(found, dict):
            raise RequestFailed
        return found


class _Identify(requests.auth.AuthBase):
    """Puts a token into the headers; as an `auth`, so that a .netrc file of this machine cannot take its place."""

    def __init__(self, key: Key) -> None:
        self._key = key

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers.update(self._key.headers)
        return request


def _check(reply: requests.Response) -> None:
    """Raise RequestFailed for any status but 200."""
    if reply.status_code in (401, 403):
        raise Refused
    if reply.status_code == 429:
        pause = reply.headers.get("Retry-After", "")
        seconds = float(pause) if pause.isascii() and pause.isdigit() and len(pause) < 6 else REST
        raise RateLimited(min(max(seconds, 1.0), LONGEST_REST))
    if reply.status_code != 200:
        raise RequestFailed


def _read(reply: requests.Response, until: float, longest: int) -> bytes:
    """The body; raises RequestFailed for one that is too long or takes too long."""
    body = b""
    while piece := reply.raw.read1(1 << 14, decode_content=True):  # what has arrived; iter_content would wait for more
        body += piece
        if len(body) > longest or time.monotonic() > until:
            raise RequestFailed
    return body


def poster_path(film: Mapping[str, Any]) -> str | None:
    """The path in TMDB's answer about a film, if it looks like one."""
    path = film.get("poster_path")
    return path if isinstance(path, str) and _PATH.fullmatch(path) else None


def story_of(film: Mapping[str, Any]) -> Story:
    """The plot and the cast in TMDB's answer about a film, as far as they look like such."""
    credits = film.get("credits")
    people = credits.get("cast") if isinstance(credits, dict) else None
    listed = [one for one in people if isinstance(one, dict)] if isinstance(people, list) else []
    cast = [(_line(one.get("name"), NAME), _line(one.get("character"), NAME)) for one in listed]
    return Story(_line(film.get("overview"), PLOT), tuple((name, role) for name, role in cast if name)[:CAST])


def _line(text: object, longest: int) -> str:
    """A text on one line; "" for what is none."""
    line = " ".join(text.split()) if isinstance(text, str) else ""
    return line if len(line) <= longest else f"{line[:longest]}…"


def only(answer: Mapping[str, Any], film: Wanted) -> dict[str, Any] | None:
    """The one hit of a search that has the film's title and year, or a year beside it; None when several have, or none.

    The year of a release differs between sources by one at times. Answers of several pages are not unique.
    """
    results = answer.get("results")
    if not isinstance(results, list) or answer.get("total_pages", 1) not in (0, 1):
        return None
    names = {normalise(name) for name in names_of(film.title)}
    called = [hit for hit in results if isinstance(hit, dict) and names & _names(hit)]
    if film.year is None:
        return called[0] if len(called) == 1 else None
    for distance in (0, 1):
        near = [hit for hit in called if (year := _year(hit)) is not None and abs(year - film.year) <= distance]
        if near:
            return near[0] if len(near) == 1 else None
    return None


def _names(hit: Mapping[str, Any]) -> set[str]:
    titles = (hit.get("title"), hit.get("original_title"))
    return {normalise(title) for title in titles if isinstance(title, str) and title}


def _year(hit: Mapping[str, Any]) -> int | None:
    date = hit.get("release_date")
    match = re.match(r"(\d{4})-", date) if isinstance(date, str) else None
    return int(match[1]) if match else None
