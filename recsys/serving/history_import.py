"""From the lines of history files to a watch sequence: lines of one film together, films in the order of watching."""

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
from recsys.data.history_import.rows import when
from recsys.errors import N_
from recsys.serving.film_matching import CONFIDENT, Match, Matcher, MatchMethod
from recsys.serving.recommend import Ratings

CHOSEN, NONE = N_("chosen in the review"), N_("none of the films that were offered")
REASON_COLUMNS = "found", "why it is not taken"  # columns that say how or why, not what somebody's file holds
SAME_VIEWING = timedelta(days=1)  # two services may date the same evening a day apart


@dataclass(frozen=True)
class ImportedFilm:
    """One film as files name it, with all their lines about it."""

    lines: tuple[Entry, ...]

    @cached_property
    def name(self) -> str:
        """Title and year."""
        return self.lines[0].name

    @cached_property
    def asked(self) -> Entry:
        """One line that says what is known of the film, to look it up by: the first that has an original title."""
        said = next((line for line in self.lines if line.original), self.lines[0])
        return replace(said, watched=min((line.watched for line in self.lines if line.watched), default=None))

    @property
    def key(self) -> str:
        """The same in every reading of the same files, for whoever keeps what was chosen."""
        return f"{self.lines[0].file}:{self.lines[0].line}"


@dataclass(frozen=True)
class WatchedFilm:
    """A film of the data set that somebody watched."""

    film: int  # as `Catalog.films` numbers it
    last: datetime | None  # when it was last watched or, where no file says so, first written down
    dated: bool  # whether `last` is a date of watching
    times: int
    stars: float | None


def group_entries(entries: Iterable[Entry]) -> list[ImportedFilm]:
    """Lines that name the same film in the same way, together; in the order of their first lines."""
    named: dict[tuple[Any, ...], list[Entry]] = defaultdict(list)
    for one in entries:
        named[one.title.casefold(), one.year, one.imdb_id, one.tmdb_id, one.movie_id].append(one)
    return [ImportedFilm(tuple(lines)) for together in named.values() for lines in _by_page(together)]


def _by_page(lines: list[Entry]) -> list[list[Entry]]:
    """Two films of one title and year have two addresses; lines without one, as of a diary, go with the first."""
    pages = list(dict.fromkeys(line.page for line in lines if line.page))
    if len(pages) < 2:
        return [lines]
    return [[line for line in lines if (line.page or pages[0]) == page] for page in pages]


@dataclass(frozen=True)
class Review:
    """All films that files name, and what each may be in a data set."""

    history: tuple[ImportedFilm, ...]
    matches: tuple[Match, ...]
    skipped: tuple[Skipped, ...]

    @property
    def unsure(self) -> list[int]:
        """The positions of films that a person has to decide about."""
        return [at for at, match in enumerate(self.matches) if match.films and not match.sure]

    def chosen(self, answers: Mapping[str, int | None]) -> dict[int, int]:
        """Position → film, for those that are sure or were chosen; answers: by `Seen.key`, None for "none of these".

        Of an unsure one that nobody has decided about, the likely film counts.
        """
        likely = {self.history[at].key: match.films[0] for at, match in enumerate(self.matches) if match.likely}
        decided = likely | dict(answers)
        films = (
            match.films[0] if match.sure else decided.get(seen.key)
            for seen, match in zip(self.history, self.matches, strict=True)
        )
        return {at: film for at, film in enumerate(films) if film is not None}

    def how(self) -> Counter[MatchMethod]:
        """How many films were found in which way, the surest where lines of several files agree."""
        ways: dict[int, MatchMethod] = {}
        for match in self.matches:
            if match.sure:
                ways[match.films[0]] = min(match.how, ways.get(match.films[0], match.how), key=CONFIDENT.index)
        return Counter(ways.values())

    def watched(self, answers: Mapping[str, int | None]) -> list[WatchedFilm]:
        """The films of the data set, oldest first."""
        return combine_entries((self.history[at], film) for at, film in self.chosen(answers).items())

    def found(self, answers: Mapping[str, int | None], films: Sequence[Film]) -> pd.DataFrame:
        """A row for each film that was found: what the files say, and which film it was taken for."""
        rows = [
            (self.history[at].name, films[film].label, self._how(at), *_origin(self.history[at].lines[0]))
            for at, film in self.chosen(answers).items()
        ]
        return pd.DataFrame(rows, columns=[N_("your files say"), N_("taken for"), REASON_COLUMNS[0], "file", "line"])

    def lost(self, answers: Mapping[str, int | None]) -> pd.DataFrame:
        """A row for everything in the files that is not taken, and why."""
        taken = self.chosen(answers)
        gone = [(self.history[at], match) for at, match in enumerate(self.matches) if at not in taken]
        rows = [
            (seen.name, (NONE if match.films else match.how.value), *_origin(seen.lines[0])) for seen, match in gone
        ]
        rows += [(one.text, one.reason.value, *_origin(one)) for one in self.skipped]
        return pd.DataFrame(rows, columns=["in your files", REASON_COLUMNS[1], "file", "line"])

    def _how(self, at: int) -> str:
        return self.matches[at].how.value if self.matches[at].sure else CHOSEN


