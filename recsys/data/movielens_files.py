"""The four file layouts in which MovieLens comes, read straight out of their zip archives; nothing is unpacked to disk.

`::` (1M, 10M) · `|` and tabs (100K) · CSV (20M, 25M, 32M, latest) · the wheel recbole (100K, tabs).
E ratings, F films, P people.
"""

import csv
import io
from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from recsys.data import columns, zip_files
from recsys.data.dataset import AGES, MOVIE_COLUMNS, PEOPLE_COLUMNS, DataError
from recsys.data.tags import Tags
from recsys.data.text_encoding import NoTextError, decode_text
from recsys.data.titles import title_and_year

LARGEST = 4 << 30  # bytes that an archive may unpack to; ML-32M needs 1 GB
BEST = 5  # stars
_UNSOUND = (DataError, csv.Error, *zip_files.UNSOUND)
_NO_GENRE = {"(no genres listed)", "unknown", ""}
_GENRES_100K = (  # the flags of u.item, in order, as u.genre lists them
    *("unknown", "Action", "Adventure", "Animation", "Children's", "Comedy", "Crime", "Documentary", "Drama"),
    *("Fantasy", "Film-Noir", "Horror", "Musical", "Mystery", "Romance", "Sci-Fi", "Thriller", "War", "Western"),
)
_AGES_FROM = (18, 25, 35, 45, 50, 56)  # years from which each of AGES but the first begins; 1M writes these, 100K any
_OCCUPATIONS_1M = (  # the numbers of users.dat in words, as the README of ML-1M has them
    *("other", "academic/educator", "artist", "clerical/admin", "college/grad student", "customer service"),
    *("doctor/health care", "executive/managerial", "farmer", "homemaker", "K-12 student", "lawyer", "programmer"),
    *("retired", "sales/marketing", "scientist", "self-employed", "technician/engineer", "tradesman/craftsman"),
    *("unemployed", "writer"),
)

MAX_FLOAT32 = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class RawRatings:
    """A data set as its files have it: ratings in file order, films in any order."""

    user: np.ndarray  # (E,) int32, original ids; int64 where they need it
    movie: np.ndarray  # (E,) likewise
    rating: np.ndarray  # (E,) float32
    timestamp: np.ndarray  # (E,) int64, seconds since 1970
    films: pd.DataFrame  # (F, 7) with MOVIE_COLUMNS, rated or not
    tags: Tags = field(default_factory=Tags)  # of those films
    user_profiles: pd.DataFrame | None = None  # (P, 3) PEOPLE_COLUMNS by original id; None: not described

    def reordered(self, order: np.ndarray) -> "RawRatings":
        """The same ratings in another order, given as (E,) rows."""
        parts = (self.user[order], self.movie[order], self.rating[order], self.timestamp[order])
        return RawRatings(*parts, self.films, self.tags, self.user_profiles)


class Archive:
    """The files of an archive by their last name, whatever the folder in it is called."""

    def __init__(self, archive: zip_files.Archive) -> None:
        self._archive = archive
        self._path = {path.rpartition("/")[2]: path for path in reversed(archive.paths)}

    def __contains__(self, name: str) -> bool:
        return name in self._path

    def open(self, name: str) -> IO[bytes]:
        """A member as a stream; raises DataError when there is none."""
        return self._archive.stream(self._found(name))

    def text(self, name: str) -> str:
        """A whole member. The newer sets are UTF-8, 100K and 1M Latin-1."""
        try:
            return decode_text(self._archive.read(self._found(name)))[0]
        except NoTextError as error:
            raise DataError(f"its {name} {error.message}") from error

    def _found(self, name: str) -> str:
        if name not in self:
            raise DataError(f"it holds no {name}")
        return self._path[name]


@contextmanager
def opened(path: Path, title: str, verified: bool = False) -> Iterator[Archive]:
    """The archive at `path`; whatever is wrong with it comes out as a DataError of one line that names the file.

    verified: its hash is a known one.
    """
    try:
        with path.open("rb") as file, zip_files.opened(file, LARGEST, verified=verified) as archive:
            yield Archive(archive)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}; check the path") from error
    except _UNSOUND as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        damaged = isinstance(error, zip_files.ArchiveError) or not isinstance(error, DataError)
        advice = "fetch it again" if damaged else "for data of your own there is: data add NAME --interactions FILE"
        raise DataError(f"{path.name} is not a sound archive of {title}: {reason}; {advice}") from error


