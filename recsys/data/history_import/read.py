"""The door for history files: bytes in, entries out, whatever service wrote them."""

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import PurePosixPath

from recsys.data import zip_files
from recsys.data.history_import import csv_text, formats, json_files, rows
from recsys.data.history_import.csv_text import Table
from recsys.data.history_import.entries import (
    MOST_BYTES,
    Answers,
    ColumnQuestion,
    HistoryError,
    Imported,
    Reason,
    Skipped,
)

MAX_UNCOMPRESSED_BYTES = 5 * MOST_BYTES  # of all CSV and JSON files of an archive
ZIP_SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06")
SAMPLE = 5  # lines of an unknown CSV that are shown
INSIDE = " › "  # between an archive and a file in it
# Files of Letterboxd's ZIP that look like its films, told apart by their place in it alone
_NOT_WATCHED = {"watchlist": Reason.WANTED}
_OTHER_FOLDERS = {"deleted", "orphaned", "lists", "likes"}
_LIST = re.compile(r"^letterboxd list export", re.IGNORECASE)


def read(name: str, data: bytes, answers: Answers | None = None, now: datetime | None = None) -> list[Imported]:
    """What a file holds: one `Imported`, or of a ZIP one for each file in it that is about films.

    now: the present, for tests. Raises HistoryError, with what to do, for whatever is no history.
    """
    answers = answers or Answers()
    if not data.startswith(ZIP_SIGNATURES):
        return [_one(name, data, answers, now)]
    found, left_aside = [], []
    for path, content in _archive_files(name, data):
        inside = f"{name}{INSIDE}{path}"
        reason = _by_place(path)
        if content is None or reason:
            left_aside.append(Skipped(inside, 0, path, reason or Reason.NOT_READ))
            continue
        try:
            made = _one(inside, content, replace(answers, watchlist=False), now)
        except HistoryError:
            left_aside.append(Skipped(inside, 0, path, Reason.NOT_READ))
            continue
        if made.columns:
            left_aside.append(Skipped(inside, 0, path, Reason.NOT_READ))
        else:
            found.append(replace(made, may_be_watchlist=False))
    if not found:
        raise HistoryError(f"“{name}” holds no history that is known; bring the CSV or JSON files in it one by one")
    return [*found, Imported(name, "ZIP", skipped=tuple(left_aside))]


def _archive_files(name: str, data: bytes) -> Iterator[tuple[str, bytes | None]]:
    """Yield path and content of each file of an archive; None for a file that is neither CSV nor JSON."""
    if len(data) > MOST_BYTES:
        raise HistoryError(f"“{name}” has more than {MOST_BYTES >> 20} MB; bring the CSV files in it one by one")
    try:
        with zip_files.opened(io.BytesIO(data), MAX_UNCOMPRESSED_BYTES, _may_be_history) as archive:
            if "[Content_Types].xml" in archive.paths:
                raise HistoryError(f"“{name}” is a document of an office program; save the table as CSV and bring that")
            for path in archive.paths:
                yield path, archive.read(path) if _may_be_history(path) else None
    except zip_files.ArchiveError as error:
        advice = "bring the CSV or JSON files in it one by one, or export it again"
        raise HistoryError(f"“{name}” is not a sound ZIP file: {error.message}; {advice}") from error


def _may_be_history(path: str) -> bool:
    place = PurePosixPath(path)
    return place.suffix.lower() in (".csv", ".json") and not place.name.startswith("._")


def _by_place(path: str) -> Reason | None:
    """Why a file of an archive is not about films that were watched, by where it lies; None: it may be."""
    place = PurePosixPath(path.lower())
    if _OTHER_FOLDERS.intersection(place.parts[:-1]):
        return Reason.NOT_READ
    return _NOT_WATCHED.get(place.stem)


def _one(name: str, data: bytes, answers: Answers, now: datetime | None) -> Imported:
    """A single file."""
    body, notes = csv_text.decode(name, data)
    begins = body.lstrip()[:60]
    if begins.startswith(("{", "[")):
        made = json_files.read(name, body, now)
    elif begins.startswith("<"):
        raise HistoryError(f"“{name}” is a web page, not a list of films; bring a CSV, JSON or ZIP file")
    elif _LIST.match(begins):
        raise HistoryError(f"“{name}” is a list, not a diary; bring the ZIP from letterboxd.com/settings/data")
    else:
        made = _csv(name, csv_text.table(name, body), answers, now)
    return replace(made, notes=(*notes, *made.notes))


def _csv(name: str, table: Table, answers: Answers, now: datetime | None) -> Imported:
    source = formats.known(table.names)
    if source is None:
        return _unknown(name, table, answers, now)
    if source.advice:
        raise HistoryError(f"“{name}” {source.advice}")
    _refuse_several_people(name, table)
    made = rows.of_table(name, table, source.title, source.columns, source.episodes, answers, now)
    if not source.may_be_watchlist:
        return made
    hint = "watchlist" in name.lower()
    wanted = hint if answers.watchlist is None else answers.watchlist
    made = replace(made, may_be_watchlist=True, looks_like_watchlist=hint)
    return _all_wanted(made) if wanted else made


def _all_wanted(made: Imported) -> Imported:
    """A watchlist: no film of it was watched, but for those that have a rating."""
    wanted = [one for one in made.entries if one.rating is None]
    left_aside = [Skipped(one.file, one.line, one.name, Reason.WANTED) for one in wanted]
    watched = tuple(one for one in made.entries if one.rating is not None)
    return replace(made, entries=watched, skipped=(*made.skipped, *left_aside))


def _refuse_several_people(name: str, table: Table) -> None:
    """The ratings file of a data set has those of everybody."""
    if "userid" in table.names:
        at = table.names.index("userid")
        people = len({cells[at] for _, cells in table.rows if at < len(cells)})
        if people > 1:
            raise HistoryError(f"“{name}” has the ratings of {people:,} people; bring a file with the lines of one")


def _unknown(name: str, table: Table, answers: Answers, now: datetime | None) -> Imported:
    """A CSV that no known service writes: read by the columns that were chosen, at first by those that it names."""
    names = named(table.names)
    cells: Sequence[Sequence[str]] = [row for _, row in table.rows]
    guess = formats.guess(names, cells)
    question = ColumnQuestion(table.header, names, tuple(tuple(row) for row in cells[:SAMPLE]), guess)
    columns = answers.columns or guess
    made = Imported(name, "")
    if columns.names_films:
        made = rows.of_table(name, Table(names, table.rows), "", columns, answers=answers, now=now)
    return replace(made, columns=question)


def named(names: Sequence[str]) -> tuple[str, ...]:
    """Names of columns, none empty and none twice."""
    return tuple(name or f"column {at}" for at, name in enumerate(names, 1))
