"""Convert rows of any format, as column name → cell, to entries."""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from recsys.data.history_import import dates
from recsys.data.history_import.csv_text import CsvTable
from recsys.data.history_import.entries import NO_ANSWERS, Answers, Columns, Entry, ImportedFile, Reason, SkippedLine
from recsys.data.history_import.formats import FileFormat
from recsys.data.titles import MAX_TITLE_LENGTH, title_and_year
from recsys.errors import Message

_YEAR = re.compile(r"(?<!\d)(18[89]\d|19\d\d|20\d\d)(?!\d)")
_IMDB_ID = re.compile(r"^(?:.*?\b)?(?:tt)?(\d{5,10})\b")  # the first number, because a URL can end in others
_INTEGER = re.compile(r"^(\d{1,10})(?:\.0)?$")
_STARS = re.compile(r"^(★*)(½?)$")
# the season in "Show: Season 1: Episode" or "Show: Season 1", but not in the film "Star Wars: Episode IV: A New Hope"
_SEASON = re.compile(
    r":\s*(?:(?:season|series|staffel|saison|temporada|stagione|seizoen|sæson|säsong|sezon|sesong|kausi|évad|"
    r"part|teil|partie|parte|deel|volume|vol\.|book|buch|livre|chapter|collection)\s+\d+|"
    r"limited series|miniseries|mini-series|miniserie|シーズン\s*\d+|시즌\s*\d+|第\s*\d+\s*季)\s*:"
    r"|:\s*(?:season|staffel|saison|temporada|stagione|seizoen|limited series)\s*\d*\s*$",
    re.IGNORECASE,
)
_SERIES_KINDS = {"tv series", "tvseries", "tv mini series", "tv mini-series", "tvminiseries", "tv episode", "tvepisode"}
_SERIES_KINDS |= {"series", "show", "episode", "season", "mini series", "tv pilot", "tv show", "podcast series"}
_SERIES_KINDS |= {"tv"}  # of Yamtrack. Its kind "anime" is in no list, because it can be a film or a series
_OTHER_MEDIA_KINDS = {"video game", "videogame", "music video", "musicvideo", "podcast episode"}
_OTHER_MEDIA_KINDS |= {"game", "boardgame", "book", "comic", "manga", "podcast"}
_YES = {"yes", "true", "1", "y", "ja", "oui", "sí", "si"}

_FORMULA_STARTS = tuple(f"'{sign}" for sign in "=+-@|%\t")  # of escaped formulas in spreadsheets
_NO_RATING = {"0", "0.0", "-1", "-1.0", "null", "None"}  # cells of films that are not rated

Row = dict[str, str]  # column name → cell; no name is empty


def convert_table(file: str, table: CsvTable, file_format: FileFormat, answers: Answers) -> ImportedFile:
    """Convert the rows of a CSV file, see `convert_rows`. Rows with more cells than the header are skipped."""
    rows, skipped = [], []
    for line, cells in table.rows:
        if any(map(str.strip, cells[len(table.header) :])):
            skipped.append(SkippedLine(file, line, _summary(cells), Reason.EXTRA_CELLS))
        else:
            row = dict(zip(table.names, map(_unescape, cells), strict=False))
            row.pop("", None)
            rows.append((line, row))
    imported = convert_rows(file, rows, file_format, answers)
    return replace(imported, skipped=(*skipped, *imported.skipped))


def _unescape(text: str) -> str:
    """Return a cell without outer blanks and the apostrophe that escapes a formula."""
    text = text.strip()
    return text[1:] if text.startswith(_FORMULA_STARTS) else text


def convert_rows(
    file: str, rows: Sequence[tuple[int, Row]], file_format: FileFormat, answers: Answers = NO_ANSWERS
) -> ImportedFile:
    """Convert rows (line number, row) to entries. Rows that are not films are skipped."""
    columns = file_format.columns
    date_columns = [name for name in (columns.watch_date, columns.log_date) if name]
    date_cells = []
    for name in date_columns:
        date_cells += [row.get(name, "") for _, row in rows]
    read_date, question = dates.date_reader(date_cells, answers)
    entries, skipped = [], []
    for line, row in rows:
        entry = _entry(file, line, row, file_format, read_date)
        if reason := _skip_reason(entry, row, file_format):
            skipped.append(SkippedLine(file, line, entry.title or _summary(row.values()), reason))
        else:
            entries.append(entry)
    notes = _notes([row for _, row in rows], columns, read_date)
    return ImportedFile(file, file_format.title, _oldest_first(entries, columns), tuple(skipped), notes, question)


