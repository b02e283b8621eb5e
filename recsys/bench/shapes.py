"""Data sets of a wanted size, drawn at random in memory: for measuring cost where no real set is at hand.

Shapes: U users, I films, E events.
"""

import numpy as np
import pandas as pd

from recsys.data.schema import MOVIE_COLUMNS, Catalog, DataError, Dataset, Interactions

FIRST, LAST = 789_652_009, 1_427_784_002  # when the ratings of ML-20M begin and end, in seconds since 1970


def generated(
    users: int, films: int, mean_length: float, seed: int = 0, user_spread: float = 1.4, film_spread: float = 2.0
) -> Dataset:
    """A data set with long tails on both sides and nothing to learn but what is popular.

    Films that a user watched, and views that a film got, are log-normal; a spread is the standard deviation of the
    logarithm, 0 makes all alike. The defaults come near to MovieLens: with ML-20M's users, films and mean its median
    history is about half the mean (68 films of 144 there), none is shorter than 20 films, and the most watched tenth of
    the films has three quarters of the views. Unlike there, a film may stand in a history more than once.
    Raises DataError for a shape that no data can have.
    """
    if min(users, films, mean_length) < 1:
        raise DataError("generated data needs at least one user, one film and one film per user")
    rng = np.random.default_rng(seed)
    lengths = _lengths(users, mean_length, user_spread, rng)
    popularity = rng.lognormal(sigma=film_spread, size=films)
    views = rng.multinomial(lengths.sum(), popularity / popularity.sum())  # (I,)
    item = rng.permutation(np.repeat(np.arange(films, dtype=np.int32), views))  # (E,)
    user = np.repeat(np.arange(users, dtype=np.int32), lengths)
    timestamp = np.linspace(FIRST, LAST, len(item)).astype(np.int64)
    events = Interactions(user, item, np.full(len(item), 4, np.float32), timestamp)
    return Dataset("generated", catalog(films), events, np.arange(1, users + 1))


def _lengths(users: int, mean: float, spread: float, rng: np.random.Generator) -> np.ndarray:
    """(U,) films per user with that mean; where most have more, nobody has fewer than 20, as in MovieLens."""
    fewest = min(20.0, mean / 2)
    above = rng.lognormal(sigma=spread, size=users)
    return np.maximum(1, np.round(fewest + above * ((mean - fewest) / above.mean()))).astype(np.int64)


def catalog(films: int) -> Catalog:
    """Films "Film 1", "Film 2", … of one year and no genre; their ids are 1, 2, …"""
    number = np.arange(1, films + 1)
    movies = pd.DataFrame(
        {
            "movie_id": number,
            "title": [f"Film {n}" for n in number],
            "year": pd.array(np.full(films, 2000), dtype="Int64"),
            "genres": "",
            "tags": "",
            "imdb_id": "",
            "tmdb_id": pd.array([pd.NA] * films, dtype="Int64"),
        }
    )[list(MOVIE_COLUMNS)]
    return Catalog(movies, movies.iloc[:0])
