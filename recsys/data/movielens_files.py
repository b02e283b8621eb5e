"""Parsers of the four MovieLens file layouts, which read the files directly from their ZIP archive.

`::` (1M, 10M) · `|` and tabs (100K) · CSV (20M, 25M, 32M, latest) · the wheel recbole (100K, tabs).
Shapes: E ratings, F films, P users.
"""

import csv
import io
from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from recsys.data import columns, zip_files
from recsys.data.assemble import RawRatings
from recsys.data.dataset import AGES, MOVIE_COLUMNS, PEOPLE_COLUMNS, DataError
from recsys.data.tags import Tags
from recsys.data.titles import title_and_year
from recsys.data.zip_files import Archive, ArchiveError

MAX_BYTES = 4 << 30  # uncompressed; ML-32M needs 1 GB
MAX_RATING = 5  # stars
MAX_FLOAT32 = float(np.finfo(np.float32).max)
MAX_DIGITS = 18  # of an integer that fits int64
_NO_GENRE = {"(no genres listed)", "unknown", ""}
_GENRES_100K = (  # in the order of the flags in u.item
    *("unknown", "Action", "Adventure", "Animation", "Children's", "Comedy", "Crime", "Documentary", "Drama"),
    *("Fantasy", "Film-Noir", "Horror", "Musical", "Mystery", "Romance", "Sci-Fi", "Thriller", "War", "Western"),
)
_AGES_FROM = (18, 25, 35, 45, 50, 56)  # minimum age in years of each group of AGES after the first
_OCCUPATIONS_1M = (  # index: number in users.dat; names: README of ML-1M
    *("other", "academic/educator", "artist", "clerical/admin", "college/grad student", "customer service"),
    *("doctor/health care", "executive/managerial", "farmer", "homemaker", "K-12 student", "lawyer", "programmer"),
    *("retired", "sales/marketing", "scientist", "self-employed", "technician/engineer", "tradesman/craftsman"),
    *("unemployed", "writer"),
)

Ratings = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # (E,) users, movies, ratings, times
Parser = Callable[[Archive], RawRatings]
T = TypeVar("T")


@contextmanager
def opened(path: Path, title: str, verified: bool = False) -> Iterator[Archive]:
    """Open an archive of a published data set. Errors while it is read become a DataError that names the file.

    verified: the hash of the archive is known.
    """
    try:
        with path.open("rb") as file, zip_files.opened(file, MAX_BYTES, verified=verified) as archive:
            yield archive
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}; check the path") from error
    except (DataError, csv.Error) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        damaged = isinstance(error, ArchiveError | csv.Error)
        advice = "fetch it again" if damaged else "for data of your own there is: data add NAME --interactions FILE"
        raise DataError(f"{path.name} is not a sound archive of {title}: {reason}; {advice}") from error


def parse_dat(archive: Archive) -> RawRatings:
    """Parse `user::movie::rating::time` and `movie::title::genres` (1M, 10M).

    1M also has `user::gender::age::occupation::zip`, 10M `user::movie::tag::time`.
    """
    # The CSV reader of pandas is faster. With ":" as separator, "::" encloses an empty column.
    ratings = _ratings(archive, "ratings.dat", ":", (0, 2, 4, 6))

    def parse_film(line: str) -> tuple[int, str, str]:
        movie, _, rest = line.partition("::")
        title, _, genres = rest.rpartition("::")
        return _integer("movies.dat", movie), title, genres

    def parse_tag(line: str) -> tuple[int, str, int]:
        _, movie, rest = line.split("::", 2)
        text, _, time = rest.rpartition("::")
        return _integer("tags.dat", movie), text, _integer("tags.dat", time)

    def parse_profile(line: str) -> tuple[int, str, str, str]:
        user, gender, age, occupation, _ = line.split("::")
        return _profile("users.dat", user, gender, age, _occupation_1m(occupation))

    films = _films(_parse_lines(archive, "movies.dat", parse_film))
    tags = Tags.from_rows(_parse_lines(archive, "tags.dat", parse_tag, optional=True))
    profiles = _user_profiles(_parse_lines(archive, "users.dat", parse_profile, optional=True))
    return RawRatings(*ratings, tags.onto(films), tags, profiles)


