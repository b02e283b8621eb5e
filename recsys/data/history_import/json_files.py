"""JSON files: what Trakt exports, and what NextReel does. Each becomes lines with named cells, as a CSV has them."""

import json
from dataclasses import replace
from datetime import datetime
from typing import Any

from recsys.data.history_import import rows
from recsys.data.history_import.entries import MOST_LINES, Columns, HistoryError, Imported, Reason, Skipped
from recsys.data.titles import MAX_LENGTH

TRAKT = Columns(
    title="title",
    year="year",
    imdb_id="imdb",
    tmdb_id="tmdb",
    watched="watched_at",
    logged="rated_at",
    rating="rating",
    scale=10,
    times="plays",
)
OURS = Columns(
    title="title",
    year="year",
    imdb_id="imdb_id",
    tmdb_id="tmdb_id",
    movie_id="movie_id",
    watched="watched",
    logged="logged",
    rating="rating",
    times="times",
)
_SHOWS = ("show", "episode", "season")
_WANTED = ("listed_at", "collected_at")
_UNLIKE = "bring the ZIP or JSON that Trakt or NextReel exports"


def read(name: str, text: str, now: datetime | None = None) -> Imported:
    """The entries of a JSON file; raises HistoryError for one that is neither Trakt's nor ours."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise HistoryError(f"“{name}” is not a sound JSON file; export it again") from error
    if isinstance(document, dict) and isinstance(document.get("watched"), list):
        return _ours(name, document, now)
    if isinstance(document, list) and all(isinstance(one, dict) for one in document):
        return _trakt(name, document, now)
    raise HistoryError(f"“{name}” is no history of films; {_UNLIKE}")


def _ours(name: str, document: dict[str, Any], now: datetime | None) -> Imported:
    """What the Share menu writes; the numbers of ML-100K are its own, so titles have to do there."""
    films = [one for one in document["watched"] if isinstance(one, dict)]
    _bounded(name, films)
    columns = replace(OURS, movie_id="") if document.get("dataset") == "ml-100k" else OURS
    lines = [(number, _cells(one)) for number, one in enumerate(films, 1)]
    return rows.of_rows(name, lines, "films of NextReel", columns, now=now)


def _trakt(name: str, records: list[dict[str, Any]], now: datetime | None) -> Imported:
    """History, ratings or watched films; lists and collections are told apart by their dates."""
    _bounded(name, records)
    if not any("movie" in one or any(kind in one for kind in _SHOWS) for one in records):
        raise HistoryError(f"“{name}” is no history of films; {_UNLIKE}")
    lines, skipped = [], []
    for number, one in enumerate(records, 1):
        movie = one.get("movie")
        if isinstance(movie, dict) and not any(date in one for date in _WANTED):
            lines.append((number, _cells(one | movie | _ids(movie)) | {"watched_at": _text(_watched(one))}))
        else:
            reason = Reason.WANTED if isinstance(movie, dict) else Reason.SERIES if _is_show(one) else Reason.NAMELESS
            skipped.append(Skipped(name, number, _title(one), reason))
    made = rows.of_rows(name, lines, "Trakt", TRAKT, now=now)
    return replace(made, skipped=(*skipped, *made.skipped))


def _bounded(name: str, records: list[dict[str, Any]]) -> None:
    if len(records) > MOST_LINES:
        raise HistoryError(f"“{name}” has more than {MOST_LINES:,} entries; bring the years that count")


def _watched(one: dict[str, Any]) -> Any:
    return one.get("watched_at") or one.get("last_watched_at")


def _ids(movie: dict[str, Any]) -> dict[str, Any]:
    ids = movie.get("ids")
    return ids if isinstance(ids, dict) else {}


def _is_show(one: dict[str, Any]) -> bool:
    return any(isinstance(one.get(kind), dict) for kind in _SHOWS)


def _title(one: dict[str, Any]) -> str:
    """What a record that is no film is called: "Show", or nothing."""
    found: dict[str, Any] = next((one[kind] for kind in ("movie", *_SHOWS) if isinstance(one.get(kind), dict)), {})
    return _text(found.get("title"))[:MAX_LENGTH]


def _cells(record: dict[str, Any]) -> rows.Row:
    return {str(name): _text(value) for name, value in record.items()}


def _text(value: Any) -> str:
    """Text and numbers as text; lists, dicts and nothing as "". Halves of letters, which JSON can spell, become "?"."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value).encode("utf-8", "replace").decode().strip()