def parse_dat(archive: Archive) -> RawRatings:
    """`user::movie::rating::time` and `movie::title::genres` (1M, 10M).

    1M has `user::gender::age::occupation::zip` as well, 10M `user::movie::tag::time`.
    """
    # A plain CSV reader can do it: with ":" as separator, "::" has an empty column in its middle.
    ratings = _ratings(archive, "ratings.dat", ":", (0, 2, 4, 6))
    films = []
    for line in _lines(archive, "movies.dat"):
        movie, _, rest = line.partition("::")
        title, _, genres = rest.rpartition("::")
        films.append((int(movie), title, genres))
    given = []
    for line in _lines(archive, "tags.dat") if "tags.dat" in archive else ():
        _, movie, rest = line.split("::", 2)
        tag, _, time = rest.rpartition("::")
        given.append((int(movie), tag, int(time)))
    tags = Tags.of(given)
    people = []
    for line in _lines(archive, "users.dat") if "users.dat" in archive else ():
        user, gender, age, occupation, _ = line.split("::")
        people.append((user, age, gender, _occupation_1m(occupation)))
    return RawRatings(*ratings, tags.onto(_films(films)), tags, _people(people))


def parse_100k(archive: Archive) -> RawRatings:
    """`user⇥movie⇥rating⇥time` and `movie|title|release|video|address|19 genre flags` (100K).

    The third file is `user|age|gender|occupation|zip`.
    """
    ratings = _ratings(archive, "u.data", "\t")
    films = []
    for line in _lines(archive, "u.item"):
        movie, title, _, _, _, *flags = line.split("|")
        genres = [genre for genre, flag in zip(_GENRES_100K, flags, strict=True) if flag == "1"]
        films.append((int(movie), title, "|".join(genres)))
    people = [line.split("|")[:-1] for line in _lines(archive, "u.user")] if "u.user" in archive else []
    return RawRatings(*ratings, _films(films), user_profiles=_people(people))


def parse_csv(archive: Archive) -> RawRatings:
    """CSV with headers (20M, 25M, 32M, latest): ratings and movies; links and tags where there are any.

    Headers are read, so columns may stand in any order, and genres may be missing.
    """
    ratings = _ratings_with_names(archive, "ratings.csv", ",")
    movies = _rows(archive, "movies.csv", ("movieId", "title", "genres"), ("genres",))
    films = [(_whole("movies.csv", movie), title, genres) for movie, title, genres in movies]
    given = _rows(archive, "tags.csv", ("movieId", "tag", "timestamp")) if "tags.csv" in archive else ()
    tags = Tags.of((_whole("tags.csv", movie), tag, int(time)) for movie, tag, time in given)
    named = ("movieId", "imdbId", "tmdbId")
    known = _rows(archive, "links.csv", named, named[1:]) if "links.csv" in archive else ()
    links = {_whole("links.csv", movie): (imdb, tmdb) for movie, imdb, tmdb in known}
    return RawRatings(*ratings, tags.onto(_films(films, links)), tags)


def parse_recbole(archive: Archive) -> RawRatings:
    """The wheel recbole 1.2.1: u.data under a header, and `movie⇥title⇥year⇥genres` with blanks between the genres.

    The third file is u.user under a header, with tabs. Made to agree with u.item: film 267, "unkonwn" of the year
    "unkonwn", is u.item's "unknown", which has no year.
    """
    ratings = _ratings_with_names(archive, "ml-100k.inter", "\t")
    films = []
    for line in _lines(archive, "ml-100k.item")[1:]:
        movie, title, year, genres = line.split("\t")
        whole = "unknown" if year == "unkonwn" else f"{title} ({year})"
        films.append((int(movie), whole, genres.replace(" ", "|")))
    name = "ml-100k.user"
    people = [line.split("\t")[:-1] for line in _lines(archive, name)[1:]] if name in archive else []
    return RawRatings(*ratings, _films(films), user_profiles=_people(people))


