"""Read JSON exports of Trakt and NextReel."""

import json
from dataclasses import replace
from datetime import datetime
from typing import Any

from recsys.data.history_import import rows
from recsys.data.history_import.entries import MAX_LINES, Columns, HistoryError, Imported, Reason, Skipped
from recsys.data.titles import MAX_LENGTH
from recsys.errors import N_, Message

TRAKT = Columns(
    title="title",
    year="year",
    watched="watched_at",
    logged="rated_at",
    rating="rating",
    scale=10,
    imdb_id="imdb",
    tmdb_id="tmdb",
    times="plays",
)
NEXTREEL = Columns(
    title="title",
    year="year",
    watched="watched",
    logged="logged",
    rating="rating",
    scale=5,
    imdb_id="imdb_id",
    tmdb_id="tmdb_id",
    movie_id="movie_id",
    times="times",
)
_SERIES_KEYS = ("show", "episode", "season")
_UNWATCHED_DATES = ("listed_at", "collected_at")  # of films in lists and collections, in place of a watch date
_ADVICE = N_("choose the ZIP or JSON file that Trakt or NextReel exports")


def read(name: str, text: str, now: datetime | None = None) -> Imported:
    """Read a JSON file. Raises HistoryError if it is of no known format."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise HistoryError("“{name}” is not a sound JSON file; export it again", name=name) from error
    if isinstance(document, dict) and isinstance(document.get("watched"), list):
        return _nextreel(name, document, now)
    if isinstance(document, list) and all(isinstance(record, dict) for record in document):
        return _trakt(name, document, now)
    raise HistoryError("“{name}” is not a watch history; {advice}", name=name, advice=Message(_ADVICE))


def _nextreel(name: str, document: dict[str, Any], now: datetime | None) -> Imported:
    """Read an export of NextReel. The film ids of ML-100K are ignored, because other data sets use other ids."""
    records = [record for record in document["watched"] if isinstance(record, dict)]
    _check_size(name, records)
    columns = replace(NEXTREEL, movie_id="") if document.get("dataset") == "ml-100k" else NEXTREEL
    lines = [(number, _cells(record)) for number, record in enumerate(records, 1)]
    return rows.convert_rows(name, lines, "films of NextReel", columns, now=now)


def _trakt(name: str, records: list[dict[str, Any]], now: datetime | None) -> Imported:
    """Read an export of Trakt: history, ratings or watched films. Entries of lists and collections are skipped."""
    _check_size(name, records)
    if not any("movie" in record or any(key in record for key in _SERIES_KEYS) for record in records):
        raise HistoryError("“{name}” is not a watch history; {advice}", name=name, advice=Message(_ADVICE))
    lines, skipped = [], []
    for number, record in enumerate(records, 1):
        movie = record.get("movie")
        if isinstance(movie, dict) and not any(date in record for date in _UNWATCHED_DATES):
            ids = movie["ids"] if isinstance(movie.get("ids"), dict) else {}
            watched = {"watched_at": record.get("watched_at") or record.get("last_watched_at")}
            lines.append((number, _cells(record | movie | ids | watched)))
        else:
            works = [record[key] for key in ("movie", *_SERIES_KEYS) if isinstance(record.get(key), dict)]
            title = _text(works[0].get("title"))[:MAX_LENGTH] if works else ""
            reason = Reason.SERIES if works else Reason.NAMELESS
            if isinstance(movie, dict):  # in a list or a collection
                reason = Reason.WANTED
            skipped.append(Skipped(name, number, title, reason))
    imported = rows.convert_rows(name, lines, "Trakt", TRAKT, now=now)
    return replace(imported, skipped=(*skipped, *imported.skipped))


def _check_size(name: str, records: list[dict[str, Any]]) -> None:
    """Raise HistoryError if a file has too many entries."""
    if len(records) > MAX_LINES:
        raise HistoryError(
            "“{name}” has more than {max_lines:,} entries; choose a file with fewer years",
            name=name,
            max_lines=MAX_LINES,
        )


def _cells(record: dict[str, Any]) -> rows.Row:
    """Convert the values of an entry to text."""
    return {str(name): _text(value) for name, value in record.items()}


def _text(value: Any) -> str:
    """Return text and numbers as text, and "" for other values. Lone surrogates become "?"."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value).encode("utf-8", "replace").decode().strip()
