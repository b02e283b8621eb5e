"""Entry point of the history import: read a history file of any format."""

import io
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePosixPath

from recsys.data import zip_files
from recsys.data.history_import import csv_text, formats, json_files, rows
from recsys.data.history_import.csv_text import CsvTable
from recsys.data.history_import.entries import (
    MAX_FILE_BYTES,
    NO_ANSWERS,
    Answers,
    ColumnQuestion,
    HistoryError,
    ImportedFile,
    Reason,
    SkippedLine,
)
from recsys.errors import N_, Message

MAX_UNCOMPRESSED_BYTES = 5 * MAX_FILE_BYTES  # of all CSV and JSON files of an archive
SAMPLE_ROWS = 5  # of an unknown CSV file
PATH_SEPARATOR = " › "  # between an archive and a file in it
# files of a Letterboxd archive with the header of "Letterboxd films", although they are not about watched films
_WATCHLIST = "watchlist"  # file name without suffix
_SKIPPED_FOLDERS = {"deleted", "orphaned", "lists", "likes"}
_LETTERBOXD_LIST = re.compile(r"^letterboxd list export", re.IGNORECASE)


def read(name: str, data: bytes, answers: Answers = NO_ANSWERS) -> list[ImportedFile]:
    """Read a file, or all histories in a ZIP archive.

    `answers` answer the questions in the result of an earlier call. The result has one element for a file. For an
    archive, it has an element per history, and a last element for the skipped files. Raises HistoryError if there is
    no history.
    """
    if not data.startswith(zip_files.ZIP_SIGNATURES):
        return [_read_file(name, data, answers)]
    histories, skipped = [], []
    for path, content in _archive_files(name, data):
        member_name = f"{name}{PATH_SEPARATOR}{path}"
        reason = _skip_reason(path)
        imported = None
        if content is not None and not reason:
            with suppress(HistoryError):
                # `_skip_reason` recognises watchlists by their paths, so the visitor is not asked about them
                imported = _read_file(member_name, content, replace(answers, is_watchlist=False))
        if imported is None or imported.column_question:
            skipped.append(SkippedLine(member_name, 0, path, reason or Reason.NO_HISTORY))
        else:
            histories.append(replace(imported, may_be_watchlist=False))
    if not histories:
        text = "“{name}” has no history in a known format; choose the CSV or JSON files in it one by one"
        raise HistoryError(text, name=name)
    return [*histories, ImportedFile(name, "ZIP", skipped=tuple(skipped))]


def _archive_files(name: str, data: bytes) -> Iterator[tuple[str, bytes | None]]:
    """Yield path and content of each file of an archive. The content is None unless the file is CSV or JSON."""
    if len(data) > MAX_FILE_BYTES:
        text = "“{name}” is larger than {megabytes} MB; choose the CSV files in it one by one"
        raise HistoryError(text, name=name, megabytes=MAX_FILE_BYTES >> 20)
    try:
        with zip_files.open_archive(io.BytesIO(data), MAX_UNCOMPRESSED_BYTES, _may_be_history) as archive:
            if "[Content_Types].xml" in archive.paths:
                text = "“{name}” is an office document; save the table as CSV and choose that file"
                raise HistoryError(text, name=name)
            for path in archive.paths:
                yield path, archive.read(path) if _may_be_history(path) else None
    except zip_files.ArchiveError as error:
        advice = N_("choose the CSV or JSON files in it one by one, or export it again")
        text = "“{name}” is not a valid ZIP file: {message}; {advice}"
        raise HistoryError(text, name=name, message=error.message, advice=Message(advice)) from error


def _may_be_history(path: str) -> bool:
    """Return whether a file of an archive is CSV or JSON."""
    file = PurePosixPath(path)
    return file.suffix.lower() in (".csv", ".json") and not file.name.startswith("._")  # ._: metadata of macOS


