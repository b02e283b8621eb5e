"""Read JSON exports of Trakt and NextReel."""

import json
from dataclasses import replace
from typing import Any

from recsys.data.history_import import rows
from recsys.data.history_import.entries import MAX_LINES, HistoryError, ImportedFile, Reason, SkippedLine
from recsys.data.history_import.formats import NEXTREEL_JSON, TRAKT_JSON
from recsys.data.titles import MAX_TITLE_LENGTH
from recsys.errors import N_, Message

_WORK_KEYS = ("movie", "show", "episode", "season")  # keys of the film or series that a record is about
_UNWATCHED_DATES = ("listed_at", "collected_at")  # of films in lists and collections, in place of a watch date
_ADVICE = N_("choose the ZIP or JSON file that Trakt or NextReel exports")


def read(name: str, text: str) -> ImportedFile:
    """Read a JSON file. Raises HistoryError if it has neither the format of Trakt nor of NextReel."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise HistoryError("“{name}” is not a valid JSON file; export it again", name=name) from error
    is_nextreel = isinstance(document, dict) and isinstance(document.get("watched"), list)
    records = document["watched"] if is_nextreel else document
    is_trakt = isinstance(document, list) and _is_trakt(document)
    if not (is_nextreel or is_trakt):
        raise HistoryError("“{name}” is not a watch history; {advice}", name=name, advice=Message(_ADVICE))
    if len(records) > MAX_LINES:
        raise HistoryError(
            "“{name}” has more than {max_lines:,} entries; choose a file that covers fewer years",
            name=name,
            max_lines=MAX_LINES,
        )
    return _nextreel(name, document) if is_nextreel else _trakt(name, records)


def _is_trakt(records: list[Any]) -> bool:
    """Return whether all records are objects, and at least one of them has a film or a series."""
    are_objects = all(isinstance(record, dict) for record in records)
    return are_objects and any(key in record for record in records for key in _WORK_KEYS)


def _objects(values: list[Any]) -> list[dict[str, Any]]:
    """Return the values that are JSON objects."""
    return [value for value in values if isinstance(value, dict)]


def _nextreel(name: str, document: dict[str, Any]) -> ImportedFile:
    """Read an export of NextReel. The movie ids of ML-100K are ignored, because other data sets have other ids."""
    file_format = NEXTREEL_JSON
    if document.get("dataset") == "ml-100k":
        file_format = replace(file_format, columns=replace(file_format.columns, movie_id=""))
    lines = [(number, _cells(record)) for number, record in enumerate(_objects(document["watched"]), 1)]
    return rows.convert_rows(name, lines, file_format)


def _trakt(name: str, records: list[dict[str, Any]]) -> ImportedFile:
    """Read an export of Trakt: history, ratings or watched films. Entries of lists and collections are skipped."""
    lines, skipped = [], []
    for number, record in enumerate(records, 1):
        movie = record.get("movie")
        if isinstance(movie, dict) and not any(date in record for date in _UNWATCHED_DATES):
            ids = movie["ids"] if isinstance(movie.get("ids"), dict) else {}
            watched = {"watched_at": record.get("watched_at") or record.get("last_watched_at")}
            # not all keys of `movie`, because `rating` can be the mean rating of all Trakt users in it
            name_and_year = {key: movie.get(key) for key in ("title", "year")}
            lines.append((number, _cells(record | name_and_year | ids | watched)))
        else:
            works = _objects([record.get(key) for key in _WORK_KEYS])
            title = _text(works[0].get("title"))[:MAX_TITLE_LENGTH] if works else ""
            if isinstance(movie, dict):  # in a list or a collection
                reason = Reason.UNWATCHED
            elif works:
                reason = Reason.SERIES
            else:
                reason = Reason.NAMELESS
            skipped.append(SkippedLine(name, number, title, reason))
    imported = rows.convert_rows(name, lines, TRAKT_JSON)
    return replace(imported, skipped=(*skipped, *imported.skipped))


def _cells(record: dict[str, Any]) -> rows.Row:
    """Return a row with the values of a JSON object as text."""
    return {name: _text(value) for name, value in record.items() if name}


def _text(value: Any) -> str:
    """Return strings and numbers as text, and "" for other values. Lone surrogates become "?"."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value).encode("utf-8", "replace").decode().strip()
