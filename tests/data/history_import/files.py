# ruff: noqa: E501
"""History files as the services write them, small enough to read."""

import io
import json
import zipfile

DIARY = """Date,Name,Year,Letterboxd URI,Rating,Rewatch,Tags,Watched Date
2024-01-05,Toy Story,1995,https://boxd.it/a1,4.5,Yes,"fun, kids",2024-01-02
2024-01-05,Heat,1995,https://boxd.it/a2,,,,2023-12-30
"""
RATINGS = """Date,Name,Year,Letterboxd URI,Rating
2020-03-01,Toy Story,1995,https://boxd.it/f1,3
2024-01-06,Heat,1995,https://boxd.it/f2,0.5
"""
FILMS = """Date,Name,Year,Letterboxd URI
2019-05-05,Alien,1979,https://boxd.it/f3
2020-03-01,Toy Story,1995,https://boxd.it/f1
"""
IMDB = """Const,Your Rating,Date Rated,Title,Original Title,URL,Title Type,IMDb Rating,Runtime (mins),Year,Genres,Num Votes,Release Date,Directors
tt0113277,9,2021-02-03,Heat,Heat,https://www.imdb.com/title/tt0113277,Movie,8.3,170,1995,"Crime, Drama",1,1995-12-15,Michael Mann
tt0903747,10,2021-02-04,Breaking Bad,Breaking Bad,https://www.imdb.com/title/tt0903747,TV Series,9.5,45,2008,Drama,1,2008-01-20,
tt9999999,8,2021-02-05,A Game,A Game,https://www.imdb.com/title/tt9999999,Video Game,8,,2010,,1,,
"""
IMDB_LIST = """Position,Const,Created,Modified,Description,Title,Original Title,URL,Title Type,IMDb Rating,Runtime (mins),Year,Genres,Num Votes,Release Date,Directors,Your Rating,Date Rated
1,tt0113277,2021-02-03,2021-02-03,,Heat,Heat,https://www.imdb.com/title/tt0113277,Movie,8.3,170,1995,Crime,1,1995-12-15,Michael Mann,9,2021-02-03
2,tt0078748,2021-02-03,2021-02-03,,Alien,Alien,https://www.imdb.com/title/tt0078748,Movie,8.5,117,1979,Horror,1,1979-05-25,Ridley Scott,,
"""
NETFLIX = """Title,Date
"Dark: Season 1: Secrets","{2}"
"Heat","{1}"
"Alien","{0}"
"""
SITE = """movie_id,imdb_id,tmdb_id,rating,average_rating,title
1,0114709,862,4.5,3.9,Toy Story (1995)
29,tt0112682,902,3.0,4.0,"City of Lost Children, The (Cité des enfants perdus, La) (1995)"
6,113277,949,-1.0,3.8,Heat (1995)
"""
DATASET = """userId,movieId,rating,timestamp
7,6,4.0,1112486027
7,1,3.5,1112484676
"""
OURS = """position,title,year,genres,movie_id,imdb_id,tmdb_id
1,Toy Story,1995,Comedy,1,tt0114709,862
2,'=Heat,1995,Crime,6,tt0113277,949
"""
NEXT = """rank,probability,title,year,genres,movie_id,imdb_id,tmdb_id
1,0.5,Toy Story,1995,Comedy,1,tt0114709,862
"""
TO_LETTERBOXD = """tmdbID,imdbID,Title,Year,Rating10,WatchedDate,Rewatch,Tags,Review
862,tt0114709,Toy Story,1995,9,2024-01-02,true,,
"""
OURS_JSON = json.dumps(
    {
        "dataset": "ml-latest-sample",
        "watched": [
            {"title": "Heat", "year": 1995, "movie_id": 6, "imdb_id": "tt0113277", "tmdb_id": 949, "genres": "Crime"},
            {"title": "Toy Story", "year": 1995, "watched": "2024-01-02 00:00:00", "rating": 4.5, "times": 3},
        ],
        "next": [],
    }
)


def movie(title, year, **ids):
    return {"title": title, "year": year, "ids": {"trakt": 1, "slug": "x", **ids}}


HISTORY = [
    {
        "id": 2,
        "watched_at": "2024-05-02T20:15:00.000Z",
        "action": "scrobble",
        "type": "movie",
        "movie": movie("Heat", 1995, imdb="tt0113277", tmdb=949),
    },
    {
        "id": 1,
        "watched_at": "2024-05-01T20:15:00.000Z",
        "action": "watch",
        "type": "movie",
        "movie": movie("Alien", 1979, imdb="tt0078748", tmdb=348),
    },
    {
        "id": 3,
        "watched_at": "2024-05-01T21:00:00.000Z",
        "type": "episode",
        "episode": {"title": "Secrets"},
        "show": movie("Dark", 2017),
    },
]
TRAKT_RATINGS = [
    {
        "rated_at": "2024-06-01T00:00:00.000Z",
        "rating": 7,
        "type": "movie",
        "movie": movie("Heat", 1995, imdb="tt0113277"),
    }
]
WATCHLIST = [{"rank": 1, "listed_at": "2024-06-01T00:00:00.000Z", "type": "movie", "movie": movie("Tenet", 2020)}]


def packed(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def letterboxd():
    return packed(
        {
            "profile.csv": "Date Joined,Username\n2015-01-01,somebody\n",
            "watched.csv": FILMS,
            "diary.csv": DIARY,
            "ratings.csv": RATINGS,
            "watchlist.csv": FILMS.replace("Alien", "Tenet"),
            "likes/films.csv": FILMS,
            "deleted/diary.csv": DIARY.replace("Heat", "Deleted"),
            "lists/best.csv": "Letterboxd list export v7\nDate,Name,Tags,URL,Description\n",
            "reviews/cover.jpg": b"\xff\xd8\xff\0",
        }
    )


def trakt():
    return packed(
        {
            "watched-history-1.json": json.dumps(HISTORY[:1]),
            "watched-history-2.json": json.dumps(HISTORY[1:]),
            "ratings-movies.json": json.dumps(TRAKT_RATINGS),
            "lists-watchlist.json": json.dumps(WATCHLIST),
            "user-profile.json": "{}",
        }
    )