def _skip_reason(path: str) -> Reason | None:
    """Return the reason to skip a file of an archive, or None if it can be a history."""
    file = PurePosixPath(path.lower())
    if _SKIPPED_FOLDERS.intersection(file.parts[:-1]):
        return Reason.NO_HISTORY
    return Reason.UNWATCHED if file.stem == _WATCHLIST else None


def _read_file(name: str, data: bytes, answers: Answers) -> ImportedFile:
    """Read a file that is not an archive."""
    text, notes = csv_text.decode(name, data)
    start = text.lstrip()
    if start.startswith(("{", "[")):
        imported = json_files.read(name, text)
    elif start.startswith("<"):
        raise HistoryError("“{name}” is a web page, not a list of films; choose a CSV, JSON or ZIP file", name=name)
    elif _LETTERBOXD_LIST.match(start):
        raise HistoryError(
            "“{name}” is a list, not a diary; choose the ZIP from letterboxd.com/settings/data", name=name
        )
    else:
        imported = _read_csv(name, csv_text.parse_table(name, text), answers)
    return replace(imported, notes=(*notes, *imported.notes))


def _read_csv(name: str, table: CsvTable, answers: Answers) -> ImportedFile:
    """Read a CSV file in one of `formats.CSV_FORMATS` or in an unknown format."""
    file_format = formats.detect_format(table.names)
    if file_format is None:
        return _read_unknown(name, table, answers)
    if file_format.advice:
        raise HistoryError("“{name}” {advice}", name=name, advice=Message(file_format.advice))
    _check_single_user(name, table)
    imported = rows.convert_table(name, table, file_format, answers)
    if not file_format.may_be_watchlist:
        return imported
    is_named_watchlist = _WATCHLIST in name.lower()
    imported = replace(imported, may_be_watchlist=True, looks_like_watchlist=is_named_watchlist)
    is_watchlist = is_named_watchlist if answers.is_watchlist is None else answers.is_watchlist
    return _skip_unrated(imported) if is_watchlist else imported


def _skip_unrated(imported: ImportedFile) -> ImportedFile:
    """Skip the entries of a watchlist without a rating, because these films were not watched."""
    unwatched = [entry for entry in imported.entries if entry.rating is None]
    skipped = [SkippedLine(entry.file, entry.line, entry.name, Reason.UNWATCHED) for entry in unwatched]
    watched = tuple(entry for entry in imported.entries if entry.rating is not None)
    return replace(imported, entries=watched, skipped=(*imported.skipped, *skipped))


def _check_single_user(name: str, table: CsvTable) -> None:
    """Raise HistoryError for a ratings file with several users."""
    if "userid" in table.names:
        index = table.names.index("userid")
        n_users = len({cells[index] for _, cells in table.rows if index < len(cells)})
        if n_users > 1:
            text = "“{name}” has the ratings of {people:,} people; choose a file with the ratings of one person"
            raise HistoryError(text, name=name, people=n_users)


def _read_unknown(name: str, table: CsvTable, answers: Answers) -> ImportedFile:
    """Read a CSV file of unknown format by the columns that the visitor chose, or by guessed columns."""
    has_header = formats.is_header(table.names)
    if not has_header:  # the first line is data
        all_rows = [(table.header_line, table.header), *table.rows]
        table = CsvTable(("",) * len(table.header), all_rows, table.header_line)
    names = tuple(column or f"column {number}" for number, column in enumerate(table.names, 1))
    cell_rows = [cells for _, cells in table.rows]
    guess = formats.guess_columns(names, cell_rows)
    if not has_header and len(names) == 1:
        guess = replace(guess, title=names[0])
    question = ColumnQuestion(table.header, names, tuple(cell_rows[:SAMPLE_ROWS]), guess)
    columns = answers.columns or guess
    imported = ImportedFile(name, "")
    if columns.identifies_films:
        file_format = formats.FileFormat(title="", header="", columns=columns)
        imported = rows.convert_table(name, replace(table, header=names), file_format, answers)
    return replace(imported, column_question=question)
