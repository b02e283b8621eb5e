"""Write a generated ratings archive with the size and the layout of ML-20M.

    python -m benchmarks.generate_movielens --out ml-20m-generated.zip

No rating or film in it is real. As in ML-20M, history lengths have a log-normal tail, popularities are very uneven, and
many ratings share a second with the previous one. Films have themes, and users move between themes, so a sequence model
can learn something. Every film has at least MIN_FILM_RATINGS ratings, so that the loader drops none.

Shapes: U users, F films, E ratings.
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

MIN_LENGTH, MAX_LENGTH = 20, 9_254  # ratings of a user of ML-20M
LENGTH_SIGMA = 1.38  # of the log-normal tail of a length, from ML-20M's median of 68 and mean of 144
POPULARITY_SIGMA = 3.2
MAX_POPULARITY = 3_740  # times the median
MIN_FILM_RATINGS = 5
N_THEMES = 50
STAY_PROBABILITY, NEXT_PROBABILITY = 0.85, 0.10  # of the theme and of the theme after it; otherwise any theme
SAME_SECOND_PROBABILITY = 0.25  # of a rating and the previous one
NEXT_DAYS_PROBABILITY = 0.02  # of a pause of days before a rating
FIRST_TIMESTAMP = 820_454_400  # 1996-01-01
JOIN_YEARS = 19  # in which users give their first rating
MAX_MOVIE_ID = 131_262
BATCH_USERS = 1_000  # users generated at once, which limits the memory
THEME_TRIES, POPULAR_TRIES = 8, 48  # draws of an unseen film within the theme, then by popularity, then any film
GENRES = ("Action", "Adventure", "Animation", "Children", "Comedy", "Crime", "Documentary", "Drama", "Fantasy", "War")
README = """GENERATED DATA, not MovieLens 20M: no person gave these ratings and no such films exist.