def parse_100k(archive: Archive) -> RawRatings:
    """Parse `user⇥movie⇥rating⇥time` and `movie|title|release|video|address|19 genre flags` (100K).

    The third file is `user|age|gender|occupation|zip`.
    """

    def parse_film(line: str) -> tuple[int, str, str]:
        movie, title, _, _, _, *flags = line.split("|")
        genres = [genre for genre, flag in zip(_GENRES_100K, flags, strict=True) if flag == "1"]
        return _integer("u.item", movie), title, "|".join(genres)

    ratings, films = _ratings(archive, "u.data", "\t"), _parse_lines(archive, "u.item", parse_film)
    return RawRatings(*ratings, _films(films), user_profiles=_profiles_100k(archive, "u.user", "|"))


def parse_csv(archive: Archive) -> RawRatings:
    """Parse CSV files with headers (20M, 25M, 32M, latest): ratings and movies, and links and tags if present.

    Columns may be in any order, and genres may be missing.
    """
    ratings = _named_ratings(archive, "ratings.csv", ",")
    movies = _rows(archive, "movies.csv", ("movieId", "title", "genres"), ("genres",))
    films = [(_integer("movies.csv", movie), title, genres) for movie, title, genres in movies]
    tag_rows = _rows(archive, "tags.csv", ("movieId", "tag", "timestamp")) if "tags.csv" in archive else ()
    tags = Tags.from_rows(
        (_integer("tags.csv", movie), tag, _integer("tags.csv", time)) for movie, tag, time in tag_rows
    )
    names = ("movieId", "imdbId", "tmdbId")
    link_rows = _rows(archive, "links.csv", names, names[1:]) if "links.csv" in archive else ()
    links = {
        _integer("links.csv", movie): (imdb, _integer("links.csv", tmdb) if tmdb else None)
        for movie, imdb, tmdb in link_rows
    }
    return RawRatings(*ratings, tags.onto(_films(films, links)), tags)


def parse_recbole(archive: Archive) -> RawRatings:
    """Parse the wheel recbole 1.2.1: u.data with a header, and `movie⇥title⇥year⇥genres` with blanks between genres.

    The third file is u.user with a header and tabs. The result equals that of the official archive. Film 267 has the
    year "unkonwn" here, and no year in u.item.
    """

    def parse_film(line: str) -> tuple[int, str, str]:
        movie, title, year, genres = line.split("\t")
        title = "unknown" if year == "unkonwn" else f"{title} ({year})"
        return _integer("ml-100k.item", movie), title, genres.replace(" ", "|")

    ratings = _named_ratings(archive, "ml-100k.inter", "\t")
    films = _parse_lines(archive, "ml-100k.item", parse_film, skip=1)
    profiles = _profiles_100k(archive, "ml-100k.user", "\t", skip=1)
    return RawRatings(*ratings, _films(films), user_profiles=profiles)


def _parse_lines(
    archive: Archive, name: str, parse: Callable[[str], T], skip: int = 0, optional: bool = False
) -> list[T]:
    """Parse the lines of a member after the first `skip`. Raises ArchiveError for a line that `parse` cannot read."""
    parsed = []
    lines = archive.text(name).split("\n") if not optional or name in archive else []  # titles may hold U+2028
    for number, line in enumerate(lines, 1):
        if number > skip and line.strip():
            try:
                parsed.append(parse(line.rstrip("\r")))
            except ValueError as error:
                raise ArchiveError(f"line {number} of its {name} cannot be read") from error
    return parsed


def _rows(archive: Archive, name: str, wanted: Sequence[str], optional: Sequence[str] = ()) -> Iterator[list[str]]:
    """Yield the wanted columns of a CSV member, "" for missing optional ones.

    Raises DataError if another column is missing, and for a row of a different length than the header.
    """
    reader = csv.reader(io.StringIO(archive.text(name), newline=""))
    header = next(reader, [])
    names = [columns.normalise_name(column) for column in header]
    positions = {column: names.index(plain) for column in wanted if (plain := columns.normalise_name(column)) in names}
    if missing := sorted({*wanted} - {*positions, *optional}):
        raise DataError(f"the first row of its {name} names no {', '.join(missing)}")
    for row in reader:
        if row and len(row) != len(header):
            raise DataError(f"line {reader.line_num} of its {name} has {len(row)} columns, not {len(header)}")
        if row:
            yield [row[positions[column]] if column in positions else "" for column in wanted]


