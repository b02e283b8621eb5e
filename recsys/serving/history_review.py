"""Make a watch list from history files: group the entries of each film, match the films, and order them by date."""

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
from recsys.data.history_import.entries import Entry, ImportedFile, SkippedLine
from recsys.data.history_import.read import read
from recsys.data.history_import.rows import sort_time
from recsys.errors import N_
from recsys.serving.export import film_records
from recsys.serving.film_matching import CONFIDENT_METHODS, Match, Matcher, MatchMethod
from recsys.serving.recommend import Ratings

CHOSEN = N_("chosen by you")  # in METHOD_COLUMN
NONE_OF_CANDIDATES = N_("none of the films that were offered")  # in REASON_COLUMN
METHOD_COLUMN = "found"  # column with the method of the match
REASON_COLUMN = "reason for leaving it out"
TRANSLATED_COLUMNS = METHOD_COLUMN, REASON_COLUMN  # pages translate their cells, because other cells are names
SAME_VIEWING_GAP = timedelta(days=1)  # the dates of one viewing can differ by a day between services
MAX_SHORTENED_NAMES = 5  # names in a note


@dataclass(frozen=True)
class ImportedFilm:
    """A film of history files, with all its entries."""

    entries: tuple[Entry, ...]

    @cached_property
    def name(self) -> str:
        """Title and year, or an id, of the first entry."""
        return self.entries[0].name

    @cached_property
    def lookup_entry(self) -> Entry:
        """The entry that is matched. It has the original title, if any entry has one, and the earliest date."""
        entry = next((entry for entry in self.entries if entry.original_title), self.entries[0])
        dates = [entry.watch_date for entry in self.entries if entry.watch_date]
        return replace(entry, watch_date=min(dates, default=None))

    @cached_property
    def key(self) -> str:
        """Title, year, ids and web page, as the key of the visitor's choice for the film.

        File and line are not part of it, because an upload can have two files of the same name.
        """
        return "|".join(map(str, (*_group_key(self.entries[0]), self.entries[0].page)))


@dataclass(frozen=True)
class WatchedFilm:
    """A watched film of the data set."""

    number: int  # film number
    last_date: datetime | None  # last viewing or, if unknown, first rating or addition to a list; None: no dates
    has_viewing_date: bool  # whether `last_date` is the date of a viewing
    n_viewings: int
    stars: float | None  # None: not rated


def group_entries(entries: Iterable[Entry]) -> list[ImportedFilm]:
    """Combine entries with equal title, year, ids and web page to films, in the order of their first entries."""
    groups: dict[tuple[Any, ...], list[Entry]] = defaultdict(list)
    for entry in entries:
        groups[_group_key(entry)].append(entry)
    return [ImportedFilm(tuple(film)) for group in groups.values() for film in _split_by_page(group)]


def _group_key(entry: Entry) -> tuple[Any, ...]:
    """Return the values that the entries of a film have in common."""
    return entry.title.casefold(), entry.year, entry.imdb_id, entry.tmdb_id, entry.movie_id


def _split_by_page(entries: list[Entry]) -> list[list[Entry]]:
    """Separate films with equal title and year by their web pages. Entries without a page go to the first film."""
    pages = list(dict.fromkeys(entry.page for entry in entries if entry.page))
    if len(pages) < 2:
        return [entries]
    return [[entry for entry in entries if (entry.page or pages[0]) == page] for page in pages]


