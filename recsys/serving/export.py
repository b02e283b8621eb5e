"""A watch sequence and its predictions as files that other programs open."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from recsys.data.schema import Catalog
from recsys.serving.recommend import Recommendation

FILM = ("title", "year", "genres", "movie_id", "imdb_id", "tmdb_id")
LETTERBOXD = {
    "tmdbID": "tmdb_id",
    "imdbID": "imdb_id",
    "Title": "title",
    "Year": "year",
}  # letterboxd.com/about/importing-data
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet may run a cell that begins so


def films_csv(catalog: Catalog, items: Sequence[int]) -> str:
    """The sequence for a spreadsheet, oldest first."""
    rows = [{"place": place, **film} for place, film in enumerate(_films(catalog, items), start=1)]
    return _csv(("place", *FILM), rows)


def predictions_csv(catalog: Catalog, picks: Sequence[Recommendation]) -> str:
    """The predictions for a spreadsheet, best first; the probability is empty where the model has none."""
    return _csv(("rank", "probability", *FILM), _predictions(catalog, picks))


def as_json(
    dataset: str, recommender: str, catalog: Catalog, items: Sequence[int], picks: Sequence[Recommendation]
) -> str:
    """Both for programs, and where they come from."""
    document = {
        "dataset": dataset,
        "recommender": recommender,
        "watched": _films(catalog, items),
        "next": _predictions(catalog, picks),
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def letterboxd(catalog: Catalog, items: Sequence[int]) -> str:
    """The sequence as Letterboxd imports it; without dates or ratings, which a sequence has not."""
    rows = [{column: film[name] for column, name in LETTERBOXD.items()} for film in _films(catalog, items)]
    return _csv(tuple(LETTERBOXD), rows)


def for_spreadsheet(text: str) -> bytes:
    """The text of a file as bytes that Excel, too, reads as UTF-8."""
    return text.encode("utf-8-sig")


def _films(catalog: Catalog, items: Sequence[int]) -> list[dict[str, Any]]:
    """What the catalogue knows of each film; None where it knows nothing."""
    rows = catalog.movies.iloc[list(items)][list(FILM)].to_dict("records")
    return [{name: _known(value) for name, value in row.items()} for row in rows]


def _known(value: Any) -> Any:
    """The value as plain Python, None for one that is missing."""
    if isinstance(value, str):
        return value or None
    return int(value) if value == value and value is not None else None  # NaN and NA differ from themselves


def _predictions(catalog: Catalog, picks: Sequence[Recommendation]) -> list[dict[str, Any]]:
    films = _films(catalog, [catalog.item_of[pick.movie_id] for pick in picks])
    told = [{name: asdict(pick)[name] for name in ("rank", "probability", "score")} for pick in picks]
    return [about | film for about, film in zip(told, films, strict=True)]


def _csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """A table with a header; other keys of the rows are left out."""
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows({name: harmless(value) for name, value in row.items()} for row in rows)
    return file.getvalue()


def harmless(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula (OWASP: CSV injection): an apostrophe makes it text."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
