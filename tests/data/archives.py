"""One small world in every layout in which MovieLens comes.

Five users rate six films; film 60 has four ratings, film 70 none. User 2's first ratings share a time. Person 6 is
described, but rates nothing.
"""

import io
import zipfile
from pathlib import Path

FILMS = [  # id, title as MovieLens writes it, genres
    (10, "Toy Story (1995)", ["Animation", "Children's", "Comedy"]),
    (20, "Matrix, The (1999)", ["Action", "Sci-Fi"]),
    (30, "Misérables, Les (1995)", ["Drama"]),
    (40, "Twelve Monkeys (a.k.a. 12 Monkeys) (1995)", ["Sci-Fi"]),
    (50, "City of Lost Children, The (Cité des enfants perdus, La) (1995)", ["Adventure"]),
    (60, "Too Few (1990)", ["War"]),
    (70, "Never Seen (1980)", []),
]
_TIMES = {
    1: [5, 4, 3, 2, 1, 6],
    2: [7, 7, 7, 8, 9],
    3: [3, 1, 4, 1, 5, 9],
    4: [1, 2, 3, 4, 5, 6],
    5: [6, 5, 4, 3, 2, 2],
}
_SEEN = {1: [10, 20, 30, 40, 50, 60], 2: [50, 30, 40, 10, 20], 3: [20, 10, 30, 40, 50, 60]}
_SEEN |= {4: [10, 20, 30, 40, 50, 60], 5: [30, 20, 10, 40, 50, 60]}
RATINGS = [  # user, film, rating, time; users out of order, as in u.data
    (user, film, 1 + (user + film // 10) % 5, 1_000_000_000 + time)
    for user in (3, 1, 2, 5, 4)
    for film, time in zip(_SEEN[user], _TIMES[user], strict=True)
]
HISTORIES = {  # what must come out: by time, ties in file order, film 60 left out
    1: [50, 40, 30, 20, 10],
    2: [50, 30, 40, 10, 20],
    3: [10, 40, 20, 30, 50],
    4: [10, 20, 30, 40, 50],
    5: [50, 40, 10, 20, 30],
}
TITLES = [
    "Toy Story",
    "The Matrix",
    "Les Misérables",
    "Twelve Monkeys (a.k.a. 12 Monkeys)",
    "The City of Lost Children (Cité des enfants perdus, La)",
]
PEOPLE = [  # id, age, gender, occupation as 100K has it, its number in 1M; out of order
    (3, 44, "F", "other", 0),
    (1, 17, "M", "lawyer", 11),
    (2, 18, "F", "none", 19),
    (6, 30, "M", "artist", 2),
    (5, 56, "M", "writer", 20),
    (4, 49, "F", "scientist", 15),
]
AGES = ["Under 18", "18-24", "35-44", "45-49", "56+"]  # of users 1 to 5
_CODES_1M = {17: 1, 18: 18, 44: 35, 30: 25, 56: 56, 49: 45}  # age → what 1M writes for its group
_FLAGS = (
    "unknown|Action|Adventure|Animation|Children's|Comedy|Crime|Documentary|Drama|Fantasy|Film-Noir|Horror|Musical|"
)
_FLAGS += "Mystery|Romance|Sci-Fi|Thriller|War|Western"


def double_colon(encoding: str = "latin-1", tags: bool = False) -> dict[str, bytes]:
    """ml-1m's files; with tags, ml-10m's."""
    files = {
        "ml-1m/ratings.dat": _lines("::", RATINGS),
        "ml-1m/movies.dat": _lines(
            "::", [(film, title, "|".join(genres) or "(no genres listed)") for film, title, genres in FILMS]
        ),
    }
    if not tags:
        people = [(user, gender, _CODES_1M[age], number, "98107") for user, age, gender, _, number in PEOPLE]
        files["ml-1m/users.dat"] = _lines("::", people)
    if tags:
        files["ml-1m/tags.dat"] = _lines(
            "::", [(1, 20, "Cyber:: Punk", 5), (2, 20, "hackers", 6), (3, 20, "Hackers", 7)]
        )
    return {name: text.encode(encoding) for name, text in files.items()}


def hundred_k() -> dict[str, bytes]:
    """ml-100k's files."""
    names = _FLAGS.split("|")
    films = [
        (
            film,
            title,
            "01-Jan-1995",
            "",
            "http://us.imdb.com/",
            *(int(name in (genres or ["unknown"])) for name in names),
        )
        for film, title, genres in FILMS
    ]
    return {
        "ml-100k/u.data": _lines("\t", RATINGS).encode("latin-1"),
        "ml-100k/u.item": _lines("|", films).encode("latin-1"),
        "ml-100k/u.user": _lines("|", [(*person[:4], "T8H1N") for person in PEOPLE]).encode("latin-1"),
    }


def comma() -> dict[str, bytes]:
    """ml-latest-small's files, and those of ml-20m, ml-25m and ml-32m."""
    films = [(film, f'"{title}"', "|".join(genres) or "(no genres listed)") for film, title, genres in FILMS]
    links = [(10, "0114709", 862), (20, "0133093", 603), (30, "0113828", "")]
    links += [(film, "0000001", 1) for film, _, _ in FILMS[3:]]
    tags = [(1, 20, "hackers", 1), (2, 20, "Hackers ", 2), (3, 20, '"cyber, punk"', 3), (4, 10, "NA", 4)]
    tables = {
        "ratings": [("userId", "movieId", "rating", "timestamp"), *RATINGS],
        "movies": [("movieId", "title", "genres"), *films],
        "links": [("movieId", "imdbId", "tmdbId"), *links],
        "tags": [("userId", "movieId", "tag", "timestamp"), *tags],
    }
    return {f"ml-latest-small/{name}.csv": _lines(",", rows, "\r\n").encode() for name, rows in tables.items()}


def recbole() -> dict[str, bytes]:
    """The wheel's files."""
    films = [(film, title[:-7], title[-5:-1], " ".join(genres) or "unknown") for film, title, genres in FILMS]
    people = [(*person[:4], "T8H1N") for person in PEOPLE]
    tables = {
        "inter": [("user_id:token", "item_id:token", "rating:float", "timestamp:float"), *RATINGS],
        "item": [("item_id:token", "movie_title:token_seq", "release_year:token", "class:token_seq"), *films],
        "user": [tuple(f"{name}:token" for name in ("user_id", "age", "gender", "occupation", "zip_code")), *people],
    }
    folder = "recbole/dataset_example/ml-100k/ml-100k"
    return {f"{folder}.{ending}": _lines("\t", rows).encode() for ending, rows in tables.items()}


def zipped(files: dict[str, bytes]) -> bytes:
    """The bytes of a zip archive, the same at every call."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def write(folder: Path, files: dict[str, bytes], name: str = "some.zip") -> Path:
    """A zip archive on disk."""
    path = folder / name
    path.write_bytes(zipped(files))
    return path


def _lines(separator: str, rows: list[tuple], end: str = "\n") -> str:
    return "".join(separator.join(str(field) for field in row) + end for row in rows)