@dataclass(frozen=True)
class Review:
    """All films of history files, and their matches in a data set."""

    films: tuple[ImportedFilm, ...]
    matches: tuple[Match, ...]  # one for each film
    skipped: tuple[SkippedLine, ...]  # lines of the files that were not read

    @property
    def uncertain_positions(self) -> list[int]:
        """The positions in `films` for which the visitor has to choose a film of the data set."""
        return [position for position, match in enumerate(self.matches) if match.films and not match.is_confident]

    def film_number(self, position: int, choices: Mapping[str, int | None]) -> int | None:
        """Return the film number for the film at a position in `films`, None if there is none.

        It is the confident match or else the choice of the visitor. Without a choice, it is the likely film, if there
        is one. If the files were read again with other options, the match may no longer contain a choice. The choice is
        then ignored.

        Args:
            position: Position in `films`.
            choices: The chosen film numbers by `ImportedFilm.key`; None for "none of these".
        """
        match = self.matches[position]
        if match.is_confident:
            return match.accepted_film
        choice = choices.get(self.films[position].key, match.accepted_film)
        return choice if choice is None or choice in match.films else match.accepted_film

    def film_numbers(self, choices: Mapping[str, int | None]) -> dict[int, int]:
        """Return position in `films` → film number, for the films that have one. For `choices`, see `film_number`."""
        numbers = {position: self.film_number(position, choices) for position in range(len(self.films))}
        return {position: number for position, number in numbers.items() if number is not None}

    def count_methods(self) -> Counter[MatchMethod]:
        """Return method → number of films of the data set with a confident match.

        If several films of the files match the same film, it counts once, for the most reliable method.
        """
        methods: dict[int, list[MatchMethod]] = defaultdict(list)  # by film number
        for match in self.matches:
            if match.is_confident:
                methods[match.films[0]].append(match.method)
        return Counter(min(film_methods, key=CONFIDENT_METHODS.index) for film_methods in methods.values())

    def watched_films(self, choices: Mapping[str, int | None]) -> list[WatchedFilm]:
        """Return the matched films of the data set, oldest first. For `choices`, see `film_number`."""
        numbers = self.film_numbers(choices)
        return combine_entries((self.films[position], number) for position, number in numbers.items())

    def accepted_table(self, choices: Mapping[str, int | None], catalog_films: Sequence[Film]) -> pd.DataFrame:
        """Return a row per film with a film number: name in the files, film of the data set, method, file and line."""
        rows = []
        for position, number in self.film_numbers(choices).items():
            match, film = self.matches[position], self.films[position]
            method = match.method.value if match.is_confident else CHOSEN
            rows.append((film.name, catalog_films[number].label, method, *_origin(film.entries[0])))
        return pd.DataFrame(rows, columns=[N_("title in your files"), N_("imported as"), METHOD_COLUMN, "file", "line"])

    def not_imported_table(self, choices: Mapping[str, int | None]) -> pd.DataFrame:
        """Return a row per film without a film number and per skipped line: name or text, reason, file and line."""
        matched_positions = self.film_numbers(choices)
        rows = [
            (film.name, NONE_OF_CANDIDATES if match.films else match.method.value, *_origin(film.entries[0]))
            for position, (film, match) in enumerate(zip(self.films, self.matches, strict=True))
            if position not in matched_positions
        ]
        rows += [(line.text, line.reason.value, *_origin(line)) for line in self.skipped]
        return pd.DataFrame(rows, columns=["in your files", REASON_COLUMN, "file", "line"])


def review_files(matcher: Matcher, files: Iterable[ImportedFile]) -> Review:
    """Match all films of history files."""
    files = list(files)
    films = group_entries(sort_entries(entry for file in files for entry in file.entries))
    matches = matcher.match([film.lookup_entry for film in films])
    return Review(tuple(films), tuple(matches), tuple(line for file in files for line in file.skipped))


def import_files(dataset: Dataset, files: Iterable[tuple[str, bytes]]) -> tuple[list[WatchedFilm], list[str]]:
    """Return the watched films in history files (name, content), oldest first, and notes for the command line.

    Confident and likely matches are used.

    Raises:
        HistoryError: If a file is not a history.
    """
    parts = [part for name, content in files for part in read(name, content)]  # an archive has several parts
    review = review_files(Matcher(dataset), parts)
    watched, not_imported = review.watched_films({}), review.not_imported_table({})
    notes = [f"{part.file}: {note}" for part in parts for note in part.notes]
    for part in parts:
        if question := part.date_question:
            date = question.day_first_date if question.is_day_first_likely else question.month_first_date
            notes.append(
                f"{part.file}: {question.cell} was read as {date:%Y-%m-%d}; the app can read it in another order"
            )
        if part.column_question and not part.entries:
            notes.append(f"{part.file}: the columns are not known; choose them in the app")
    uncertain_names = [review.films[position].name for position in review.uncertain_positions]
    notes.append(f"{len(watched):,} films of the history are in {dataset.name}")
    if uncertain_names:
        names = _shorten(uncertain_names)
        notes.append(f"no certain match for {len(uncertain_names):,}, and only likely matches are used: {names}")
    for reason, names in not_imported.groupby(REASON_COLUMN, sort=False)["in your files"]:
        notes.append(f"{len(names):,} left out, {reason}: {_shorten(names.tolist())}")
    return watched, notes


