"""Export a watch list and its recommendations to files, and make links to film sites."""

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
LETTERBOXD_COLUMNS = {  # column of Letterboxd → column in FILM_COLUMNS; letterboxd.com/about/importing-data
    "tmdbID": "tmdb_id",
    "imdbID": "imdb_id",
    "Title": "title",
    "Year": "year",
}
_FORMULA_SIGNS = "=+\\-@|%＝＋－＠｜％﹦﹢﹣﹫−"  # first characters of formulas and commands, with full-width forms
_INVISIBLE = (  # characters that some programs remove, so a text that begins with them can become a formula
    r"\0-\x08\x0b-\x20\x7f-\xa0\xad\u200b-\u200f\u2028-\u202f\u2060-\u206f\u3000\ufeff"
)
# matches the positions of inserted apostrophes: at the beginning of a text that begins with a formula, tab, line break
# or NUL, and before a formula that follows a semicolon or tab
_APOSTROPHE_POSITION = re.compile(
    rf"\A(?=[\t\r\n\0]|[{_INVISIBLE}\t\n]*[{_FORMULA_SIGNS}])|(?<=[;\t])(?=[{_INVISIBLE}]*[{_FORMULA_SIGNS}])"
)
_CARRIAGE_RETURN_OR_NUL = re.compile(r"\r\n?|\0")
_IMDB_ID = re.compile(r"tt\d{1,12}")


def as_record(recommendation: Recommendation) -> dict[str, Any]:
    """Return a recommendation as a dictionary: rank, movie_id, title, year, genres, score, probability."""
    return {
        "rank": recommendation.rank,
        **recommendation.film._asdict(),
        "score": recommendation.score,
        "probability": recommendation.probability,
    }


def films_csv(catalog: Catalog, films: Sequence[int]) -> str:
    """Return a watch list as CSV. `films` are film numbers, oldest first."""
    rows = [{"position": position, **record} for position, record in enumerate(film_records(catalog, films), start=1)]
    return _csv(("position", *FILM_COLUMNS), rows)


def recommendations_csv(catalog: Catalog, recommendations: Sequence[Recommendation]) -> str:
    """Return recommendations as CSV, best first. Probabilities are empty if the model has none."""
    return _csv(("rank", "probability", *FILM_COLUMNS), _recommendation_records(catalog, recommendations))


def lists_json(
    dataset_name: str,
    recommender_title: str,
    catalog: Catalog,
    films: Sequence[int],
    recommendations: Sequence[Recommendation],
    other_lists: Mapping[str, Sequence[int]] | None = None,
) -> str:
    """Return a watch list (`films`), recommendations and other lists (name → film numbers) as JSON.

    Empty other lists are omitted.
    """
    document = {
        "dataset": dataset_name,
        "recommender": recommender_title,
        "watched": film_records(catalog, films),
        "next": _recommendation_records(catalog, recommendations),
    }
    document |= {name: film_records(catalog, numbers) for name, numbers in (other_lists or {}).items() if numbers}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def letterboxd_csv(catalog: Catalog, films: Sequence[int]) -> str:
    """Return a watch list, as in `films_csv`, in the import format of Letterboxd, without dates and ratings."""
    records = film_records(catalog, films)
    rows = [{column: record[name] for column, name in LETTERBOXD_COLUMNS.items()} for record in records]
    return _csv(tuple(LETTERBOXD_COLUMNS), rows)


def spreadsheet_bytes(text: str) -> bytes:
    """Encode a text as UTF-8 with a byte order mark, without which Excel assumes another encoding."""
    return text.encode("utf-8-sig")


def escape_formula(value: Any) -> Any:
    """Return a text with an apostrophe before each formula, so that spreadsheets do not execute it.

    Some spreadsheets begin a new cell after a semicolon or tab, so a formula after these characters is escaped, too.
    Carriage returns, which can also begin a cell, and NUL become line feeds. Other values are returned unchanged.

    Reference: OWASP, CSV injection.
    """
    if not isinstance(value, str):
        return value
    return _CARRIAGE_RETURN_OR_NUL.sub("\n", _APOSTROPHE_POSITION.sub("'", value))


def escape_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a copy of a table with `escape_formula` applied to cells, index, column names and axis names."""
    escaped = table.copy()
    for column, dtype in enumerate(table.dtypes):
        if not (is_numeric_dtype(dtype) or is_bool_dtype(dtype)):
            escaped.isetitem(column, table.iloc[:, column].astype(object).map(escape_formula))
    escaped = escaped.rename(index=escape_formula, columns=escape_formula)
    return escaped.rename_axis(index=escape_formula, columns=escape_formula)


def film_records(catalog: Catalog, films: Sequence[int]) -> list[dict[str, Any]]:
    """Return a dictionary with FILM_COLUMNS for each film number. Values are str or int, None if missing."""
    has_infrequent = max(films, default=0) >= len(catalog)
    movies = catalog.complete.movies if has_infrequent else catalog.movies  # `complete` copies the table at first use
    rows = movies.iloc[list(films)][list(FILM_COLUMNS)].astype(object).replace({"": None, pd.NA: None})
    return [
        record | {"title": catalog.films[film].title, "year": catalog.films[film].year}
        for film, record in zip(films, rows.to_dict("records"), strict=True)
    ]


def film_links(catalog: Catalog, item: int) -> dict[str, str]:
    """Return the URLs of an item on film sites, {"IMDb": …, "TMDB": …}. A missing or invalid id has no URL."""
    links = {}
    imdb_id, tmdb_id = (catalog.movies[column].iloc[item] for column in ("imdb_id", "tmdb_id"))
    if _IMDB_ID.fullmatch(str(imdb_id)):
        links["IMDb"] = f"https://www.imdb.com/title/{imdb_id}/"
    if not pd.isna(tmdb_id) and tmdb_id > 0:
        links["TMDB"] = f"https://www.themoviedb.org/movie/{int(tmdb_id)}"
    return links


def _recommendation_records(catalog: Catalog, recommendations: Sequence[Recommendation]) -> list[dict[str, Any]]:
    """Return rank, probability, score and FILM_COLUMNS of each recommendation."""
    records = film_records(catalog, [recommendation.item for recommendation in recommendations])
    return [
        {"rank": row.rank, "probability": row.probability, "score": row.score, **record}
        for row, record in zip(recommendations, records, strict=True)
    ]


def _csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return a CSV text with a header and escaped formulas. Keys of the rows that are not in `columns` are ignored."""
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows({name: escape_formula(value) for name, value in row.items()} for row in rows)
    return file.getvalue()
