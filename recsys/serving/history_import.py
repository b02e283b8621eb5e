"""Make a watch list from history files: group the entries of each film, match films, and order them by date."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any

import pandas as pd

from recsys.data.dataset import Catalog, Dataset, Film
from recsys.data.history_import.entries import Entry, Imported, Skipped
from recsys.data.history_import.read import read
from recsys.data.history_import.rows import sort_time
from recsys.errors import N_
from recsys.serving.film_matching import CONFIDENT, Match, Matcher, MatchMethod
from recsys.serving.recommend import Ratings

CHOSEN = N_("chosen in the review")
NONE = N_("none of the films that were offered")
METHOD_COLUMN = "found"
REASON_COLUMN = "reason for leaving it out"
TRANSLATED_COLUMNS = METHOD_COLUMN, REASON_COLUMN  # their cells have translations, other cells are names
SAME_VIEWING = timedelta(days=1)  # two services can date the same viewing a day apart


@dataclass(frozen=True)
class ImportedFilm:
    """A film of history files, with all its entries."""

    entries: tuple[Entry, ...]

    @cached_property
    def name(self) -> str:
        """Title and year."""
        return self.entries[0].name

    @cached_property
    def lookup_entry(self) -> Entry:
        """The entry that is matched. It has the original title, if any entry has one, and the earliest date."""
        entry = next((entry for entry in self.entries if entry.original), self.entries[0])
        return replace(entry, watched=min((entry.watched for entry in self.entries if entry.watched), default=None))

    @property
    def key(self) -> str:
        """File and line of the first entry. It identifies the film in the stored choices of the user."""
        return f"{self.entries[0].file}:{self.entries[0].line}"


@dataclass(frozen=True)
class WatchedFilm:
    """A watched film of the data set."""

    film: int  # film number
    last: datetime | None  # last viewing or, if unknown, the earliest date of an entry; None: no dates
    dated: bool  # whether `last` is the date of a viewing
    times: int  # number of viewings
    stars: float | None  # None: not rated


def group_entries(entries: Iterable[Entry]) -> list[ImportedFilm]:
    """Group entries with equal title, year and ids, in the order of their first entries."""
    groups: dict[tuple[Any, ...], list[Entry]] = defaultdict(list)
    for entry in entries:
        groups[entry.title.casefold(), entry.year, entry.imdb_id, entry.tmdb_id, entry.movie_id].append(entry)
    return [ImportedFilm(tuple(part)) for group in groups.values() for part in _split_by_page(group)]


def _split_by_page(entries: list[Entry]) -> list[list[Entry]]:
    """Separate films with equal title and year by their web pages. Entries without a page go to the first film."""
    pages = list(dict.fromkeys(entry.page for entry in entries if entry.page))
    if len(pages) < 2:
        return [entries]
    return [[entry for entry in entries if (entry.page or pages[0]) == page] for page in pages]


@dataclass(frozen=True)
class Review:
    """All films of history files, and their matches in a data set."""

    history: tuple[ImportedFilm, ...]
    matches: tuple[Match, ...]  # one for each film of `history`
    skipped: tuple[Skipped, ...]  # lines of the files that were not read

    @property
    def unsure(self) -> list[int]:
        """The positions in `history` of films for which the user has to choose a match."""
        return [position for position, match in enumerate(self.matches) if match.films and not match.is_confident]

    def chosen(self, answers: Mapping[str, int | None]) -> dict[int, int]:
        """Return position in `history` → film number, for confident matches and for choices of the user.

        If the user has not chosen, the likely film of the match is taken, if there is one.

        Args:
            answers: The chosen film numbers by `ImportedFilm.key`; None for "none of these".
        """
        chosen = {}
        for position, (imported, match) in enumerate(zip(self.history, self.matches, strict=True)):
            default = match.films[0] if match.is_likely else None
            film = match.films[0] if match.is_confident else answers.get(imported.key, default)
            if film is not None:
                chosen[position] = film
        return chosen

    def count_methods(self) -> Counter[MatchMethod]:
        """Return the number of films with a confident match by method. A film counts for its most reliable method."""
        methods: dict[int, MatchMethod] = {}
        for match in self.matches:
            if match.is_confident:
                film = match.films[0]
                methods[film] = min(match.method, methods.get(film, match.method), key=CONFIDENT.index)
        return Counter(methods.values())

    def watched(self, answers: Mapping[str, int | None]) -> list[WatchedFilm]:
        """Return the matched films of the data set, oldest first. For `answers`, see `chosen`."""
        return combine_entries((self.history[position], film) for position, film in self.chosen(answers).items())

    def accepted(self, answers: Mapping[str, int | None], films: Sequence[Film]) -> pd.DataFrame:
        """Return a row per matched film: the name in the files, the film of the data set, and the method."""
        rows = []
        for position, film in self.chosen(answers).items():
            match, imported = self.matches[position], self.history[position]
            method = match.method.value if match.is_confident else CHOSEN
            rows.append((imported.name, films[film].label, method, *_origin(imported.entries[0])))
        return pd.DataFrame(rows, columns=[N_("title in your files"), N_("imported as"), METHOD_COLUMN, "file", "line"])

    def rejected(self, answers: Mapping[str, int | None]) -> pd.DataFrame:
        """Return a row per film or line that is not in the result, with the reason."""
        chosen = self.chosen(answers)
        rows = [
            (film.name, NONE if match.films else match.method.value, *_origin(film.entries[0]))
            for position, (film, match) in enumerate(zip(self.history, self.matches, strict=True))
            if position not in chosen
        ]
        rows += [(line.text, line.reason.value, *_origin(line)) for line in self.skipped]
        return pd.DataFrame(rows, columns=["in your files", REASON_COLUMN, "file", "line"])


def review_files(matcher: Matcher, files: Iterable[Imported]) -> Review:
    """Match all films of history files."""
    parts = list(files)
    history = group_entries(sort_entries(entry for part in parts for entry in part.entries))
    matches = matcher.match([film.lookup_entry for film in history])
    return Review(tuple(history), tuple(matches), tuple(line for part in parts for line in part.skipped))


def import_files(dataset: Dataset, files: Iterable[tuple[str, bytes]]) -> tuple[list[WatchedFilm], list[str]]:
    """Return the watched films in history files (name, content), and notes about them. Likely matches are used.

    Raises:
        HistoryError: If a file is not a history.
    """
    parts = [part for name, data in files for part in read(name, data)]
    review = review_files(Matcher(dataset), parts)
    watched, rejected = review.watched({}), review.rejected({})
    notes = [f"{part.file}: {note}" for part in parts for note in part.notes]
    for part in parts:
        if question := part.date_question:
            date = question.day_first if question.is_day_first_likely else question.month_first
            notes.append(
                f"{part.file}: {question.cell} was read as {date:%Y-%m-%d}; the app can read it in another order"
            )
        if part.column_question and not part.entries:
            notes.append(f"{part.file}: the columns are not known; choose them in the app")
    unsure = [review.history[position].name for position in review.unsure]
    notes.append(f"{len(watched):,} films of the history are in {dataset.name}")
    if unsure:
        notes.append(f"no certain match for {len(unsure):,}, and only likely matches are used: {_shorten(unsure)}")
    for reason, names in rejected.groupby(REASON_COLUMN, sort=False)["in your files"]:
        notes.append(f"{len(names):,} left out, {reason}: {_shorten(names.tolist())}")
    return watched, notes


def watched_ratings(watched: Iterable[WatchedFilm]) -> Ratings:
    """Return the ratings of the rated films, for a `Request`."""
    return tuple((entry.film, entry.stars) for entry in watched if entry.stars is not None)


def _shorten(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (" …" if len(names) > 5 else "")


def _origin(line: Entry | Skipped) -> tuple[str, str]:
    """Return file and line number; "" if an entry has no line."""
    return line.file, str(line.line or "")


def combine_entries(films: Iterable[tuple[ImportedFilm, int]]) -> list[WatchedFilm]:
    """Return one `WatchedFilm` per film number, oldest first. Films without a date come first."""
    entries: dict[int, list[Entry]] = defaultdict(list)
    for imported, film in films:
        entries[film] += imported.entries
    watched = [_watched_film(film, group) for film, group in entries.items()]
    return sorted(watched, key=lambda film: film.last or datetime.min)


def _watched_film(film: int, entries: Sequence[Entry]) -> WatchedFilm:
    """Combine the entries of a film. The latest rating counts. Dates up to SAME_VIEWING apart are one viewing."""
    days = sorted(entry.watched for entry in entries if entry.watched)
    viewings = bool(days) + sum(later - earlier > SAME_VIEWING for earlier, later in pairwise(days))
    times = max(viewings, *(entry.times for entry in entries))
    last = days[-1] if days else min((entry.logged for entry in entries if entry.logged), default=None)
    rated = [entry for entry in entries if entry.rating is not None]
    stars = max(rated, key=lambda entry: entry.logged or entry.watched or datetime.min).rating if rated else None
    return WatchedFilm(film, last, bool(days), times, stars)


def as_json(dataset: str, catalog: Catalog, history: Sequence[ImportedFilm], chosen: Mapping[int, int]) -> str:
    """Return all films of an import, also those outside the data set, as a JSON file that this app can import.

    `chosen` has the film numbers of the films in the data set, see `Review.chosen`.
    """
    movies = catalog.complete.movies[["movie_id", "imdb_id", "tmdb_id"]]
    rows = movies.iloc[list(chosen.values())].astype(object).to_dict("records")
    records = {}
    for (position, number), row in zip(chosen.items(), rows, strict=True):
        film = catalog.films[number]
        records[position] = {"title": film.title, "year": film.year} | row
    films = [_film_record(imported, records.get(position, {})) for position, imported in enumerate(history)]
    films.sort(key=lambda film: film.get("watched") or film.get("logged") or "")
    return json.dumps({"dataset": dataset, "watched": films}, ensure_ascii=False, separators=(",", ":"))


def _film_record(imported: ImportedFilm, movie: dict[str, Any]) -> dict[str, Any]:
    """Return the known values of a film. Values of the data set (`movie`) replace values of the file."""
    entry, watched = imported.entries[0], _watched_film(0, imported.entries)  # the film number 0 is not used
    record = {name: getattr(entry, name) for name in ("title", "year", "imdb_id", "tmdb_id", "movie_id")} | movie
    if watched.last:
        record["watched" if watched.dated else "logged"] = watched.last.isoformat(" ")
    record |= {"rating": watched.stars, "times": watched.times if watched.times > 1 else None}
    return {name: value for name, value in record.items() if value and not pd.isna(value)}


def sort_entries(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries of several files, oldest first."""
    return sorted(entries, key=lambda entry: sort_time(entry) or datetime.min)
