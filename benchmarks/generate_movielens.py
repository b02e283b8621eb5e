"""Write a ratings archive of ML-20M's size and layout, for measuring where the published one cannot be had.

Nothing in it is about real people or films, and its names say so. What it shares with ML-20M: the files, their columns
and order, the numbers of users, films and ratings, lengths with a log-normal tail, films of very uneven popularity, and
ratings given in bursts, so that many share a second. Films come in themes, and a person walks from theme to theme:
a sequence model finds something to learn. Every film has five ratings or more, so that the loader leaves none out.

    python -m benchmarks.generate_movielens --out ml-20m-generated.zip

U users, F films, E ratings.
"""

import argparse
import io
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

SHORTEST, LONGEST = 20, 9_254  # ratings of a user of ML-20M
SPREAD = 1.38  # σ of the log-normal part of a length: from ML-20M's median of 68 and mean of 144
STEEPNESS, MOST_POPULAR = 3.2, 3_740  # σ of a film's popularity, and its highest multiple of the median
FEWEST = 5  # ratings of a film: the loader leaves out those with fewer
THEMES = 50  # groups of films between which people walk
STAY, ONWARD = 0.85, 0.10  # probability that the next film is of the same theme, or of the one after it; else of any
SAME_SECOND, NEXT_SITTING = 0.25, 0.02  # probability that a rating shares its predecessor's time, or comes days later
FIRST_DAY, YEARS = 820_454_400, 19  # 1996-01-01, in seconds; how long people go on to join
HIGHEST_ID = 131_262  # of a film
AT_ONCE = 1_000  # users drawn together: bounds the memory
IN_THEME, POPULAR = 8, 48  # draws of a film until one is new to the user: of the theme, of any theme, then any film
GENRES = ("Action", "Adventure", "Animation", "Children", "Comedy", "Crime", "Documentary", "Drama", "Fantasy", "War")
README = """GENERATED DATA, not MovieLens 20M: no person gave these ratings and no such films exist.

{users} users, {films} films, {ratings} ratings, seed {seed}; written by benchmarks/generate_movielens.py of NextReel
in the layout of ML-20M (https://grouplens.org/datasets/movielens/20m/), to measure time and memory.
"""