def _integer(name: str, cell: str) -> int:
    """Parse an id or a time. Raises DataError if it is no non-negative int64."""
    if not cell.strip().isdecimal() or len(cell.strip()) > MAX_DIGITS:
        raise DataError(f"{cell!r} in its {name} is no number, as MovieLens' ids are")
    return int(cell)


def _named_ratings(archive: Archive, name: str, separator: str) -> Ratings:
    """Read the ratings of a member by column names. Without a header the columns have the usual order."""
    with archive.stream(name) as file:
        lines = [file.readline().decode("utf-8", "replace").lstrip("\ufeff").strip() for _ in range(2)]
    rows = list(csv.reader([line for line in lines if line] or [""], delimiter=separator))
    if not columns.is_header(rows):
        return _ratings(archive, name, separator)
    column_of = {role: next(iter(columns.matching(rows[0], names)), None) for role, names in columns.ROLES.items()}
    if missing := [role for role, column in column_of.items() if column is None]:
        raise DataError(f"the first row of its {name} names no {', '.join(missing)}")
    return _ratings(archive, name, separator, [rows[0].index(str(column)) for column in column_of.values()], skip=1)


def _ratings(
    archive: Archive, name: str, separator: str, positions: Sequence[int] = (0, 1, 2, 3), skip: int = 0
) -> Ratings:
    """Read users, movies, ratings and times from the columns at these positions, as a stream."""
    options = {
        "sep": separator,
        "index_col": False,
        "names": range(max(*positions, 3) + 1),
        "usecols": positions,
        "header": None,
        "skiprows": skip,
    }
    try:
        with archive.stream(name) as file:
            types = dict(zip(positions, (np.int32, np.int32, np.float32, np.int64), strict=True))
            # On ML-20M as fast as pyarrow's reader, and available on every machine.
            with np.errstate(invalid="raise", over="raise"):  # 1e999 is no id
                table = pd.read_csv(file, dtype=types, **options)
        user, movie, rating, time = (table[position].to_numpy() for position in positions)
    except IndexError as error:  # pandas 3.1 raises it for an empty file if `usecols` is set
        raise DataError(f"its {name} holds no ratings") from error
    except (ValueError, ArithmeticError):  # large ids, dates as times, and malformed lines
        user, movie, rating, time = _text_ratings(archive, name, positions, options)
    if not np.isfinite(rating).all():
        raise DataError("a rating in it is missing")
    median_time = float(np.median(time)) if len(time) else 0.0
    ratings = (user, movie, rating, time) if median_time < 1e11 else _in_seconds(user, movie, rating, time)
    _check_ranges(name, ratings)
    return ratings


def _check_ranges(name: str, ratings: Ratings) -> None:
    """Raise DataError for negative ids, and for ratings and times out of range."""
    user, movie, rating, time = ratings
    checks = {
        "person's number": (user, user < 0),
        "film's number": (movie, movie < 0),
        f"rating from 0 to {MAX_RATING}": (rating, (rating < 0) | (rating > MAX_RATING)),
        "time since 1970": (time, (time < 0) | (time >= columns.MAX_TIME)),
    }
    for what, (values, is_wrong) in checks.items():
        if is_wrong.any():
            raise DataError(f"{values[is_wrong][0]} in its {name} is no {what}")


def _in_seconds(user: np.ndarray, movie: np.ndarray, rating: np.ndarray, time: np.ndarray) -> Ratings:
    """Convert times of finer units to seconds, after sorting by the finer time."""
    order = np.argsort(time, kind="stable")
    seconds, is_valid, _ = columns.parse_timestamps(pd.Series(time[order]))
    if not is_valid.all():
        raise DataError(f"{time[order][~is_valid][0]} in it is no time")
    return user[order], movie[order], rating[order], np.floor(seconds).astype(np.int64)


