"""Write a generated ratings archive with the size and the layout of ML-20M.

    python -m benchmarks.generate_movielens --out ml-20m-generated.zip

No rating or film in the archive is real. As in ML-20M, history lengths have a log-normal tail, popularities are very
uneven, and many ratings of a user have equal times. Users watch films of one theme, then of the next theme, so a
sequence model can learn something. Every film has at least MIN_FILM_RATINGS ratings, so it is an item of the data set.

Shapes: U users, F films, E ratings.
"""

import argparse
import io
import math
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

MIN_LENGTH = 20  # ratings of a user, as in ML-20M
MAX_LENGTH = 9_254  # maximum ratings of a user in ML-20M
LENGTH_SIGMA = 1.38  # of the log-normal part of a length, for the median of 68 and the mean of 144 of ML-20M
POPULARITY_SIGMA = 3.2  # of the log-normal popularities of films, whose median is 1
MAX_POPULARITY = 3_740  # cuts the tail of the popularities
MIN_FILM_RATINGS = 5
N_THEMES = 50
THEME_WIDTH = 1.5  # themes start 1 apart; a width above 1 makes users return to the previous theme now and then
SAME_SECOND_PROBABILITY = 0.25  # that a rating has the time of the previous rating
PAUSE_PROBABILITY = 0.02  # that a user pauses for days before a rating
MEAN_GAP_SECONDS = 15  # between two ratings without a pause
PAUSE_FACTOR = 40_000  # a pause is a gap times this factor: a week on average
FIRST_TIMESTAMP = 820_454_400  # 1996-01-01
JOIN_YEARS = 19  # users give their first rating within these years after FIRST_TIMESTAMP
MAX_MOVIE_ID = 131_262  # of ML-20M
BATCH_USERS = 1_000  # users in a table, which limits the memory
GENRES = ("Action", "Adventure", "Animation", "Children", "Comedy", "Crime", "Documentary", "Drama", "Fantasy", "War")
README = """GENERATED DATA, not MovieLens 20M: no person gave these ratings and no such films exist.

{users} users, {films} films, {ratings} ratings, seed {seed}; written by benchmarks/generate_movielens.py of NextReel
in the layout of ML-20M (https://grouplens.org/datasets/movielens/20m/), to measure time and memory.
"""