Parser = Callable[[Archive], RawRatings]


def _lines(archive: Archive, name: str) -> list[str]:
    """The lines of a member; split at line feeds alone, since titles may hold Unicode's other line separators."""
    return [line.rstrip("\r") for line in archive.text(name).split("\n") if line.strip()]


def _rows(archive: Archive, name: str, wanted: Sequence[str], may_lack: Sequence[str] = ()) -> Iterator[list[str]]:
    """The wanted columns of a CSV member, in that order, "" for those of `may_lack` that it has not.

    Raises DataError where another is missing, and for a row of another length than the header's.
    """
    reader = csv.reader(io.StringIO(archive.text(name), newline=""))
    header = next(reader, [])
    places = [_place(header, column) for column in wanted]
    lost = {column for column, place in zip(wanted, places, strict=True) if place is None} - set(may_lack)
    if lost:
        raise DataError(f"the first row of its {name} names no {', '.join(sorted(lost))}")
    for row in reader:
        if row and len(row) != len(header):
            raise DataError(f"line {reader.line_num} of its {name} has {len(row)} columns, not {len(header)}")
        if row:
            yield ["" if place is None else row[place] for place in places]


def _place(header: Sequence[str], column: str) -> int | None:
    """Where a column stands, whatever the case of its name."""
    names = [columns.normalise_name(name) for name in header]
    return names.index(columns.normalise_name(column)) if columns.normalise_name(column) in names else None


def _whole(name: str, cell: str) -> int:
    """The number of a film; DataError where it is none."""
    if not cell.strip().isdecimal():
        raise DataError(f"{cell!r} in its {name} is no number, as MovieLens' ids are")
    return int(cell)


Ratings = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _ratings_with_names(archive: Archive, name: str, separator: str) -> Ratings:
    """(E,) users, movies, ratings and times of a member: its columns by their names, or in this order without any."""
    with archive.open(name) as file:
        head = [file.readline().decode("utf-8", "replace").lstrip("\ufeff").strip() for _ in range(2)]
    first, *below = csv.reader([line for line in head if line] or [""], delimiter=separator)
    if not columns.is_header([first, *below]):
        return _ratings(archive, name, separator)
    found = {role: columns.named(first, known) for role, known in columns.ROLES.items()}
    if missing := [role for role, column in found.items() if column is None]:
        raise DataError(f"the first row of its {name} names no {', '.join(missing)}")
    return _ratings(archive, name, separator, [first.index(str(column)) for column in found.values()], skip=1)


def _ratings(
    archive: Archive, name: str, separator: str, places: Sequence[int] = (0, 1, 2, 3), skip: int = 0
) -> Ratings:
    """(E,) users, movies, ratings and times of a member, which is read as a stream: the columns at those places."""
    how = {
        "sep": separator,
        "index_col": False,
        "names": range(max(*places, 3) + 1),
        "usecols": places,
        "header": None,
        "skiprows": skip,
    }
    try:
        with archive.open(name) as file:
            kinds = dict(zip(places, (np.int32, np.int32, np.float32, np.int64), strict=True))
            # On ML-20M as fast as pyarrow's reader, and available on every machine.
            with np.errstate(invalid="raise", over="raise"):  # 1e999 is no id
                table = pd.read_csv(file, dtype=kinds, **how)
        user, movie, rating, time = (table[place].to_numpy() for place in places)
    except IndexError as error:  # pandas 3.1, where there is no line and some columns are wanted
        raise DataError(f"its {name} holds no ratings") from error
    except (ValueError, ArithmeticError):  # large ids, times that are dates, and what is malformed
        user, movie, rating, time = _ratings_from_text(archive, name, places, how)
    if not np.isfinite(rating).all():
        raise DataError("a rating in it is missing")
    finest = float(np.median(time)) if len(time) else 0.0
    found = (user, movie, rating, time) if finest < 1e11 else _in_seconds(user, movie, rating, time)
    _refuse_nonsense(name, found)
    return found