def _text_ratings(archive: Archive, name: str, positions: Sequence[int], options: dict[str, Any]) -> Ratings:
    """Read the ratings as text first: ids up to MAX_DIGITS digits, times in any format. Raises DataError."""
    try:
        with archive.stream(name) as file:
            table = pd.read_csv(file, dtype=str, keep_default_na=False, na_filter=False, **options).fillna("")
    except (ValueError, OverflowError) as error:
        raise ArchiveError(str(error).splitlines()[0]) from error
    user, movie, rating, time = (table[position].str.strip() for position in positions)
    for cells in (user, movie):
        if not (whole := cells.str.fullmatch(rf"\d{{1,{MAX_DIGITS}}}")).all():
            raise DataError(f"{cells[~whole].iloc[0]!r} in its {name} is no number, as MovieLens' ids are")
    seconds, is_valid, _ = columns.parse_timestamps(time)
    if not is_valid.all():
        raise DataError(f"{time[~is_valid].iloc[0]!r} in its {name} is no time")
    numbers = pd.to_numeric(rating, errors="coerce").clip(-MAX_FLOAT32, MAX_FLOAT32)  # more would overflow
    stars = numbers.to_numpy(np.float32, na_value=np.nan)
    return user.astype("int64").to_numpy(), movie.astype("int64").to_numpy(), stars, np.floor(seconds).astype(np.int64)


def _films(films: list[tuple[int, str, str]], links: dict[int, tuple[str, int | None]] | None = None) -> pd.DataFrame:
    """Make the film table (F, 7) without tags from (movie, raw title, raw genres) and movie → (IMDb, TMDB id)."""
    titles = [title_and_year(raw) for _, raw, _ in films]
    ids = [(links or {}).get(movie, ("", None)) for movie, _, _ in films]
    table = {
        "movie_id": pd.array([movie for movie, _, _ in films], dtype="int64"),
        "title": pd.array([title for title, _ in titles], dtype="str"),
        "year": pd.array([year for _, year in titles], dtype="Int64"),
        "genres": pd.array(["" if genres in _NO_GENRE else genres for _, _, genres in films], dtype="str"),
        "tags": pd.array([""] * len(films), dtype="str"),
        "imdb_id": [imdb_id(imdb) for imdb, _ in ids],
        "tmdb_id": pd.array([tmdb for _, tmdb in ids], dtype="Int64"),
    }
    return pd.DataFrame(table, columns=list(MOVIE_COLUMNS))


def imdb_id(text: str) -> str:
    """Normalise an IMDb id: "114709", "0114709" and "tt0114709" become "tt0114709", "" stays ""."""
    return f"tt{text.removeprefix('tt').zfill(7)}" if text else ""


def _profiles_100k(archive: Archive, name: str, separator: str, skip: int = 0) -> pd.DataFrame | None:
    """Read `user, age, gender, occupation, zip` as user profiles. The file may be missing."""

    def parse_profile(line: str) -> tuple[int, str, str, str]:
        user, age, gender, occupation, _ = line.split(separator)
        return _profile(name, user, gender, age, occupation)

    return _user_profiles(_parse_lines(archive, name, parse_profile, skip, optional=True))


def _profile(name: str, user: str, gender: str, age: str, occupation: str) -> tuple[int, str, str, str]:
    """Make one row of a profile table. Zip codes are not kept, because they could identify a user."""
    return _integer(name, user), gender, AGES[bisect(_AGES_FROM, int(age))], occupation


def _user_profiles(rows: list[tuple[int, str, str, str]]) -> pd.DataFrame | None:
    """Make the profile table (P, 3), indexed by user id. Return None without rows."""
    if not rows:
        return None
    return pd.DataFrame([row[1:] for row in rows], [row[0] for row in rows], list(PEOPLE_COLUMNS), "str")


def _occupation_1m(number: str) -> str:
    """Translate an occupation number of users.dat."""
    if int(number) not in range(len(_OCCUPATIONS_1M)):
        raise DataError(f"nobody knows what occupation {number} is")
    return _OCCUPATIONS_1M[int(number)]