def review_files(matcher: Matcher, files: Iterable[Imported]) -> Review:
    """Look all films of some files up."""
    parts = list(files)
    history = group_entries(sort_entries(entry for part in parts for entry in part.entries))
    matches = matcher.match([seen.asked for seen in history])
    return Review(tuple(history), tuple(matches), tuple(one for part in parts for one in part.skipped))


def import_files(dataset: Dataset, files: Iterable[tuple[str, bytes]]) -> tuple[list[WatchedFilm], list[str]]:
    """The films of some files (name, content) where nobody can be asked, and what has to be said about them.

    Questions are answered by what is likely. Raises HistoryError for a file that is no history.
    """
    parts = [part for name, data in files for part in read(name, data)]
    found = review_files(Matcher(dataset), parts)
    watched, lost = found.watched({}), found.lost({})
    notes = [f"{part.file}: {note}" for part in parts for note in part.notes]
    for part in parts:
        if part.dates:
            taken = part.dates.day_first if part.dates.likely else part.dates.month_first
            notes.append(f"{part.file}: {part.dates.cell} was read as {taken:%Y-%m-%d}; the app lets you choose")
        if part.columns and not part.entries:
            notes.append(f"{part.file}: nobody knows which column holds what; the app lets you choose")
    unsure = [found.history[at].name for at in found.unsure]
    notes.append(f"{len(watched):,} films of the history are in {dataset.name}")
    if unsure:
        notes.append(f"{len(unsure):,} are not sure, and only likely ones are taken: {_shorten(unsure)}")
    for reason, names in lost.groupby(REASON_COLUMNS[1], sort=False)["in your files"]:
        notes.append(f"{len(names):,} not taken, {reason}: {_shorten(names.tolist())}")
    return watched, notes


def watched_ratings(watched: Iterable[WatchedFilm]) -> Ratings:
    """The stars that a request tells."""
    return tuple((one.film, one.stars) for one in watched if one.stars is not None)


def _shorten(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (" …" if len(names) > 5 else "")


def _origin(line: Entry | Skipped) -> tuple[str, str]:
    """File and line; a whole file has no line."""
    return line.file, str(line.line or "")


def combine_entries(chosen: Iterable[tuple[ImportedFilm, int]]) -> list[WatchedFilm]:
    """The films that were found, each once, the one watched last at the end; those without any date come first."""
    lines: dict[int, list[Entry]] = defaultdict(list)
    for seen, film in chosen:
        lines[film] += seen.lines
    films = [_watched_film(film, of_it) for film, of_it in lines.items()]
    return sorted(films, key=lambda one: one.last or datetime.min)


def _watched_film(film: int, lines: Sequence[Entry]) -> WatchedFilm:
    days = sorted(line.watched for line in lines if line.watched)
    evenings = bool(days) + sum(later - earlier > SAME_VIEWING for earlier, later in pairwise(days))
    times = max(evenings, *(line.times for line in lines))
    last = days[-1] if days else min((line.logged for line in lines if line.logged), default=None)
    return WatchedFilm(film, last, bool(days), times, _latest_rating(lines))


def _latest_rating(lines: Sequence[Entry]) -> float | None:
    """The rating that was given last."""
    rated = [line for line in lines if line.rating is not None]
    return max(rated, key=lambda line: line.logged or line.watched or datetime.min).rating if rated else None


def as_json(dataset: str, catalog: Catalog, history: Sequence[ImportedFilm], chosen: Mapping[int, int]) -> str:
    """A history as one of our files, to read again; also what is not in this data set. chosen: film by position."""
    known = catalog.complete.movies[["title", "year", "movie_id", "imdb_id", "tmdb_id"]]
    taken = dict(zip(chosen, known.iloc[list(chosen.values())].astype(object).to_dict("records"), strict=True))
    films = [_record(seen, taken.get(position, {})) for position, seen in enumerate(history)]
    films.sort(key=lambda film: film.get("watched") or film.get("logged") or "")
    return json.dumps({"dataset": dataset, "watched": films}, ensure_ascii=False, separators=(",", ":"))


def _record(seen: ImportedFilm, film: dict[str, Any]) -> dict[str, Any]:
    """What is known of one film, by the data set or else by its lines; without what is not known."""
    first, one = seen.lines[0], _watched_film(0, seen.lines)
    said = {name: getattr(first, name) for name in ("title", "year", "imdb_id", "tmdb_id", "movie_id")} | film
    if one.last:
        said["watched" if one.dated else "logged"] = one.last.isoformat(" ")
    said |= {"rating": one.stars, "times": one.times if one.times > 1 else None}
    return {name: value for name, value in said.items() if value and not pd.isna(value)}


def sort_entries(entries: Iterable[Entry]) -> list[Entry]:
    """Lines of several files, oldest first."""
    return sorted(entries, key=lambda one: when(one) or datetime.min)
