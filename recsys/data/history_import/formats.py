"""The formats of known services. A CSV file is recognised by its header, not by its name.

The headers are from test files of other importers (Yamtrack, flickpick) and from the sites of the services.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from recsys.data.history_import.entries import Columns
from recsys.errors import N_


@dataclass(frozen=True)
class Source:
    """A format."""

    title: str
    header: str  # column names in lower case that a CSV file must have, separated by commas
    columns: Columns
    may_be_watchlist: bool = False
    exact: bool = False  # whether the header may have no other columns
    advice: str = ""  # why the format is not a watch history, and what the user can do; "" for a watch history
    episodes: bool = False  # whether the file can have episodes, with titles such as "Show: Season 1: Episode"

    def matches(self, names: set[str]) -> bool:
        """Return whether a CSV file with these column names has this format."""
        required = set(self.header.split(","))
        return required == names if self.exact else required <= names


_LETTERBOXD = "date,name,year,letterboxd uri"
_LETTERBOXD_FILMS = Columns(title="name", year="year", logged="date", page="letterboxd uri")
_LETTERBOXD_IMPORT = Columns(
    title="title", year="year", imdb_id="imdbid", tmdb_id="tmdbid", watched="watcheddate", rewatch="rewatch"
)
_IMDB = Columns(
    title="title",
    original="original title",
    year="year",
    logged="date rated",
    rating="your rating",
    scale=10,
    imdb_id="const",
    kind="title type",
)
_NEXTREEL = "title,year,genres,movie_id,imdb_id,tmdb_id"
_NEXTREEL_COLUMNS = Columns(title="title", year="year", imdb_id="imdb_id", tmdb_id="tmdb_id", movie_id="movie_id")

CSV_SOURCES = (  # the first one with a matching header is used
    Source(
        N_("Letterboxd diary"),
        f"{_LETTERBOXD},rewatch,watched date",
        Columns(title="name", year="year", watched="watched date", logged="date", rating="rating", rewatch="rewatch"),
    ),
    Source(N_("Letterboxd ratings"), f"{_LETTERBOXD},rating", replace(_LETTERBOXD_FILMS, rating="rating")),
    Source(N_("Letterboxd films"), _LETTERBOXD, _LETTERBOXD_FILMS, may_be_watchlist=True),
    Source(N_("IMDb list"), "position,const,title,title type", _IMDB, may_be_watchlist=True),
    Source(N_("IMDb ratings"), "const,your rating,title", _IMDB),
    Source(N_("Netflix history"), "title,date", Columns(title="title", watched="date"), exact=True, episodes=True),
    Source(
        N_("MovieLens ratings"),
        "movie_id,imdb_id,tmdb_id,rating,title",
        replace(_NEXTREEL_COLUMNS, year="", rating="rating"),
    ),
    Source(
        N_("MovieLens ratings"),
        "userid,movieid,rating,timestamp",
        Columns(movie_id="movieid", rating="rating", watched="timestamp"),
    ),
    Source(
        "predictions of NextReel",
        f"rank,probability,{_NEXTREEL}",
        _NEXTREEL_COLUMNS,
        advice=N_("has recommended films, not watched films; choose the file with your films, CSV or JSON"),
    ),
    Source(N_("films of NextReel"), f"position,{_NEXTREEL}", _NEXTREEL_COLUMNS),
    Source(N_("Letterboxd import"), "title,rating10", replace(_LETTERBOXD_IMPORT, rating="rating10", scale=10)),
    *(
        Source(N_("Letterboxd import"), f"title,{column}", replace(_LETTERBOXD_IMPORT, rating="rating"))
        for column in ("tmdbid", "imdbid", "watcheddate")
    ),
)
NEXTREEL_JSON = Source(
    "films of NextReel",
    "",
    replace(_NEXTREEL_COLUMNS, watched="watched", logged="logged", rating="rating", times="times"),
)
TRAKT_JSON = Source(
    "Trakt",
    "",
    Columns(
        title="title",
        year="year",
        watched="watched_at",
        logged="rated_at",
        rating="rating",
        scale=10,
        imdb_id="imdb",
        tmdb_id="tmdb",
        times="plays",
    ),
)
ROLES = {  # field of `Columns` → usual column names, separated by commas, for files in unknown formats
    "title": "title,name,film,movie,titel,titre,título,titulo,titolo,film title",
    "year": "year,release year,jahr,année,annee,año,anno,ano,released",
    "watched": "watched date,date watched,watched,watched at,watched_at,date,datum,fecha,data",
    "rating": "rating,my rating,your rating,score,stars,bewertung,note,nota,rating10",
    "imdb_id": "imdb,imdb id,imdb_id,imdbid,const,tconst",
    "tmdb_id": "tmdb,tmdb id,tmdb_id,tmdbid",
    "movie_id": "movie_id,movieid",
}
_NUMBER = re.compile(r"^\d+(?:[.,]\d+)?$")


def detect_format(names: Sequence[str]) -> Source | None:
    """Return the CSV format with this header, or None if it is unknown."""
    return next((source for source in CSV_SOURCES if source.matches({name for name in names if name})), None)


def guess_columns(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Columns:
    """Guess the columns of an unknown format by usual names. The rating scale is inferred from the largest rating."""
    roles = {role: next((word for word in words.split(",") if word in names), "") for role, words in ROLES.items()}
    columns = Columns(**roles)  # type: ignore[arg-type]
    if not columns.rating:
        return columns
    index = list(names).index(columns.rating)
    cells = [row[index].strip() for row in rows if index < len(row)]
    highest_rating = max((float(cell.replace(",", ".")) for cell in cells if _NUMBER.match(cell)), default=0.0)
    return replace(columns, scale=next((scale for scale in (5, 10) if highest_rating <= scale), 100))