@dataclass(frozen=True)
class GeneratorOptions:
    """The sizes of the generated data, by default the sizes of ML-20M, and the seed."""

    users: int = 138_493
    films: int = 26_744
    ratings: int = 20_000_263
    seed: int = 0

    def __post_init__(self) -> None:
        min_ratings, max_ratings = MIN_LENGTH * self.users, self.users * self.max_length
        max_films = min_ratings // MIN_FILM_RATINGS
        if not min_ratings <= self.ratings <= max_ratings or self.films > max_films:
            raise SystemExit(
                f"{self.users} users and {self.films} films take {min_ratings:,} to {max_ratings:,} ratings, not "
                f"{self.ratings:,}, and {self.users} users take at most {max_films:,} films; choose other sizes"
            )

    @property
    def max_length(self) -> int:
        """Maximum ratings of a user: at most two thirds of the films."""
        return min(MAX_LENGTH, self.films * 2 // 3)


class Generator:
    """Generate films with popularities and themes, and users with histories."""

    def __init__(self, options: GeneratorOptions) -> None:
        self.options, self.rng = options, np.random.default_rng(options.seed)
        max_id = max(MAX_MOVIE_ID, options.films)
        self.movie_ids = np.sort(self.rng.choice(max_id, options.films, replace=False)) + 1  # (F,) from 1 to `max_id`
        self.popularity = np.minimum(self.rng.lognormal(sigma=POPULARITY_SIGMA, size=options.films), MAX_POPULARITY)
        self.themes = np.arange(options.films) % N_THEMES  # (F,)
        self.lengths = self._lengths()

    def _lengths(self) -> np.ndarray:
        """Return the number of ratings of each user, (U,). The sum is exactly `options.ratings`."""
        options = self.options
        tail = self.rng.lognormal(sigma=LENGTH_SIGMA, size=options.users)
        excess = tail * (options.ratings - MIN_LENGTH * options.users) / tail.sum()
        lengths = np.minimum(MIN_LENGTH + excess.astype(np.int64), options.max_length)
        while n_missing := options.ratings - lengths.sum():  # above 0, because lengths were rounded down and limited
            growing_users = self.rng.permutation(np.flatnonzero(lengths < options.max_length))[:n_missing]
            lengths[growing_users] += 1
        return lengths

    def history(self, user: int) -> np.ndarray:
        """Return the films of a user in the order of watching, without repeats, sampled by popularity."""
        # each user also watches the next films of a cycle, so that each film gets MIN_FILM_RATINGS ratings
        n_fixed = math.ceil(MIN_FILM_RATINGS * self.options.films / self.options.users)
        fixed_films = (user * n_fixed + np.arange(n_fixed)) % self.options.films
        # The films with the smallest exponential variables, whose rates are the popularities, are a weighted sample
        # without replacement (Efraimidis and Spirakis, Information Processing Letters 97(5), 2006).
        keys = self.rng.standard_exponential(self.options.films, np.float32) / self.popularity
        keys[fixed_films] = 0
        length = self.lengths[user]
        films = np.argpartition(keys, length)[:length]
        first_theme = self.rng.integers(N_THEMES)
        # position of each film in the order of watching: its theme, and a random position within the theme
        positions = (self.themes[films] - first_theme) % N_THEMES + THEME_WIDTH * self.rng.random(length)
        return films[np.argsort(positions)]

    def timestamps(self, length: int) -> np.ndarray:
        """Return the ascending times of the ratings of a user, (length,) seconds since 1970. Many are equal."""
        random_values = self.rng.random(length)
        gaps = np.ceil(self.rng.exponential(MEAN_GAP_SECONDS, length))
        gaps[random_values < SAME_SECOND_PROBABILITY] = 0
        gaps[random_values > 1 - PAUSE_PROBABILITY] *= PAUSE_FACTOR
        join_time = FIRST_TIMESTAMP + self.rng.integers(JOIN_YEARS * 365 * 86_400)
        return join_time + np.cumsum(gaps).astype(np.int64)

    def ratings(self) -> Iterator[pd.DataFrame]:
        """Yield the ratings of a batch of users, sorted by user, then film, as in ML-20M."""
        for start in range(0, self.options.users, BATCH_USERS):
            users = range(start, min(start + BATCH_USERS, self.options.users))
            film = np.concatenate([self.history(user) for user in users])
            table = pd.DataFrame({"userId": np.repeat(users, self.lengths[users]) + 1})
            table["movieId"] = self.movie_ids[film]
            film_mean = 3.5 + (film % 7 - 3) / 4  # 2.75 to 4.25 stars
            stars = film_mean + self.rng.standard_normal(len(film))
            table["rating"] = np.clip(np.round(2 * stars) / 2, 0.5, 5.0)
            table["timestamp"] = np.concatenate([self.timestamps(self.lengths[user]) for user in users])
            yield table.sort_values(["userId", "movieId"])

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the tables of the other files by name: films, empty links, and a tag for a tenth of the films."""
        years = 1950 + self.rng.integers(65, size=self.options.films)
        titles = [f"Generated Film {movie} ({year})" for movie, year in zip(self.movie_ids, years, strict=True)]
        # the two digits of 10 to 59 choose the genres of a theme
        genres = [f"{GENRES[theme % 10]}|{GENRES[theme // 10 % 10]}" for theme in self.themes + 10]
        tags = [f"theme {theme}" for theme in self.themes[::10]]
        ids, tag_ids = self.movie_ids, self.movie_ids[::10]
        return {
            "movies": pd.DataFrame({"movieId": ids, "title": titles, "genres": genres}),
            "links": pd.DataFrame({"movieId": ids, "imdbId": "", "tmdbId": ""}),
            "tags": pd.DataFrame({"userId": 1, "movieId": tag_ids, "tag": tags, "timestamp": FIRST_TIMESTAMP}),
        }


def write(options: GeneratorOptions, path: Path) -> None:
    """Write the archive to `path`, which is replaced in one step. The same options give the same bytes."""
    generator = Generator(options)
    part = path.with_name(f"{path.name}.part")
    with zipfile.ZipFile(part, "w") as archive:
        ratings = archive.open(_member("ratings.csv"), "w", force_zip64=True)
        with io.TextIOWrapper(ratings, "utf-8") as text:
            for batch, table in enumerate(generator.ratings()):
                table.to_csv(text, index=False, header=batch == 0)
        for name, table in generator.tables().items():
            archive.writestr(_member(f"{name}.csv"), table.to_csv(index=False))
        archive.writestr(_member("README.txt"), README.format(**vars(options)))
    part.replace(path)


def _member(name: str) -> zipfile.ZipInfo:
    """Return the description of a compressed file in the archive, with a constant date."""
    member = zipfile.ZipInfo(f"ml-20m/{name}")
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


def main() -> None:
    """Write the archive that the command line describes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("users", "films", "ratings", "seed"):
        parser.add_argument(f"--{name}", type=int, default=getattr(GeneratorOptions, name))
    parser.add_argument("--out", type=Path, default=Path("ml-20m-generated.zip"), metavar="FILE.zip")
    options = parser.parse_args()
    start = time.perf_counter()
    write(GeneratorOptions(options.users, options.films, options.ratings, options.seed), options.out)
    megabytes = options.out.stat().st_size / 1e6
    print(f"{options.out}: {options.ratings:,} ratings, {megabytes:.0f} MB, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
