"""A watch sequence and its recommendations as files that other programs open.

Links to a film's pages elsewhere, from the ids that its data set has.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from recsys.data.dataset import Catalog
from recsys.serving.recommend import Recommendation

FILM_COLUMNS = ("title", "year", "genres", "movie_id", "imdb_id", "tmdb_id")
LETTERBOXD = {
    "tmdbID": "tmdb_id",
    "imdbID": "imdb_id",
    "Title": "title",
    "Year": "year",
}  # letterboxd.com/about/importing-data
_SIGNS = "=+\\-@|%＝＋－＠｜％﹦﹢﹣﹫−"  # with which a formula or a command may begin, in all their widths
_UNSEEN = (
    r"\0-\x08\x0b-\x20\x7f-\xa0\xad\u200b-\u200f\u2028-\u202f\u2060-\u206f\u3000\ufeff"  # some programs drop these
)
_FORMULA = re.compile(rf"\A(?=[\t\r\n\0]|[{_UNSEEN}\t\n]*[{_SIGNS}])|(?<=[;\t])(?=[{_UNSEEN}]*[{_SIGNS}])")
_BREAK = re.compile(r"\r\n?|\0")


def as_record(recommendation: Recommendation) -> dict[str, Any]:
    """A recommendation as plain values: rank, movie_id, title, year, genres, score, probability."""
    film = recommendation.film._asdict()
    return {
        "rank": recommendation.rank,
        **film,
        "score": recommendation.score,
        "probability": recommendation.probability,
    }


def films_csv(catalog: Catalog, items: Sequence[int]) -> str:
    """The sequence for a spreadsheet, oldest first."""
    rows = [{"position": position, **film} for position, film in enumerate(_film_records(catalog, items), start=1)]
    return _csv(("position", *FILM_COLUMNS), rows)


def predictions_csv(catalog: Catalog, picks: Sequence[Recommendation]) -> str:
    """The recommendations for a spreadsheet, best first; the probability is empty where the model has none."""
    return _csv(("rank", "probability", *FILM_COLUMNS), _predictions(catalog, picks))


def as_json(
    dataset: str, recommender: str, catalog: Catalog, items: Sequence[int], picks: Sequence[Recommendation]
) -> str:
    """The sequence and the recommendations for programs, with the names of data set and recommender."""
    document = {
        "dataset": dataset,
        "recommender": recommender,
        "watched": _film_records(catalog, items),
        "next": _predictions(catalog, picks),
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def letterboxd_csv(catalog: Catalog, items: Sequence[int]) -> str:
    """The sequence as Letterboxd imports it; without dates and ratings, as a sequence has none."""
    rows = [{column: film[name] for column, name in LETTERBOXD.items()} for film in _film_records(catalog, items)]
    return _csv(tuple(LETTERBOXD), rows)


def spreadsheet_bytes(text: str) -> bytes:
    """The text of a file as bytes that Excel, too, reads as UTF-8."""
    return text.encode("utf-8-sig")


def escape_formula(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula (OWASP, CSV injection): an apostrophe makes it text.

    The beginning alone is not enough: some spreadsheets begin a new cell after a semicolon, a tab or a carriage return.
    """
    return _BREAK.sub("\n", _FORMULA.sub("'", value)) if isinstance(value, str) else value


def escape_table(table: pd.DataFrame) -> pd.DataFrame:
    """A copy of a table whose cells, index, column names and their headings are all `harmless`."""
    safe = table.copy()
    for number, dtype in enumerate(table.dtypes):
        if not (is_numeric_dtype(dtype) or is_bool_dtype(dtype)):
            safe.isetitem(number, table.iloc[:, number].astype(object).map(escape_formula))
    return safe.rename(index=escape_formula, columns=escape_formula).rename_axis(
        index=escape_formula, columns=escape_formula
    )


def _film_records(catalog: Catalog, items: Sequence[int]) -> list[dict[str, Any]]:
    """What the catalogue knows of each film; None where it knows nothing."""
    known = catalog.movies if max(items, default=0) < len(catalog) else catalog.complete.movies
    rows = known.iloc[list(items)][list(FILM_COLUMNS)].to_dict("records")
    return [{name: _plain_value(value) for name, value in row.items()} for row in rows]


def _plain_value(value: Any) -> Any:
    """The value as plain Python, None for one that is missing."""
    if isinstance(value, str):
        return value or None
    return None if pd.isna(value) else int(value)


def _predictions(catalog: Catalog, picks: Sequence[Recommendation]) -> list[dict[str, Any]]:
    """Rank, probability and score of each recommendation, and what the catalogue knows of its film."""
    return [
        {"rank": pick.rank, "probability": pick.probability, "score": pick.score, **film}
        for pick, film in zip(picks, _film_records(catalog, [pick.item for pick in picks]), strict=True)
    ]


def _csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """A table with a header; other keys of the rows are left out."""
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows({name: escape_formula(value) for name, value in row.items()} for row in rows)
    return file.getvalue()


_IMDB_ID = re.compile(r"tt\d{1,12}")


def film_links(catalog: Catalog, item: int) -> dict[str, str]:
    """{"IMDb": address, "TMDB": address}, as far as the ids are known and look like ids."""
    found = {}
    imdb, tmdb = (catalog.movies[column].iloc[item] for column in ("imdb_id", "tmdb_id"))
    if _IMDB_ID.fullmatch(str(imdb)):
        found["IMDb"] = f"https://www.imdb.com/title/{imdb}/"
    if not pd.isna(tmdb) and tmdb > 0:
        found["TMDB"] = f"https://www.themoviedb.org/movie/{int(tmdb)}"
    return found
