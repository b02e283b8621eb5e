"""The export formats of other services and of NextReel. A CSV file is recognised by its header, not by its name.

The headers are from test files of other importers (Yamtrack, flickpick) and from the sites of the services.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from recsys.data.history_import.entries import Columns
from recsys.errors import N_


@dataclass(frozen=True)
class FileFormat:
    """The format of a service for one kind of file."""

    title: str  # shown to the visitor
    header: str  # required column names of a CSV file, in lower case, separated by commas; "" for JSON
    columns: Columns
    may_be_watchlist: bool = False  # whether watchlists have the same format
    is_exact: bool = False  # whether a CSV file must have no other columns
    advice: str = ""  # why the format is not a watch history, and what the visitor can do; "" for a watch history
    has_episodes: bool = False  # whether a title can be an episode: "Show: Season 1: Episode"

    def matches(self, names: set[str]) -> bool:
        """Return whether a CSV file with these column names has this format."""
        required = set(self.header.split(","))
        return required == names if self.is_exact else required <= names


_LETTERBOXD_HEADER = "date,name,year,letterboxd uri"
_LETTERBOXD_COLUMNS = Columns(title="name", year="year", log_date="date", page="letterboxd uri")
_LETTERBOXD_IMPORT_COLUMNS = Columns(
    title="title", year="year", imdb_id="imdbid", tmdb_id="tmdbid", watch_date="watcheddate", rewatch="rewatch"
)
_IMDB_COLUMNS = Columns(
    title="title",
    original_title="original title",
    year="year",
    log_date="date rated",
    rating="your rating",
    scale=10,
    imdb_id="const",
    kind="title type",
)
_NETFLIX_COLUMNS = Columns(title="title", watch_date="date")
_NEXTREEL_HEADER = "title,year,genres,movie_id,imdb_id,tmdb_id"
_NEXTREEL_COLUMNS = Columns(title="title", year="year", imdb_id="imdb_id", tmdb_id="tmdb_id", movie_id="movie_id")

CSV_FORMATS = (  # the first format with a matching header is used
    FileFormat(
        N_("Letterboxd diary"),
        f"{_LETTERBOXD_HEADER},rewatch,watched date",
        # `page` is "", because the web page of a diary entry is not the page of the film
        replace(_LETTERBOXD_COLUMNS, watch_date="watched date", rating="rating", rewatch="rewatch", page=""),
    ),
    FileFormat(N_("Letterboxd ratings"), f"{_LETTERBOXD_HEADER},rating", replace(_LETTERBOXD_COLUMNS, rating="rating")),
    FileFormat(N_("Letterboxd films"), _LETTERBOXD_HEADER, _LETTERBOXD_COLUMNS, may_be_watchlist=True),
    FileFormat(N_("IMDb list"), "position,const,title,title type", _IMDB_COLUMNS, may_be_watchlist=True),
    FileFormat(N_("IMDb ratings"), "const,your rating,title", _IMDB_COLUMNS),
    FileFormat(N_("Netflix history"), "title,date", _NETFLIX_COLUMNS, is_exact=True, has_episodes=True),
    FileFormat(
        N_("MovieLens ratings"),
        "movie_id,imdb_id,tmdb_id,rating,title",
        Columns(title="title", rating="rating", imdb_id="imdb_id", tmdb_id="tmdb_id", movie_id="movie_id"),
    ),
    FileFormat(
        N_("MovieLens ratings"),
        "userid,movieid,rating,timestamp",
        Columns(movie_id="movieid", rating="rating", watch_date="timestamp"),
    ),
    FileFormat(
        "predictions of NextReel",
        f"rank,probability,{_NEXTREEL_HEADER}",
        _NEXTREEL_COLUMNS,
        advice=N_("contains recommended films, not watched films; choose the file with your films, CSV or JSON"),
    ),
    FileFormat(N_("NextReel films"), f"position,{_NEXTREEL_HEADER}", _NEXTREEL_COLUMNS),
    # files that other programs write so that Letterboxd can import them
    FileFormat(
        N_("Letterboxd import"), "title,rating10", replace(_LETTERBOXD_IMPORT_COLUMNS, rating="rating10", scale=10)
    ),
    *(
        FileFormat(N_("Letterboxd import"), f"title,{column}", replace(_LETTERBOXD_IMPORT_COLUMNS, rating="rating"))
        for column in ("tmdbid", "imdbid", "watcheddate")
    ),
)
NEXTREEL_JSON = FileFormat(
    "NextReel films",
    "",
    replace(_NEXTREEL_COLUMNS, watch_date="watched", log_date="logged", rating="rating", n_viewings="times"),
)
TRAKT_JSON = FileFormat(
    "Trakt",
    "",
    Columns(
        title="title",
        year="year",
        watch_date="watched_at",
        log_date="rated_at",
        rating="rating",
        scale=10,
        imdb_id="imdb",
        tmdb_id="tmdb",
        n_viewings="plays",
    ),
)
USUAL_NAMES = {  # field of `Columns` → usual column names, separated by commas, for files in unknown formats
    "title": "title,name,film,movie,titel,titre,título,titulo,titolo,film title,titles,films,movies,назва,фільм,фільми",
    "year": "year,release year,jahr,année,annee,año,anno,ano,released",
    "watch_date": "watched date,date watched,watched,watched at,watched_at,date,datum,fecha,data",
    "rating": "rating,my rating,your rating,score,stars,bewertung,note,nota,rating10",
    "imdb_id": "imdb,imdb id,imdb_id,imdbid,const,tconst",
    "tmdb_id": "tmdb,tmdb id,tmdb_id,tmdbid",
    "movie_id": "movie_id,movieid",
    "kind": "title type,media type,media_type,mediatype,type,kind",
}
_NUMBER = re.compile(r"^\d+(?:[.,]\d+)?$")
# cells that are not column names: a number, a date, an ID of IMDb, stars, or a title with a year
_DATA_CELL = re.compile(r"\d+(?:[.,]\d+)?|\d+[-./]\d+[-./]\d+.*|tt\d+|★+½?|½|.*\(\d{4}\)")


def detect_format(names: Sequence[str]) -> FileFormat | None:
    """Return the CSV format with this header, or None if it is unknown."""
    used_names = set(names) - {""}
    return next((file_format for file_format in CSV_FORMATS if file_format.matches(used_names)), None)


def is_header(names: Sequence[str]) -> bool:
    """Return whether the first line of a file of unknown format has column names, and not the first film.

    A single cell that is not a usual name counts as a title. The visitor sees a title that is not in the data set, but
    would not notice a film that was read as a column name.
    """
    usual_names = {name for usual in USUAL_NAMES.values() for name in usual.split(",")}
    if usual_names.intersection(names):
        return True
    return len(names) > 1 and not any(map(_DATA_CELL.fullmatch, names))


def guess_columns(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Columns:
    """Guess the columns of an unknown format by usual names. The rating scale is inferred from the largest rating."""
    name_of: dict[str, Any] = {}  # field of `Columns` → column name
    for column_field, usual_names in USUAL_NAMES.items():
        if matching := [name for name in usual_names.split(",") if name in names]:
            name_of[column_field] = matching[0]
    columns = Columns(**name_of)
    if not columns.rating:
        return columns
    index = list(names).index(columns.rating)
    cells = [row[index].strip() for row in rows if index < len(row)]
    highest_rating = max((float(cell.replace(",", ".")) for cell in cells if _NUMBER.match(cell)), default=0.0)
    return replace(columns, scale=next((scale for scale in (5, 10) if highest_rating <= scale), 100))
