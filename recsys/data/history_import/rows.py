"""Lines of a table as entries: every source ends here, so that a year, a date or a star is read in one place."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from recsys.data.history_import import dates
from recsys.data.history_import.csv_text import Table
from recsys.data.history_import.entries import Answers, Columns, Entry, Imported, Reason, Skipped
from recsys.data.titles import MAX_LENGTH, title_and_year

_YEAR = re.compile(r"(?<!\d)(18[89]\d|19\d\d|20\d\d)(?!\d)")
_IMDB = re.compile(r"^(?:.*\b)?(?:tt)?(\d{5,10})\b")
_INTEGER = re.compile(r"^(\d{1,10})(?:\.0)?$")
_STARS = re.compile(r"^(★*)(½?)$")
# "Show: Season 1: Episode": the middle says it. "Star Wars: Episode IV: A New Hope" is a film.
_SEASON = re.compile(
    r":\s*(?:(?:season|series|staffel|saison|temporada|stagione|seizoen|sæson|säsong|sezon|sesong|kausi|évad|"
    r"part|teil|partie|parte|deel|volume|vol\.|book|buch|livre|chapter|collection)\s+\d+|"
    r"limited series|miniseries|mini-series|miniserie|シーズン\s*\d+|시즌\s*\d+|第\s*\d+\s*季)\s*:"
    r"|:\s*(?:season|staffel|saison|temporada|stagione|seizoen|limited series)\s*\d*\s*$",
    re.IGNORECASE,
)
_SERIES = {"tv series", "tvseries", "tv mini series", "tv mini-series", "tvminiseries", "tv episode", "tvepisode"}
_SERIES |= {"series", "show", "episode", "season", "mini series", "tv pilot", "tv show", "podcast series"}
_OTHER = {"video game", "videogame", "music video", "musicvideo", "podcast episode"}
_YES = {"yes", "true", "1", "y", "ja", "oui", "sí", "si"}

_QUOTED = tuple(f"'{sign}" for sign in "=+-@|%\t")

Row = dict[str, str]  # name of a column → cell


def of_table(
    file: str,
    table: Table,
    source: str,
    columns: Columns,
    episodes: bool = False,
    answers: Answers | None = None,
    now: datetime | None = None,
) -> Imported:
    """The entries of a CSV."""
    wide, n = table.names, len(table.header)
    ragged = [Skipped(file, line, _short(cells), Reason.RAGGED) for line, cells in table.rows if _too_wide(cells, n)]
    whole = [(line, cells) for line, cells in table.rows if not _too_wide(cells, n)] if ragged else table.rows
    rows = [(line, dict(zip(wide, map(_cell, cells), strict=False))) for line, cells in whole]
    made = of_rows(file, rows, source, columns, episodes, answers, now)
    return replace(made, skipped=(*ragged, *made.skipped))


def _too_wide(cells: Sequence[str], n: int) -> bool:
    """Whether there is something right of the last column, so that nobody knows which cell is which."""
    return len(cells) > n and any(map(str.strip, cells[n:]))


def _cell(text: str) -> str:
    """A cell without the apostrophe that keeps spreadsheets from running it."""
    text = text.strip()
    return text[1:] if text.startswith(_QUOTED) else text


def of_rows(
    file: str,
    rows: Sequence[tuple[int, Row]],
    source: str,
    columns: Columns,
    episodes: bool = False,
    answers: Answers | None = None,
    now: datetime | None = None,
) -> Imported:
    """The entries of lines with named cells."""
    dated = [cells.get(name, "") for name in (columns.watched, columns.logged) if name for _, cells in rows]
    date, question = dates.reader(dated, answers or Answers(), now)
    entries, skipped = [], []
    for line, cells in rows:
        title, year = title_and_year(_said(cells, columns.title))
        if reason := _reason(title, cells, columns, episodes):
            skipped.append(Skipped(file, line, title or _short(list(cells.values())), reason))
            continue
        entry = _entry(file, line, title, year, cells, columns, date)
        if not (title or entry.imdb_id or entry.tmdb_id or entry.movie_id):
            skipped.append(Skipped(file, line, _short(list(cells.values())), Reason.NAMELESS))
        else:
            like_episode = episodes and entry.title.count(":") >= 2
            entries.append(replace(entry, perhaps_series=True) if like_episode else entry)
    notes = _unread([cells for _, cells in rows], columns, date)
    return Imported(file, source, tuple(_oldest_first(entries, columns)), tuple(skipped), notes, question)


def _entry(
    file: str, line: int, title: str, year: int | None, cells: Row, columns: Columns, date: dates.Reader
) -> Entry:
    rewatched = _said(cells, columns.rewatch).lower() in _YES
    return Entry(
        file,
        line,
        title,
        _said(cells, columns.original)[:MAX_LENGTH],
        _year(_said(cells, columns.year)) or year,
        _imdb(_said(cells, columns.imdb_id)),
        _integer(_said(cells, columns.tmdb_id)),
        _integer(_said(cells, columns.movie_id)),
        date(_said(cells, columns.watched)),
        date(_said(cells, columns.logged)),
        stars(_said(cells, columns.rating), columns.scale),
        max(_integer(_said(cells, columns.times)) or 1, 2 if rewatched else 1),
        _said(cells, columns.page),
    )


def _said(cells: Row, name: str) -> str:
    return cells.get(name, "") if name else ""


def _year(text: str) -> int | None:
    match = _YEAR.search(text)
    return int(match[1]) if match else None


def _imdb(text: str) -> str:
    """ "tt0114709" from that, from "114709" or from an address of IMDb."""
    match = _IMDB.match(text)
    return f"tt{match[1].zfill(7)}" if match else ""


def _integer(text: str) -> int | None:
    match = _INTEGER.match(text)
    return int(match[1]) or None if match else None


def stars(text: str, scale: int) -> float | None:
    """A rating in halves of stars, 0.5…5; None for none, and for one that the scale does not have."""
    if text and (match := _STARS.match(text)):
        value = len(match[1]) + len(match[2]) / 2
    else:
        try:
            value = float(text.replace(",", ".").partition("/")[0]) * 5 / scale
        except ValueError:
            return None
    return max(math.floor(value * 2 + 0.5) / 2, 0.5) if 0 < value <= 5 else None


def _reason(title: str, cells: Row, columns: Columns, episodes: bool) -> Reason | None:
    """Why this is no film; None where it may be one."""
    kind = _said(cells, columns.kind).lower()
    if kind in _SERIES or (episodes and _SEASON.search(title)):
        return Reason.SERIES
    return Reason.OTHER if kind in _OTHER else None


def _unread(rows: Sequence[Row], columns: Columns, date: dates.Reader) -> tuple[str, ...]:
    """What was written, but in no form that is known: a sentence for dates and one for ratings."""

    def count(name: str, read: Callable[[str], Any]) -> int:
        written = Counter(_said(cells, name) for cells in rows)
        return sum(n for cell, n in written.items() if cell and read(cell) is None)

    bad_dates = count(columns.watched, date) + count(columns.logged, date)
    bad_stars = count(columns.rating, lambda cell: stars(cell, columns.scale) if cell not in _NO_RATING else 0)
    told = ((bad_dates, "dates could not be read"), (bad_stars, f"ratings are none from 0 to {columns.scale}"))
    return tuple(f"{n:,} {what}; the films stay" for n, what in told if n)


_NO_RATING = {"0", "0.0", "-1", "-1.0", "null", "None"}


def _oldest_first(entries: list[Entry], columns: Columns) -> list[Entry]:
    """In the order of time; lines of one day as the file has them, reversed where it begins with the newest."""
    days = [day for entry in entries if (day := when(entry))]
    newest_first = columns.newest_first if not days else days[0] > days[-1]
    ordered = entries[::-1] if newest_first else entries
    return sorted(ordered, key=lambda entry: when(entry) or datetime.min)


def when(entry: Entry) -> datetime | None:
    """The time that puts an entry in order."""
    return entry.watched or entry.logged


def _short(cells: Sequence[str]) -> str:
    return ", ".join(cell.strip() for cell in cells if cell.strip())[:MAX_LENGTH]