def watched_ratings(watched: Iterable[WatchedFilm]) -> Ratings:
    """Return the ratings of the rated films, as in `Request.ratings`."""
    return tuple((film.number, film.stars) for film in watched if film.stars is not None)


def _shorten(names: Sequence[str]) -> str:
    """Return the first MAX_SHORTENED_NAMES names as a text, with "…" if there are more."""
    return ", ".join(names[:MAX_SHORTENED_NAMES]) + (" …" if len(names) > MAX_SHORTENED_NAMES else "")


def _origin(line: Entry | SkippedLine) -> tuple[str, str]:
    """Return the file name and the line number, "" if there is no line number."""
    return line.file, str(line.line or "")


def combine_entries(films: Iterable[tuple[ImportedFilm, int]]) -> list[WatchedFilm]:
    """Combine pairs (film, film number) to one `WatchedFilm` per number, oldest first.

    Films without a date come first.
    """
    entries: dict[int, list[Entry]] = defaultdict(list)
    for film, number in films:
        entries[number] += film.entries
    watched = [_watched_film(number, film_entries) for number, film_entries in entries.items()]
    return sorted(watched, key=lambda film: film.last_date or datetime.min)


def _watched_film(number: int, entries: Sequence[Entry]) -> WatchedFilm:
    """Combine the entries of a film. The latest rating is used. Dates up to SAME_VIEWING_GAP apart are one viewing."""
    dates = sorted(entry.watch_date for entry in entries if entry.watch_date)
    n_gaps = sum(later - earlier > SAME_VIEWING_GAP for earlier, later in pairwise(dates))
    n_dated_viewings = n_gaps + 1 if dates else 0
    n_viewings = max(n_dated_viewings, *(entry.n_viewings for entry in entries))
    last_date = dates[-1] if dates else min((entry.log_date for entry in entries if entry.log_date), default=None)
    rated = [entry for entry in entries if entry.rating is not None]
    stars = max(rated, key=lambda entry: entry.log_date or entry.watch_date or datetime.min).rating if rated else None
    return WatchedFilm(number, last_date, bool(dates), n_viewings, stars)


def films_json(
    dataset_name: str, catalog: Catalog, films: Sequence[ImportedFilm], film_numbers: Mapping[int, int]
) -> str:
    """Return all films of history files, including films that the data set lacks, as JSON that this app can import.

    `film_numbers` has the numbers of the films in the data set, see `Review.film_numbers`.
    """
    catalog_records = dict(zip(film_numbers, film_records(catalog, list(film_numbers.values())), strict=True))
    records = [_film_record(film, catalog_records.get(position)) for position, film in enumerate(films)]
    records.sort(key=lambda record: record.get("watched") or record.get("logged") or "")
    return json.dumps({"dataset": dataset_name, "watched": records}, ensure_ascii=False, separators=(",", ":"))


def _film_record(film: ImportedFilm, catalog_record: dict[str, Any] | None) -> dict[str, Any]:
    """Return the values of a film, without missing values. Names and ids are of the data set, if it has the film."""
    entry, watched = film.entries[0], _watched_film(0, film.entries)  # 0: any number, because it is not read
    fields = ("title", "year", "imdb_id", "tmdb_id", "movie_id")
    record = {name: catalog_record[name] if catalog_record else getattr(entry, name) for name in fields}
    if watched.last_date:
        record["watched" if watched.has_viewing_date else "logged"] = watched.last_date.isoformat(" ")
    record |= {"rating": watched.stars, "times": watched.n_viewings if watched.n_viewings > 1 else None}
    return {name: value for name, value in record.items() if value and not pd.isna(value)}


def sort_entries(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries of several files, oldest first."""
    return sorted(entries, key=lambda entry: sort_time(entry) or datetime.min)
