"""Parsers of four file layouts of MovieLens data sets. They read the files in a ZIP archive without unpacking it.

`parse_dat`: files with `::` (1M, 10M). `parse_100k`: files with `|` and tabs. `parse_csv`: 20M, 25M, 32M and latest.
`parse_recbole`: the files of 100K in the Python package recbole. Shapes: E ratings, F films, P user profiles.
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
from recsys.data.dataset import AGES, PROFILE_COLUMNS, DataError, film_table, read_errors
from recsys.data.tags import Tags
from recsys.data.titles import title_and_year
from recsys.data.zip_files import Archive, ArchiveError
from recsys.errors import Message, recsys_command

MAX_BYTES = 4 << 30  # of an archive after decompression; ML-32M has 1 GB
MAX_RATING = 5  # stars
MAX_FLOAT32 = float(np.finfo(np.float32).max)
MAX_DIGITS = 18  # of an integer, so that it fits int64
_NO_GENRE = {"(no genres listed)", "unknown", ""}  # texts in place of genres
_GENRES_100K = (  # in the order of the flags in u.item
    *("unknown", "Action", "Adventure", "Animation", "Children's", "Comedy", "Crime", "Documentary", "Drama"),
    *("Fantasy", "Film-Noir", "Horror", "Musical", "Mystery", "Romance", "Sci-Fi", "Thriller", "War", "Western"),
)
_PROFILE_FIELDS_100K = ("user", "age", "gender", "occupation", "zip")  # in the order of the file
_PROFILE_FIELDS_1M = ("user", "gender", "age", "occupation", "zip")
_MIN_AGES = (18, 25, 35, 45, 50, 56)  # in years, of each group of AGES after the youngest
_OCCUPATION_NAMES_1M = (  # by number, from the README of ML-1M
    *("other", "academic/educator", "artist", "clerical/admin", "college/grad student", "customer service"),
    *("doctor/health care", "executive/managerial", "farmer", "homemaker", "K-12 student", "lawyer", "programmer"),
    *("retired", "sales/marketing", "scientist", "self-employed", "technician/engineer", "tradesman/craftsman"),
    *("unemployed", "writer"),
)
_OCCUPATIONS_1M = {str(number): name for number, name in enumerate(_OCCUPATION_NAMES_1M)}

Ratings = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # (E,) users, movies, ratings, times
Parser = Callable[[Archive], RawRatings]
T = TypeVar("T")


@contextmanager
def open_archive(path: Path, title: str, is_verified: bool = False) -> Iterator[Archive]:
    """Open an archive. Errors in the block become a DataError that names the data set by `title`.

    If `is_verified`, the hash of the archive equals a published hash, so all compression methods are allowed.
    """
    with read_errors(path), path.open("rb") as file:
        try:
            with zip_files.open_archive(file, MAX_BYTES, is_verified=is_verified) as archive:
                yield archive
        except (DataError, csv.Error) as error:
            is_damaged = isinstance(error, ArchiveError | csv.Error)
            command = recsys_command("data", "add", "NAME", "--interactions", "FILE")
            advice = (
                Message("download it again")
                if is_damaged
                else Message("to add your own data, run: {command}", command=command)
            )
            text = "{name} is not a valid archive of {title}: {reason}; {advice}"
            raise DataError(text, name=path.name, title=title, reason=error, advice=advice) from error


def parse_dat(archive: Archive) -> RawRatings:
    """Parse `user::movie::rating::time` and `movie::title::genres` (1M, 10M).

    1M also has `user::gender::age::occupation::zip`, 10M `user::movie::tag::time`.
    """
    # Pandas is fastest with a separator of one character. With ":", columns 1, 3 and 5 are empty.
    ratings = _ratings(archive, "ratings.dat", ":", (0, 2, 4, 6))

    def parse_film(line: str) -> tuple[int, str, str]:
        movie, _, rest = line.partition("::")
        title, _, genres = rest.rpartition("::")
        return _integer("movies.dat", movie), title, genres

    def parse_tag(line: str) -> tuple[int, str, int]:
        _, movie, rest = line.split("::", 2)
        text, _, time = rest.rpartition("::")
        return _integer("tags.dat", movie), text, _integer("tags.dat", time)

    films = _films(_parse_lines(archive, "movies.dat", parse_film))
    tags = Tags.from_rows(_parse_lines(archive, "tags.dat", parse_tag) if "tags.dat" in archive else ())
    profiles = _user_profiles(archive, "users.dat", "::", _PROFILE_FIELDS_1M)
    if profiles is not None:
        profiles["occupation"] = profiles["occupation"].map(_occupation)
    return RawRatings(*ratings, tags.assign_to(films), tags, profiles)


def parse_100k(archive: Archive) -> RawRatings:
    """Parse the files of 100K.

    They have the lines `user⇥movie⇥rating⇥time`, `movie|title|release|video|address|19 genre flags` and
    `user|age|gender|occupation|zip`.
    """

    def parse_film(line: str) -> tuple[int, str, str]:
        movie, title, _, _, _, *flags = line.split("|")
        genres = [genre for genre, flag in zip(_GENRES_100K, flags, strict=True) if flag == "1"]
        return _integer("u.item", movie), title, "|".join(genres)

    ratings, films = _ratings(archive, "u.data", "\t"), _parse_lines(archive, "u.item", parse_film)
    profiles = _user_profiles(archive, "u.user", "|", _PROFILE_FIELDS_100K)
    return RawRatings(*ratings, _films(films), user_profiles=profiles)


def parse_csv(archive: Archive) -> RawRatings:
    """Parse CSV files with headers (20M, 25M, 32M, latest): ratings and movies, and links and tags if present.

    Columns may be in any order, and genres may be missing.
    """
    ratings = _named_ratings(archive, "ratings.csv", ",")
    film_rows = _rows(archive, "movies.csv", ("movieId", "title"), ("genres",))
    films = [(_integer("movies.csv", movie), title, genres) for movie, title, genres in film_rows]
    links: dict[int, tuple[str, int | None]] = {}
    if "links.csv" in archive:
        for movie, imdb, tmdb in _rows(archive, "links.csv", ("movieId",), ("imdbId", "tmdbId")):
            links[_integer("links.csv", movie)] = imdb, _integer("links.csv", tmdb) if tmdb else None
    rows = _rows(archive, "tags.csv", ("movieId", "tag", "timestamp")) if "tags.csv" in archive else iter(())
    tags = Tags.from_rows((_integer("tags.csv", movie), tag, _integer("tags.csv", time)) for movie, tag, time in rows)
    return RawRatings(*ratings, tags.assign_to(_films(films, links)), tags)


def parse_recbole(archive: Archive) -> RawRatings:
    """Parse the 100K files in the package recbole 1.2.1. The result equals the result of `parse_100k`.

    The files have headers and tabs. A film is `movie⇥title⇥year⇥genres`, with blanks between genres.
    """

    def parse_film(line: str) -> tuple[int, str, str]:
        movie, title, year, genres = line.split("\t")
        # film 267 has no year: its title in u.item is "unknown", and its year in this file is "unkonwn"
        title = "unknown" if year == "unkonwn" else f"{title} ({year})"
        return _integer("ml-100k.item", movie), title, genres.replace(" ", "|")

    ratings = _named_ratings(archive, "ml-100k.inter", "\t")
    films = _parse_lines(archive, "ml-100k.item", parse_film, skip=1)
    profiles = _user_profiles(archive, "ml-100k.user", "\t", _PROFILE_FIELDS_100K, skip=1)
    return RawRatings(*ratings, _films(films), user_profiles=profiles)


def _parse_lines(archive: Archive, name: str, parse: Callable[[str], T], skip: int = 0) -> list[T]:
    """Parse the lines of an archive member after the first `skip` lines. Raises ArchiveError for an unreadable line."""
    parsed = []
    for number, line in enumerate(archive.text(name).split("\n"), 1):  # not splitlines: titles may contain U+2028
        if number > skip and line.strip():
            try:
                parsed.append(parse(line.rstrip("\r")))
            except ValueError as error:
                raise ArchiveError("line {number} of its {name} cannot be read", number=number, name=name) from error
    return parsed


def _rows(archive: Archive, name: str, required: Sequence[str], optional: Sequence[str] = ()) -> Iterator[list[str]]:
    """Yield the cells of each row of a CSV member: the required, then the optional columns. A missing column gives "".

    Raises DataError if a required column is missing, and for a row of a different length than the header.
    """
    reader = csv.reader(io.StringIO(archive.text(name), newline=""))
    header = next(reader, [])
    header_names = [columns.normalise_name(cell) for cell in header]
    position_of = {}
    for column in (*required, *optional):
        normalised = columns.normalise_name(column)
        position_of[column] = header_names.index(normalised) if normalised in header_names else None
    if missing := sorted(column for column in required if position_of[column] is None):
        text = "the first row of its {name} lacks the columns {columns}"
        raise DataError(text, name=name, columns=", ".join(missing))
    for row in filter(None, reader):  # without blank lines
        if len(row) != len(header):
            text = "line {line_num} of its {name} has {n_columns} columns, not {expected}"
            raise DataError(text, line_num=reader.line_num, name=name, n_columns=len(row), expected=len(header))
        yield ["" if position is None else row[position] for position in position_of.values()]


def _integer(name: str, cell: str) -> int:
    """Parse an id or a time of the archive member `name`. Raises DataError unless it has 1 to MAX_DIGITS digits."""
    if not cell.strip().isdecimal() or len(cell.strip()) > MAX_DIGITS:
        raise DataError("{cell!r} in its {name} is not a number, but MovieLens IDs are numbers", cell=cell, name=name)
    return int(cell)


def _named_ratings(archive: Archive, name: str, separator: str) -> Ratings:
    """Read ratings by the names in the header. Without a header, the columns are user, movie, rating and time."""
    with archive.stream(name) as file:
        lines = [file.readline().decode("utf-8", "replace").lstrip("\ufeff").strip() for _ in range(2)]
    rows = list(csv.reader(filter(None, lines), delimiter=separator))
    if not rows or not columns.is_header(rows):
        return _ratings(archive, name, separator)
    header, roles = rows[0], ("user", "item", "rating", "time")
    matches = {role: columns.matching_names(header, columns.ROLES[role]) for role in roles}
    if missing := [role for role, names in matches.items() if not names]:
        text = "the first row of its {name} lacks the columns {columns}"
        raise DataError(text, name=name, columns=", ".join(missing))
    positions = [header.index(names[0]) for names in matches.values()]
    return _ratings(archive, name, separator, positions, skip=1)


def _ratings(
    archive: Archive, name: str, separator: str, positions: Sequence[int] = (0, 1, 2, 3), skip: int = 0
) -> Ratings:
    """Return the `Ratings` in the columns at these positions. Raises DataError for invalid values."""
    options: dict[str, Any] = {"sep": separator, "index_col": False, "header": None, "skiprows": skip}
    names = range(max(*positions, 3) + 1)  # columns are named by position, and a file has at least four
    options |= {"names": names, "usecols": positions}
    dtypes = dict(zip(positions, (np.int32, np.int32, np.float32, np.int64), strict=True))
    try:
        with archive.stream(name) as file, np.errstate(invalid="raise", over="raise"):  # for an id such as 1e999
            table = pd.read_csv(file, dtype=dtypes, **options)  # on ML-20M as fast as the reader of pyarrow
        user, movie, rating, time = (table[position].to_numpy() for position in positions)
    except IndexError as error:  # pandas 3.1 raises it for an empty file if `usecols` is set
        raise DataError("its {name} has no ratings", name=name) from error
    except (ValueError, ArithmeticError):  # large ids, dates in place of times, or malformed lines
        user, movie, rating, time = _text_ratings(archive, name, positions, options)
    if not np.isfinite(rating).all():
        raise DataError("a rating in it is missing")
    if len(time) and np.median(time) >= 1e11:  # in milliseconds or finer, because 1e11 seconds are the year 5138
        # sort before the times are rounded to seconds, so that ratings of one second have the order of the finer times
        order = np.argsort(time, kind="stable")
        time = _seconds(name, pd.Series(time[order]))
        user, movie, rating = user[order], movie[order], rating[order]
    checks = {  # expected content → (values, whether each is invalid)
        Message("person's number"): (user, user < 0),
        Message("film's number"): (movie, movie < 0),
        Message("rating from 0 to {best:g}", best=MAX_RATING): (rating, (rating < 0) | (rating > MAX_RATING)),
        Message("time since 1970"): (time, (time < 0) | (time >= columns.MAX_TIME)),
    }
    for kind, (values, is_invalid) in checks.items():
        if is_invalid.any():
            raise DataError("{value} in its {name} is not a {kind}", value=values[is_invalid][0], name=name, kind=kind)
    return user, movie, rating, time


def _text_ratings(archive: Archive, name: str, positions: Sequence[int], options: dict[str, Any]) -> Ratings:
    """Return ratings with large ids, or with times in any format. Slower than `_ratings`. Raises DataError."""
    try:
        with archive.stream(name) as file:
            table = pd.read_csv(file, dtype=str, keep_default_na=False, na_filter=False, **options).fillna("")
    except (ValueError, OverflowError) as error:
        raise ArchiveError(Message.literal(str(error).splitlines()[0])) from error
    user, movie, rating, time = (table[position].str.strip() for position in positions)
    for cells in (user, movie):
        is_id = cells.str.fullmatch(rf"\d{{1,{MAX_DIGITS}}}")
        if not is_id.all():
            text = "{cell!r} in its {name} is not a number, but MovieLens IDs are numbers"
            raise DataError(text, cell=cells[~is_id].iloc[0], name=name)
    numbers = pd.to_numeric(rating, errors="coerce").clip(-MAX_FLOAT32, MAX_FLOAT32)  # larger values would overflow
    stars = numbers.to_numpy(np.float32, na_value=np.nan)
    return user.astype("int64").to_numpy(), movie.astype("int64").to_numpy(), stars, _seconds(name, time)


def _seconds(name: str, time: pd.Series) -> np.ndarray:
    """Parse times in any format as whole seconds since 1970. Raises DataError if one is invalid."""
    seconds, is_valid, _ = columns.parse_timestamps(time)
    if not is_valid.all():
        raise DataError("{value!r} in its {name} is not a valid time", value=time[~is_valid].iloc[0], name=name)
    return np.floor(seconds).astype(np.int64)


def _films(films: list[tuple[int, str, str]], links: dict[int, tuple[str, int | None]] | None = None) -> pd.DataFrame:
    """Return the film table (F, 7) of (movie id, title, genres), without tags.

    `links` is movie id → (IMDb id, TMDB id).
    """
    rows = []
    for movie, raw_title, genres in films:
        title, year = title_and_year(raw_title)
        imdb, tmdb = (links or {}).get(movie, ("", None))
        rows.append((movie, title, year, "" if genres in _NO_GENRE else genres, "", imdb_id(imdb), tmdb))
    return film_table(rows)


def imdb_id(text: str) -> str:
    """Return an IMDb id with prefix and at least seven digits: "114709" → "tt0114709". An empty id stays empty."""
    return f"tt{text.removeprefix('tt').zfill(7)}" if text else ""


def _user_profiles(
    archive: Archive, name: str, separator: str, fields: Sequence[str], skip: int = 0
) -> pd.DataFrame | None:
    """Return user profiles (P, 3), by user id, or None if the archive member `name` is missing or empty.

    `fields` are the names of the columns in file order. The zip code is not read, because it could identify a user.
    """

    def parse_profile(line: str) -> tuple[int, str, str, str]:
        cells = dict(zip(fields, line.split(separator), strict=True))
        age = AGES[bisect(_MIN_AGES, int(cells["age"]))]
        return _integer(name, cells["user"]), cells["gender"], age, cells["occupation"]

    rows = _parse_lines(archive, name, parse_profile, skip) if name in archive else []
    if not rows:
        return None
    return pd.DataFrame([row[1:] for row in rows], [row[0] for row in rows], list(PROFILE_COLUMNS), "str")


def _occupation(number: str) -> str:
    """Return the name of an occupation of ML-1M. Raises DataError for an unknown number."""
    if number not in _OCCUPATIONS_1M:
        raise DataError("there is no occupation {number}", number=number)
    return _OCCUPATIONS_1M[number]