def _refuse_nonsense(name: str, ratings: Ratings) -> None:
    """DataError for what no set of MovieLens holds."""
    user, movie, rating, time = ratings
    wrong = {
        "person's number": (user, user < 0),
        "film's number": (movie, movie < 0),
        f"rating from 0 to {BEST}": (rating, (rating < 0) | (rating > BEST)),
        "time since 1970": (time, (time < 0) | (time >= columns.LATEST)),
    }
    for what, (found, bad) in wrong.items():
        if bad.any():
            raise DataError(f"{found[bad][0]} in its {name} is no {what}")


def _in_seconds(user: np.ndarray, movie: np.ndarray, rating: np.ndarray, time: np.ndarray) -> Ratings:
    """Ratings whose times are finer: in their order, which whole seconds would lose."""
    order = np.argsort(time, kind="stable")
    found, known, _ = columns.parse_timestamps(pd.Series(time[order]))
    if not known.all():
        raise DataError(f"{time[order][~known][0]} in it is no time")
    return user[order], movie[order], rating[order], np.floor(found).astype(np.int64)


def _ratings_from_text(archive: Archive, name: str, places: Sequence[int], how: dict[str, Any]) -> Ratings:
    """The same, read as text: ids up to 2^63, times as dates too. DataError that names what is neither."""
    with archive.open(name) as file:
        table = pd.read_csv(file, dtype=str, keep_default_na=False, na_filter=False, **how).fillna("")
    user, movie, rating, time = (table[place].str.strip() for place in places)
    for cells in (user, movie):
        if not (whole := cells.str.fullmatch(r"\d{1,18}")).all():
            raise DataError(f"{cells[~whole].iloc[0]!r} in its {name} is no number, as MovieLens' ids are")
    found, known, _ = columns.parse_timestamps(time)
    if not known.all():
        raise DataError(f"{time[~known].iloc[0]!r} in its {name} is no time")
    numbers = pd.to_numeric(rating, errors="coerce").clip(-MAX_FLOAT32, MAX_FLOAT32)  # more would overflow
    stars = numbers.to_numpy(np.float32, na_value=np.nan)
    return user.astype("int64").to_numpy(), movie.astype("int64").to_numpy(), stars, np.floor(found).astype(np.int64)


def _films(films: list[tuple[int, str, str]], links: dict[int, tuple[str, str]] | None = None) -> pd.DataFrame:
    """(F, 7) the film table without tags, from (movie, raw title, raw genres) and movie → (IMDb, TMDB) ids."""
    table = pd.DataFrame(films, columns=["movie_id", "raw", "genres"])
    titles = [title_and_year(raw) for raw in table["raw"]]
    linked = [(links or {}).get(movie, ("", "")) for movie, _, _ in films]
    table["title"] = [title for title, _ in titles]
    table["year"] = pd.array([year for _, year in titles], dtype="Int64")
    table["genres"] = ["" if genres in _NO_GENRE else genres for genres in table["genres"]]
    table["tags"] = ""
    table["imdb_id"] = [imdb_id(imdb) for imdb, _ in linked]
    table["tmdb_id"] = pd.array([int(tmdb) if tmdb else None for _, tmdb in linked], dtype="Int64")
    return table[list(MOVIE_COLUMNS)].astype({"movie_id": "int64", "title": "str", "genres": "str", "tags": "str"})


def imdb_id(text: str) -> str:
    """ "tt0114709" of "114709", "0114709" or itself; "" of ""."""
    return f"tt{text.removeprefix('tt').zfill(7)}" if text else ""


def _people(people: Sequence[Sequence[str]]) -> pd.DataFrame | None:
    """(P, 3) by id, from (user, years, gender, occupation), all as text; None where there is nobody.

    Zip codes, which with the rest would point at single people, are not kept.
    """
    if not people:
        return None
    rows = [(gender, AGES[bisect(_AGES_FROM, int(years))], occupation) for _, years, gender, occupation in people]
    return pd.DataFrame(rows, [int(user) for user, *_ in people], list(PEOPLE_COLUMNS), "str")


def _occupation_1m(number: str) -> str:
    """A number of users.dat in words."""
    if int(number) not in range(len(_OCCUPATIONS_1M)):
        raise DataError(f"nobody knows what occupation {number} is")
    return _OCCUPATIONS_1M[int(number)]