@dataclass(frozen=True)
class Size:
    """How much to generate; the defaults are ML-20M's."""

    users: int = 138_493
    films: int = 26_744
    ratings: int = 20_000_263
    seed: int = 0

    def __post_init__(self) -> None:
        longest = self.users * self.longest
        if not max(SHORTEST * self.users, 4 * FEWEST * self.films) <= self.ratings <= longest:
            raise SystemExit(
                f"{self.users} users and {self.films} films take {SHORTEST * self.users:,} (and 20 per film) to "
                f"{longest:,} ratings, not {self.ratings:,}; choose other sizes"
            )

    @property
    def longest(self) -> int:
        """Most ratings of one user: two thirds of a small catalogue, so that there is a choice."""
        return min(LONGEST, self.films * 2 // 3)


class World:
    """Films with their themes and popularity, and how long each user's history is."""

    def __init__(self, size: Size) -> None:
        self.size, self.rng = size, np.random.default_rng(size.seed)
        ids = max(HIGHEST_ID, size.films)
        self.movie_ids = np.sort(self.rng.choice(ids, size.films, replace=False)) + 1  # (F,)
        popularity = np.minimum(np.exp(STEEPNESS * self.rng.standard_normal(size.films)), MOST_POPULAR)
        self.themes = min(THEMES, size.films // SHORTEST + 1)
        self.theme_of = np.empty(size.films, np.int64)  # dealt out like cards, so that themes are equally popular
        self.theme_of[np.argsort(-popularity)] = np.arange(size.films) % self.themes
        self.by_theme = np.argsort(self.theme_of, kind="stable")  # (F,) films of theme 0, of theme 1 …
        self.shares = np.cumsum(popularity[self.by_theme])  # (F,)
        ends = self.shares[np.cumsum(np.bincount(self.theme_of)) - 1]  # (themes,)
        self.theme_starts, self.theme_weights = ends - np.diff(ends, prepend=0), np.diff(ends, prepend=0)
        self.turns = self.rng.permutation(size.films)
        self.lengths = self._lengths()

    def _lengths(self) -> np.ndarray:
        """(U,) ratings of each user, as many as asked for in all."""
        size = self.size
        tail = np.exp(SPREAD * self.rng.standard_normal(size.users))
        low, high = 0.0, float(size.ratings)
        for _ in range(100):  # halve the interval in which the scale of the tail lies
            scale = (low + high) / 2
            lengths = np.minimum(SHORTEST + (scale * tail).astype(np.int64), size.longest)
            low, high = (scale, high) if lengths.sum() <= size.ratings else (low, scale)
        lengths = np.minimum(SHORTEST + (low * tail).astype(np.int64), size.longest)
        while (lacking := size.ratings - lengths.sum()) > 0:
            growing = self.rng.permutation(np.flatnonzero(lengths < size.longest))[:lacking]
            lengths[growing] += 1
        return lengths

    def histories(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Some users at a time: users and films (E,), users ascending, each user's films in the order of watching."""
        done = 0
        for first in range(0, self.size.users, AT_ONCE):
            lengths = self.lengths[first : first + AT_ONCE]
            user = np.repeat(np.arange(len(lengths)), lengths)
            yield user + first, self._films(user, lengths, done)
            done += len(user)

    def _films(self, user: np.ndarray, lengths: np.ndarray, done: int) -> np.ndarray:
        """(E,) a film for every event of these users, none twice for one user; `done` events came before."""
        theme = self._walk(lengths)
        film = np.full(len(user), -1)
        holder = np.full((len(lengths), self.size.films), -1, np.int32)  # the event in which a user watches a film
        waiting, drawn = self._owed(len(user), done)
        tries = 0
        while len(waiting):
            free = holder[user[waiting], drawn] < 0
            holder[user[waiting[free]], drawn[free]] = waiting[free]  # of several, the last one has it
            got = holder[user[waiting], drawn] == waiting
            film[waiting[got]] = drawn[got]
            waiting = np.flatnonzero(film < 0)
            drawn = self._draw(theme[waiting], tries)
            tries += 1
        return film

    def _owed(self, events: int, done: int) -> tuple[np.ndarray, np.ndarray]:
        """Events and films: from all events, every so many-th goes to the next film, so that each gets its FEWEST.

        A film's turns are F such events apart, and no user has as many: nobody watches one twice.
        """
        every = self.size.ratings // (FEWEST * self.size.films)
        at = np.arange(-done % every, events, every)
        return at, self.turns[(at + done) // every % self.size.films]

    def _walk(self, lengths: np.ndarray) -> np.ndarray:
        """(E,) the theme of every event: it stays, goes one on, or leaps anywhere, from any theme alike."""
        draw = self.rng.random(lengths.sum())
        leaps = self.rng.integers(self.themes, size=len(draw))
        steps = np.where(draw < STAY, 0, np.where(draw < STAY + ONWARD, 1, leaps))
        starts = np.cumsum(lengths) - lengths
        steps[starts] = leaps[starts]
        walked = np.cumsum(steps)
        return (walked - np.repeat(walked[starts] - steps[starts], lengths)) % self.themes

    def _draw(self, theme: np.ndarray, tries: int) -> np.ndarray:
        """A film for each theme by popularity; who has not found a new one after many tries takes what there is."""
        if tries >= POPULAR:
            return self.rng.integers(self.size.films, size=len(theme))
        if tries >= IN_THEME:
            theme = self.rng.integers(self.themes, size=len(theme))
        point = self.theme_starts[theme] + self.rng.random(len(theme)) * self.theme_weights[theme]
        return self.by_theme[np.searchsorted(self.shares, point, side="right").clip(max=self.size.films - 1)]

    def ratings(self) -> Iterator[pd.DataFrame]:
        """Some users at a time: userId, movieId, rating, timestamp, sorted by user, then film, as in ML-20M."""
        for user, film in self.histories():
            table = pd.DataFrame({"userId": user + 1, "movieId": self.movie_ids[film]})
            taste = 3.5 + (film % 7 - 3) / 4 + self.rng.standard_normal(len(film))
            table["rating"] = np.clip(np.round(2 * taste) / 2, 0.5, 5.0)
            table["timestamp"] = self._times(user)
            yield table.sort_values(["userId", "movieId"])

    def _times(self, user: np.ndarray) -> np.ndarray:
        """(E,) seconds since 1970, never falling within a user; many are shared."""
        draw = self.rng.random(len(user))
        gaps = np.ceil(self.rng.exponential(15, len(user)))  # seconds between two ratings of a sitting
        gaps = np.where(draw < SAME_SECOND, 0, np.where(draw < 1 - NEXT_SITTING, gaps, gaps * 40_000))
        first = np.flatnonzero(np.diff(user, prepend=-1))
        gaps[first] = 0
        passed = np.cumsum(gaps)
        joined = FIRST_DAY + self.rng.integers(YEARS * 365 * 86_400, size=len(first))
        which = np.cumsum(np.diff(user, prepend=user[0]) > 0)  # (E,) 0, 1 … over these users
        return (joined[which] + passed - passed[first][which]).astype(np.int64)

    def movies(self) -> pd.DataFrame:
        """The film table; its titles say that they are generated."""
        years = 1950 + self.rng.integers(65, size=self.size.films)
        titles = [f"Generated Film {movie} ({year})" for movie, year in zip(self.movie_ids, years, strict=True)]
        genres = [f"{GENRES[theme % 10]}|{GENRES[theme // 10 % 10]}" for theme in self.theme_of + 10]
        return pd.DataFrame({"movieId": self.movie_ids, "title": titles, "genres": genres})

    def links(self) -> pd.DataFrame:
        """Empty links: there are no such films anywhere."""
        return pd.DataFrame({"movieId": self.movie_ids, "imdbId": "", "tmdbId": ""})

    def tags(self) -> pd.DataFrame:
        """One tag each for a tenth of the films."""
        tagged = self.movie_ids[::10]
        words = [f"theme {theme}" for theme in self.theme_of[::10]]
        return pd.DataFrame({"userId": 1, "movieId": tagged, "tag": words, "timestamp": FIRST_DAY})


def write(size: Size, path: Path) -> None:
    """The archive, replaced in one step; the same bytes for the same size and seed."""
    world = World(size)
    part = path.with_name(f"{path.name}.part")
    with zipfile.ZipFile(part, "w") as archive:
        ratings = archive.open(_member("ratings.csv"), "w", force_zip64=True)
        with io.TextIOWrapper(ratings, "utf-8") as text:
            for number, table in enumerate(world.ratings()):
                table.to_csv(text, index=False, header=number == 0)
        for name, table in (("movies", world.movies()), ("links", world.links()), ("tags", world.tags())):
            archive.writestr(_member(f"{name}.csv"), table.to_csv(index=False))
        about = {"users": size.users, "films": size.films, "ratings": size.ratings, "seed": size.seed}
        archive.writestr(_member("README.txt"), README.format(**about))
    part.replace(path)


def _member(name: str) -> zipfile.ZipInfo:
    """A compressed member without a date of its own."""
    member = zipfile.ZipInfo(f"ml-20m/{name}")
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


def main() -> None:
    """Write the archive that the command line asks for."""
    parser = argparse.ArgumentParser(description="Write a generated ratings archive of ML-20M's size and layout.")
    for name in ("users", "films", "ratings", "seed"):
        parser.add_argument(f"--{name}", type=int, default=getattr(Size, name))
    parser.add_argument("--out", type=Path, default=Path("ml-20m-generated.zip"), metavar="FILE.zip")
    options = parser.parse_args()
    began = time.perf_counter()
    write(Size(options.users, options.films, options.ratings, options.seed), options.out)
    megabytes = options.out.stat().st_size / 1e6
    print(f"{options.out}: {options.ratings:,} ratings, {megabytes:.0f} MB, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