def _entry(file: str, line: int, row: Row, file_format: FileFormat, read_date: dates.Reader) -> Entry:
    """Return the entry of a row."""
    columns = file_format.columns
    title, title_year = title_and_year(row.get(columns.title, ""))
    year_match = _YEAR.search(row.get(columns.year, ""))
    min_viewings = 2 if row.get(columns.rewatch, "").lower() in _YES else 1
    return Entry(
        file,
        line,
        title,
        original_title=row.get(columns.original_title, "")[:MAX_TITLE_LENGTH],
        year=int(year_match[1]) if year_match else title_year,
        imdb_id=_imdb_id(row.get(columns.imdb_id, "")),
        tmdb_id=_integer(row.get(columns.tmdb_id, "")),
        movie_id=_integer(row.get(columns.movie_id, "")),
        watch_date=read_date(row.get(columns.watch_date, "")),
        log_date=read_date(row.get(columns.log_date, "")),
        rating=stars(row.get(columns.rating, ""), columns.scale),
        n_viewings=max(_integer(row.get(columns.n_viewings, "")) or 1, min_viewings),
        page=row.get(columns.page, ""),
        may_be_series=file_format.has_episodes and title.count(":") >= 2,
    )


def _imdb_id(text: str) -> str:
    """Return an IMDb id such as "tt0114709" from an id with or without "tt", or from a URL. "": the text has none."""
    match = _IMDB_ID.match(text)
    return f"tt{match[1].zfill(7)}" if match else ""


def _integer(text: str) -> int | None:
    """Return a positive integer, or None for another text."""
    match = _INTEGER.match(text)
    number = int(match[1]) if match else 0
    return number or None


def stars(text: str, scale: int) -> float | None:
    """Convert a rating to 0.5…5 stars. Return None if it is missing or out of range. The best rating is `scale`."""
    if text and (match := _STARS.match(text)):
        value = len(match[1]) + len(match[2]) / 2
    else:
        try:
            rating, _, best = text.replace(",", ".").partition("/")  # "8/10" has its own scale
            value = float(rating) * 5 / float(best or scale)
        except (ValueError, ZeroDivisionError):
            return None
    if not 0 < value <= 5:  # also true for NaN
        return None
    return max(math.floor(value * 2 + 0.5) / 2, 0.5)  # the nearest half star


def _skip_reason(entry: Entry, row: Row, file_format: FileFormat) -> Reason | None:
    """Return the reason to skip a row, or None if it can be a film."""
    kind = row.get(file_format.columns.kind, "").lower()
    if kind in _SERIES_KINDS or (file_format.has_episodes and _SEASON.search(entry.title)):
        return Reason.SERIES
    if kind in _OTHER_MEDIA_KINDS:
        return Reason.OTHER_MEDIA
    return None if entry.title or entry.imdb_id or entry.tmdb_id or entry.movie_id else Reason.NAMELESS


def _notes(rows: Sequence[Row], columns: Columns, read_date: dates.Reader) -> tuple[Message, ...]:
    """Return messages with the numbers of invalid dates and ratings, if there are any."""

    def count_invalid(name: str, read: Callable[[str], Any], missing: Collection[str] = ()) -> int:
        cells = Counter(row.get(name, "") for row in rows)
        return sum(n for cell, n in cells.items() if cell and cell not in missing and read(cell) is None)

    n_invalid_dates = count_invalid(columns.watch_date, read_date) + count_invalid(columns.log_date, read_date)
    n_invalid_ratings = count_invalid(columns.rating, partial(stars, scale=columns.scale), _NO_RATING)
    notes = (
        Message(
            "{n:,} date could not be read; its film is imported without a date",
            plural="{n:,} dates could not be read; their films are imported without dates",
            n=n_invalid_dates,
        ),
        Message(
            "{n:,} rating is not between 0 and {scale:g}; its film is imported without a rating",
            plural="{n:,} ratings are not between 0 and {scale:g}; their films are imported without ratings",
            n=n_invalid_ratings,
            scale=columns.scale,
        ),
    )
    return tuple(note for note in notes if note.fields["n"])


def _oldest_first(entries: list[Entry], columns: Columns) -> tuple[Entry, ...]:
    """Sort entries by time. Entries with equal times are in file order, or reversed if the newest row is at the top."""
    times = [time for entry in entries if (time := sort_time(entry))]
    is_newest_first = times[0] > times[-1] if times else columns.is_newest_first
    ordered = entries[::-1] if is_newest_first else entries
    return tuple(sorted(ordered, key=lambda entry: sort_time(entry) or datetime.min))


def sort_time(entry: Entry) -> datetime | None:
    """Return the time by which an entry is sorted, None if it has no dates."""
    return entry.watch_date or entry.log_date


def _summary(cells: Iterable[str]) -> str:
    """Return the cells of a skipped line as one text of at most MAX_TITLE_LENGTH characters."""
    return ", ".join(cell.strip() for cell in cells if cell.strip())[:MAX_TITLE_LENGTH]
