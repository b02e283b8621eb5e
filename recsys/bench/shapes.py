"""Random data sets of a given size, in memory, to measure time and memory without a real data set.

Shapes: U users, I films, E events.
"""

import numpy as np
import pandas as pd

from recsys.data.dataset import MOVIE_COLUMNS, Catalog, DataError, Dataset, Interactions

FIRST_TIMESTAMP = 789_652_009  # of the ratings of ML-20M, in seconds since 1970
LAST_TIMESTAMP = 1_427_784_002  # also of ML-20M


def generated(
    users: int, films: int, mean_length: float, seed: int = 0, user_spread: float = 1.4, film_spread: float = 2.0
) -> Dataset:
    """Generate a data set with log-normal film popularities and history lengths that are log-normal above a minimum.

    All ratings are 4 stars. Unlike in MovieLens, a film may occur in a history more than once. The times of a user's
    events ascend, and each user's events come after all of the previous user's. Popularity is the only pattern that a
    model can learn.

    The default spreads are close to MovieLens. With the number of users, the number of films and the mean length of
    ML-20M, the median history is about half the mean, as in ML-20M (68 and 144 films). No history is shorter than 20
    films. The most watched tenth of the films has three quarters of the views.

    Args:
        users: Number of users.
        films: Number of films.
        mean_length: Mean length of a history, in films.
        seed: Seed of the random generator.
        user_spread: Standard deviation of the logarithm of a history's excess over the minimum length; 0: all
            histories have the same length.
        film_spread: Standard deviation of the logarithm of a film's popularity; 0: all are equally popular.

    Returns:
        The data set "generated", with the catalogue of `catalog`.

    Raises:
        DataError: A size is less than 1.
    """
    if min(users, films, mean_length) < 1:
        raise DataError("generated data needs at least one user, one film and one film per user")
    rng = np.random.default_rng(seed)
    lengths = _lengths(users, mean_length, user_spread, rng)
    popularity = rng.lognormal(sigma=film_spread, size=films)
    views = rng.multinomial(lengths.sum(), popularity / popularity.sum())  # (I,)
    item = rng.permutation(np.repeat(np.arange(films, dtype=np.int32), views))  # (E,)
    user = np.repeat(np.arange(users, dtype=np.int32), lengths)
    timestamp = np.linspace(FIRST_TIMESTAMP, LAST_TIMESTAMP, len(item)).astype(np.int64)
    events = Interactions(user, item, np.full(len(item), 4, np.float32), timestamp)
    return Dataset("generated", catalog(films), events, np.arange(1, users + 1))


def _lengths(users: int, mean: float, spread: float, rng: np.random.Generator) -> np.ndarray:
    """Return the length of each history, (U,) int64, in films.

    The minimum is 20 as in MovieLens, or half the mean if that is less, and at least 1.
    """
    minimum = min(20.0, mean / 2)
    excess = rng.lognormal(sigma=spread, size=users)
    return np.maximum(1, np.round(minimum + excess * ((mean - minimum) / excess.mean()))).astype(np.int64)


def catalog(films: int) -> Catalog:
    """Return a catalogue of films with the titles "Film 1", "Film 2", …, the year 2000 and no genres."""
    movie_id = np.arange(1, films + 1)
    movies = pd.DataFrame(
        {
            "movie_id": movie_id,
            "title": [f"Film {n}" for n in movie_id],
            "year": pd.array(np.full(films, 2000), dtype="Int64"),
            "genres": "",
            "tags": "",
            "imdb_id": "",
            "tmdb_id": pd.array([pd.NA] * films, dtype="Int64"),
        }
    )[list(MOVIE_COLUMNS)]
    return Catalog(movies, infrequent=movies.iloc[:0])  # no film was left out
