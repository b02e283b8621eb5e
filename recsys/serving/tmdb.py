"""Posters, plots and casts from TMDB, requested with a key of the person's own; of these only the addresses of posters
are kept, in memory.

A page never waits for more than a moment: requests run in parallel, late answers are used by the next run of the page,
and a service that is slow, fails or limits the rate gets no requests for a while. Answers are not trusted, and the key
neither reaches a log nor another host. What comes from here is for people to look at; no model sees it.
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
from typing import Any

from recsys import monitoring
from recsys.data.dataset import Catalog
from recsys.serving import tmdb_client
from recsys.serving.search.normalize import normalize, title_names
from recsys.serving.tmdb_client import Client, Key, KeyRejected, RateLimited, RequestFailed

API_URL = "https://api.themoviedb.org/3"
IMAGE_URL = "https://image.tmdb.org/t/p/w342"
MAX_PENDING = 200  # questions that may wait for their turn; further films are asked about in a later run
MAX_WAIT_SECONDS = 1.0  # seconds that a page waits, at most, for all its posters
MAX_STORY_BYTES = 1 << 20  # bytes of an answer about everybody who took part in a film
MAX_PLOT_CHARS, MAX_NAME_CHARS, MAX_CAST = 2_000, 100, 12  # letters of a plot and of a name, and people, that are shown
MAX_FAILURES = 5  # in a row, after which nothing is asked for a while
REST_SECONDS = 60.0  # seconds without questions then; and seconds for which a service that was slow is not waited for
MAX_CACHED_FILMS = 20_000  # films whose address is kept
MAX_SILENCED_KEYS = 1_000  # keys that are kept because they are not to be used, for a while or at all
POSTER_TTL_SECONDS, NO_POSTER_TTL_SECONDS = (
    7 * 86_400.0,
    86_400.0,
)  # seconds for which an address, or the lack of one, is kept; the terms allow 6 months

_TOKEN = re.compile(r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}", re.ASCII)
_API_KEY = re.compile(r"[0-9a-fA-F]{32}")
_PATH = re.compile(r"/[A-Za-z0-9_-]+\.(jpg|png|svg)")


def parse_key(text: str) -> Key | None:
    """What somebody typed as a key, or None when it is neither an API key nor a token."""
    text = text.strip().removeprefix("Bearer ").strip()
    known = len(text) <= 1024 and (_TOKEN.fullmatch(text) or _API_KEY.fullmatch(text))
    return Key(text) if known else None


def host_key() -> Key | None:
    """The key in $TMDB_TOKEN or $TMDB_API_KEY of this machine."""
    found = (parse_key(os.environ.get(name, "")) for name in ("TMDB_TOKEN", "TMDB_API_KEY"))
    return next((one for one in found if one), None)


@dataclass(frozen=True)
class FilmRef:
    """A film as TMDB can find it."""

    title: str
    year: int | None
    tmdb_id: int | None


def film_refs(catalog: Catalog, items: Sequence[int]) -> dict[int, FilmRef]:
    """Items of a catalogue by what they are looked up with."""
    ids = catalog.movies["tmdb_id"].iloc[list(items)].to_numpy(float, na_value=math.nan).tolist()
    films = [catalog.films[item] for item in items]
    return {
        item: FilmRef(film.title, film.year, None if math.isnan(number) else int(number))
        for item, film, number in zip(items, films, ids, strict=True)
    }


@dataclass(frozen=True)
class Story:
    """What a film is about, and who is in it as whom."""

    plot: str = ""
    cast: tuple[tuple[str, str], ...] = ()  # (name, role), the leading one first; "" for a role without a name


class ServiceStatus(Enum):
    """How the service is doing."""

    GOOD = "good"
    REFUSED = "refused"  # it does not accept the key
    RESTING = "resting"  # it was slow, failed or limited the rate, and gets no requests for a while


class Posters:
    """Poster addresses for everybody whom a process serves; safe to use from many threads."""

    def __init__(
        self,
        api: str = API_URL,
        images: str = IMAGE_URL,
        clock: Callable[[], float] = time.monotonic,
        patience: float = MAX_WAIT_SECONDS,
    ) -> None:
        self._client, self._images, self._clock, self.patience = Client(api), images, clock, patience
        self._lock = threading.Lock()
        self._kept: OrderedDict[FilmRef, tuple[str | None, float]] = OrderedDict()  # address, and until when it holds
        self._pending: dict[tuple[Key, FilmRef], Future[None]] = {}  # asked, not answered yet
        self._silenced: OrderedDict[Key, float] = OrderedDict()  # until when a key is not used; inf: it was refused
        self._failures, self._silent_until, self._hasty_until = 0, -math.inf, -math.inf
        monitoring.register_gauge("tmdb_resting", lambda: self._clock() < self._silent_until)

    def addresses(self, key: Key | None, films: Mapping[int, FilmRef]) -> dict[int, str]:
        """Item → address of its poster, for those that have one and are known within `patience` seconds.

        What is answered later is there the next time. Never raises; without a key nothing is requested.
        """
        if key is None:
            return {}
        started = self._request(key, list(dict.fromkeys(films.values())))
        if started and self._clock() >= self._hasty_until and wait(started, self.patience).not_done:
            self._note_if_slow()
        with self._lock:
            known = {item: self._known(film) for item, film in films.items()}
        return {item: address for item, address in known.items() if address}

    def story(self, key: Key, film: FilmRef) -> Story | None:
        """Plot and cast of a film, asked for each time; None where they are not there within `patience` seconds."""
        told: list[Story] = []

        async def tell() -> None:
            told.append(await self._tell(film, key))

        wait([tmdb_client.start_request(self._guarded(key, tell))], self.patience)
        return told[0] if told else None

    def health(self, key: Key) -> ServiceStatus:
        """How the service is doing for this key, by the requests so far."""
        until = self._silenced.get(key, -math.inf)
        if until == math.inf:
            return ServiceStatus.REFUSED
        return (
            ServiceStatus.RESTING
            if self._clock() < max(until, self._silent_until, self._hasty_until)
            else ServiceStatus.GOOD
        )

    def check(self, key: Key) -> ServiceStatus:
        """Find out whether the service accepts the key; takes no longer than `patience` seconds."""
        with self._lock:
            self._silenced.pop(key, None)  # it may be valid by now
        request = tmdb_client.start_request(self._guarded(key, lambda: self._client.get("/authentication", {}, key)))
        if wait([request], self.patience).not_done:
            self._note_if_slow()
        return self.health(key)

    def _note_if_slow(self) -> None:
        """Wait for no posters for a while if an answer takes long; waiting for a turn does not count."""
        if self._client.longest_wait() >= self.patience / 2:
            self._hasty_until = self._clock() + REST_SECONDS

    def _known(self, film: FilmRef) -> str | None:
        address, until = self._kept.get(film, (None, -math.inf))
        return address if self._clock() < until else None

    def _is_silent(self, key: Key) -> bool:
        """Whether nothing is asked with this key at the moment. The caller holds the lock."""
        return self._clock() < max(self._silent_until, self._silenced.get(key, -math.inf))

    def _request(self, key: Key, films: Sequence[FilmRef]) -> list[Future[None]]:
        """Request the films of which nothing is known, unless the service rests."""
        with self._lock:
            if self._is_silent(key):
                return []
            for film in films:
                stale = self._kept.get(film, (None, -math.inf))[1] <= self._clock()
                if stale and (key, film) not in self._pending and len(self._pending) < MAX_PENDING:
                    self._pending[key, film] = tmdb_client.start_request(self._answer(key, film))
            return [self._pending[key, film] for film in films if (key, film) in self._pending]

    async def _answer(self, key: Key, film: FilmRef) -> None:
        """Find one poster and keep its address, or that there is none."""

        async def find() -> None:
            self._keep(film, await self._find(film, key))

        try:
            await self._guarded(key, find)
        finally:
            with self._lock:
                self._pending.pop((key, film), None)

    async def _guarded(self, key: Key, question: Callable[[], Awaitable[object]]) -> None:
        """Put a question unless the service rests when its turn has come, and note how it went."""
        async with self._client.places:
            with self._lock:
                if self._is_silent(key):
                    return
            try:
                await question()
            except KeyRejected:
                outcome = "refused"
                self._silence(key, math.inf)
            except RateLimited as pause:
                outcome = "rate limited"
                self._silence(key, self._clock() + pause.seconds)
            except RequestFailed:
                outcome = "failed"
                self._note_failure()
            else:
                outcome = "answered"
                with self._lock:
                    self._failures = 0
            monitoring.count("tmdb_questions", outcome)

    def _silence(self, key: Key, until: float) -> None:
        """Use a key no more until then, and others as before; of many such keys, the latest are remembered."""
        with self._lock:
            self._silenced[key] = until
            self._silenced.move_to_end(key)
            while len(self._silenced) > MAX_SILENCED_KEYS:
                self._silenced.popitem(last=False)

    def _note_failure(self) -> None:
        """Ask nothing for a while when it was one of many in a row."""
        with self._lock:
            self._failures += 1
            if self._failures >= MAX_FAILURES:
                self._silent_until, self._failures = self._clock() + REST_SECONDS, 0

    def _keep(self, film: FilmRef, path: str | None) -> None:
        """Remember an answer; the oldest one makes room."""
        with self._lock:
            until = self._clock() + (POSTER_TTL_SECONDS if path else NO_POSTER_TTL_SECONDS)
            self._kept[film] = (f"{self._images}{path}" if path else None, until)
            self._kept.move_to_end(film)
            while len(self._kept) > MAX_CACHED_FILMS:
                self._kept.popitem(last=False)

    async def _find(self, film: FilmRef, key: Key) -> str | None:
        """The path of a film's poster: by id, else by title and year if exactly one film answers to both."""
        if film.tmdb_id is not None:
            return poster_path(await self._client.get(f"/movie/{film.tmdb_id}", {}, key))
        found = await self._search(film, key)
        return poster_path(found) if found else None

    async def _search(self, film: FilmRef, key: Key) -> dict[str, Any] | None:
        """The one film that answers to title and year."""
        params = {"query": title_names(film.title)[0][:200]} | ({"year": str(film.year)} if film.year else {})
        return unique_hit(await self._client.get("/search/movie", params, key), film)

    async def _tell(self, film: FilmRef, key: Key) -> Story:
        """Plot and cast; nothing of a film that TMDB does not know."""
        number = film.tmdb_id
        if number is None:
            number = (await self._search(film, key) or {}).get("id")
        if not isinstance(number, int):
            return Story()
        told = await self._client.get(f"/movie/{number}", {"append_to_response": "credits"}, key, MAX_STORY_BYTES)
        return parse_story(told)