{users} users, {films} films, {ratings} ratings, seed {seed}; written by benchmarks/generate_movielens.py of NextReel
in the layout of ML-20M (https://grouplens.org/datasets/movielens/20m/), to measure time and memory.
"""


@dataclass(frozen=True)
class Size:
    """The size of the generated data; the defaults are those of ML-20M."""

    users: int = 138_493
    films: int = 26_744
    ratings: int = 20_000_263
    seed: int = 0

    def __post_init__(self) -> None:
        smallest, largest = MIN_LENGTH * self.users, self.users * self.max_length
        if not max(smallest, 4 * MIN_FILM_RATINGS * self.films) <= self.ratings <= largest:
            raise SystemExit(
                f"{self.users} users and {self.films} films take {smallest:,} (and 20 per film) to "
                f"{largest:,} ratings, not {self.ratings:,}; choose other sizes"
            )

    @property
    def max_length(self) -> int:
        """Maximum ratings of a user: at most two thirds of the films."""
        return min(MAX_LENGTH, self.films * 2 // 3)


class World:
    """Films with themes and popularities, and users with history lengths."""

    def __init__(self, size: Size) -> None:
        self.size, self.rng = size, np.random.default_rng(size.seed)
        ids = max(MAX_MOVIE_ID, size.films)
        self.movie_ids = np.sort(self.rng.choice(ids, size.films, replace=False)) + 1  # (F,)
        popularity = np.minimum(np.exp(POPULARITY_SIGMA * self.rng.standard_normal(size.films)), MAX_POPULARITY)
        self.n_themes = min(N_THEMES, size.films // MIN_LENGTH + 1)
        self.themes = np.empty(size.films, np.int64)  # (F,), in turn by popularity: themes are equally popular
        self.themes[np.argsort(-popularity)] = np.arange(size.films) % self.n_themes
        self.by_theme = np.argsort(self.themes, kind="stable")  # (F,) films of theme 0, of theme 1 …
        self.cumulative = np.cumsum(popularity[self.by_theme])  # (F,)
        ends = self.cumulative[np.cumsum(np.bincount(self.themes)) - 1]  # (themes,)
        self.theme_starts, self.theme_weights = ends - np.diff(ends, prepend=0), np.diff(ends, prepend=0)
        self.film_order = self.rng.permutation(size.films)
        self.lengths = self._lengths()

    def _lengths(self) -> np.ndarray:
        """Return the ratings of each user (U,). Their sum is exact, and bisection gives the scale of the tail."""
        size = self.size
        tail = np.exp(LENGTH_SIGMA * self.rng.standard_normal(size.users))
        low, high = 0.0, float(size.ratings)
        for _ in range(100):
            scale = (low + high) / 2
            lengths = np.minimum(MIN_LENGTH + (scale * tail).astype(np.int64), size.max_length)
            low, high = (scale, high) if lengths.sum() <= size.ratings else (low, scale)
        lengths = np.minimum(MIN_LENGTH + (low * tail).astype(np.int64), size.max_length)
        while (lacking := size.ratings - lengths.sum()) > 0:
            growing = self.rng.permutation(np.flatnonzero(lengths < size.max_length))[:lacking]
            lengths[growing] += 1
        return lengths

    def histories(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield users and films (E,) of a batch of users, sorted by user, then in the order of watching."""
        done = 0
        for start in range(0, self.size.users, BATCH_USERS):
            lengths = self.lengths[start : start + BATCH_USERS]
            user = np.repeat(np.arange(len(lengths)), lengths)
            yield user + start, self._films(user, lengths, done)
            done += len(user)

    def _films(self, user: np.ndarray, lengths: np.ndarray, done: int) -> np.ndarray:
        """Return a film for every event (E,), without repeats for a user. `done` events came before this batch."""
        theme = self._walk(lengths)
        film = np.full(len(user), -1)
        holder = np.full((len(lengths), self.size.films), -1, np.int32)  # the event in which a user watches a film
        waiting, drawn = self._guaranteed(len(user), done)
        tries = 0
        while len(waiting):
            free = holder[user[waiting], drawn] < 0
            holder[user[waiting[free]], drawn[free]] = waiting[free]  # of several events, the last one has the film
            successful = holder[user[waiting], drawn] == waiting
            film[waiting[successful]] = drawn[successful]
            waiting = np.flatnonzero(film < 0)
            drawn = self._draw(theme[waiting], tries)
            tries += 1
        return film

    def _guaranteed(self, events: int, done: int) -> tuple[np.ndarray, np.ndarray]:
        """Return events and films that give each film its MIN_FILM_RATINGS: every n-th event has the next film.

        The events of a film are F · n events apart. No user has that many events, so a user gets no film twice.
        """
        n = self.size.ratings // (MIN_FILM_RATINGS * self.size.films)
        rows = np.arange(-done % n, events, n)
        return rows, self.film_order[(rows + done) // n % self.size.films]

    def _walk(self, lengths: np.ndarray) -> np.ndarray:
        """Return the theme of every event (E,): a random walk per user that stays, moves on by one, or jumps."""
        draw = self.rng.random(lengths.sum())
        jumps = self.rng.integers(self.n_themes, size=len(draw))
        move = np.where(draw < STAY_PROBABILITY + NEXT_PROBABILITY, 1, jumps)
        steps = np.where(draw < STAY_PROBABILITY, 0, move)
        starts = np.cumsum(lengths) - lengths
        steps[starts] = jumps[starts]
        position = np.cumsum(steps)
        return (position - np.repeat(position[starts] - steps[starts], lengths)) % self.n_themes

    def _draw(self, theme: np.ndarray, tries: int) -> np.ndarray:
        """Draw a film of each theme by popularity. After many tries, draw from all themes, then any film."""
        if tries >= POPULAR_TRIES:
            return self.rng.integers(self.size.films, size=len(theme))
        if tries >= THEME_TRIES:
            theme = self.rng.integers(self.n_themes, size=len(theme))
        point = self.theme_starts[theme] + self.rng.random(len(theme)) * self.theme_weights[theme]
        return self.by_theme[np.searchsorted(self.cumulative, point, side="right").clip(max=self.size.films - 1)]

    def ratings(self) -> Iterator[pd.DataFrame]:
        """Yield the ratings of a batch of users, sorted by user, then film, as in ML-20M."""
        for user, film in self.histories():
            table = pd.DataFrame({"userId": user + 1, "movieId": self.movie_ids[film]})
            taste = 3.5 + (film % 7 - 3) / 4 + self.rng.standard_normal(len(film))
            table["rating"] = np.clip(np.round(2 * taste) / 2, 0.5, 5.0)
            table["timestamp"] = self._timestamps(user)
            yield table.sort_values(["userId", "movieId"])

    def _timestamps(self, user: np.ndarray) -> np.ndarray:
        """Return seconds since 1970 (E,), not descending within a user. Many are equal."""
        draw = self.rng.random(len(user))
        gaps = np.ceil(self.rng.exponential(15, len(user)))  # seconds
        gaps = np.where(draw < 1 - NEXT_DAYS_PROBABILITY, gaps, gaps * 40_000)
        gaps = np.where(draw < SAME_SECOND_PROBABILITY, 0, gaps)
        starts = np.flatnonzero(np.diff(user, prepend=-1))
        gaps[starts] = 0
        elapsed = np.cumsum(gaps)
        joined = FIRST_TIMESTAMP + self.rng.integers(JOIN_YEARS * 365 * 86_400, size=len(starts))
        row = np.cumsum(np.diff(user, prepend=user[0]) > 0)  # (E,) 0, 1 … of these users
        return (joined[row] + elapsed - elapsed[starts][row]).astype(np.int64)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the film table, empty links, and a tag for a tenth of the films."""
        years = 1950 + self.rng.integers(65, size=self.size.films)
        titles = [f"Generated Film {movie} ({year})" for movie, year in zip(self.movie_ids, years, strict=True)]
        genres = [f"{GENRES[theme % 10]}|{GENRES[theme // 10 % 10]}" for theme in self.themes + 10]
        tags = [f"theme {theme}" for theme in self.themes[::10]]
        ids, tag_ids = self.movie_ids, self.movie_ids[::10]
        return {
            "movies": pd.DataFrame({"movieId": ids, "title": titles, "genres": genres}),
            "links": pd.DataFrame({"movieId": ids, "imdbId": "", "tmdbId": ""}),
            "tags": pd.DataFrame({"userId": 1, "movieId": tag_ids, "tag": tags, "timestamp": FIRST_TIMESTAMP}),
        }


def write(size: Size, path: Path) -> None:
    """Write the archive and replace `path` in one step. The same size and seed give the same bytes."""
    world = World(size)
    part = path.with_name(f"{path.name}.part")
    with zipfile.ZipFile(part, "w") as archive:
        ratings = archive.open(_member("ratings.csv"), "w", force_zip64=True)
        with io.TextIOWrapper(ratings, "utf-8") as text:
            for number, table in enumerate(world.ratings()):
                table.to_csv(text, index=False, header=number == 0)
        for name, table in world.tables().items():
            archive.writestr(_member(f"{name}.csv"), table.to_csv(index=False))
        archive.writestr(_member("README.txt"), README.format(**vars(size)))
    part.replace(path)


def _member(name: str) -> zipfile.ZipInfo:
    """Return a compressed member with a constant date."""
    member = zipfile.ZipInfo(f"ml-20m/{name}")
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


def main() -> None:
    """Write the archive that the command line describes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("users", "films", "ratings", "seed"):
        parser.add_argument(f"--{name}", type=int, default=getattr(Size, name))
    parser.add_argument("--out", type=Path, default=Path("ml-20m-generated.zip"), metavar="FILE.zip")
    options = parser.parse_args()
    start = time.perf_counter()
    write(Size(options.users, options.films, options.ratings, options.seed), options.out)
    megabytes = options.out.stat().st_size / 1e6
    print(f"{options.out}: {options.ratings:,} ratings, {megabytes:.0f} MB, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