def poster_path(film: Mapping[str, Any]) -> str | None:
    """The path in TMDB's answer about a film, if it looks like one."""
    path = film.get("poster_path")
    return path if isinstance(path, str) and _PATH.fullmatch(path) else None


def parse_story(film: Mapping[str, Any]) -> Story:
    """The plot and the cast in TMDB's answer about a film, as far as they look like such."""
    credits = film.get("credits")
    people = credits.get("cast") if isinstance(credits, dict) else None
    listed = [one for one in people if isinstance(one, dict)] if isinstance(people, list) else []
    cast = [
        (_one_line(one.get("name"), MAX_NAME_CHARS), _one_line(one.get("character"), MAX_NAME_CHARS)) for one in listed
    ]
    return Story(
        _one_line(film.get("overview"), MAX_PLOT_CHARS), tuple((name, role) for name, role in cast if name)[:MAX_CAST]
    )


def _one_line(text: object, longest: int) -> str:
    """A text on one line; "" for what is none."""
    line = " ".join(text.split()) if isinstance(text, str) else ""
    return line if len(line) <= longest else f"{line[:longest]}…"


def unique_hit(answer: Mapping[str, Any], film: FilmRef) -> dict[str, Any] | None:
    """The one hit of a search that has the film's title and year, or a year beside it; None when several have, or none.

    The year of a release differs between sources by one at times. Answers of several pages are not unique.
    """
    results = answer.get("results")
    if not isinstance(results, list) or answer.get("total_pages", 1) not in (0, 1):
        return None
    names = {normalize(name) for name in title_names(film.title)}
    called = [hit for hit in results if isinstance(hit, dict) and names & _hit_names(hit)]
    if film.year is None:
        return called[0] if len(called) == 1 else None
    for distance in (0, 1):
        near = [hit for hit in called if (year := _hit_year(hit)) is not None and abs(year - film.year) <= distance]
        if near:
            return near[0] if len(near) == 1 else None
    return None


def _hit_names(hit: Mapping[str, Any]) -> set[str]:
    titles = (hit.get("title"), hit.get("original_title"))
    return {normalize(title) for title in titles if isinstance(title, str) and title}


def _hit_year(hit: Mapping[str, Any]) -> int | None:
    date = hit.get("release_date")
    match = re.match(r"(\d{4})-", date) if isinstance(date, str) else None
    return int(match[1]) if match else None
