"""Random data sets of a given size, in memory, to measure time and memory without a real data set.

Shapes: U users, I films, E events.
"""

import numpy as np

from recsys.data.dataset import Catalog, DataError, Dataset, Interactions, film_table

FIRST_TIMESTAMP = 789_652_009  # of the ratings of ML-20M, in seconds since 1970
LAST_TIMESTAMP = 1_427_784_002  # also of ML-20M
POPULARITY_SIGMA = 2.0  # of the log-normal popularities of films, close to MovieLens


def generate_dataset(users: int, films: int, mean_length: float, seed: int = 0, length_sigma: float = 1.4) -> Dataset:
    """Generate a data set with log-normal film popularities and history lengths that are log-normal above a minimum.

    All ratings are 4 stars. Unlike in MovieLens, a film may occur in a history more than once. The times of a user's
    events ascend, and each user's events come after all events of the previous user. A model can only learn the
    popularity.

    Args:
        users: Number of users.
        films: Number of films.
        mean_length: Mean number of films in a history.
        seed: Seed of the random numbers.
        length_sigma: Standard deviation of the logarithms of the lengths. With 0, all lengths are equal. The default is
            close to MovieLens: with the sizes of ML-20M, the median history is about half the mean.

    Raises:
        DataError: A size is less than 1.
    """
    if min(users, films, mean_length) < 1:
        raise DataError("generated data needs at least one user, one film and one film per user")
    rng = np.random.default_rng(seed)
    min_length = min(20.0, mean_length / 2)  # 20 as in MovieLens
    excess = rng.lognormal(sigma=length_sigma, size=users)
    excess *= (mean_length - min_length) / excess.mean()
    lengths = np.maximum(1, np.round(min_length + excess)).astype(np.int64)  # (U,)
    popularity = rng.lognormal(sigma=POPULARITY_SIGMA, size=films)
    views = rng.multinomial(lengths.sum(), popularity / popularity.sum())  # (I,)
    item = rng.permutation(np.repeat(np.arange(films, dtype=np.int32), views))  # (E,)
    user = np.repeat(np.arange(users, dtype=np.int32), lengths)
    timestamp = np.linspace(FIRST_TIMESTAMP, LAST_TIMESTAMP, len(item)).astype(np.int64)
    events = Interactions(user, item, np.full(len(item), 4, np.float32), timestamp)
    return Dataset("generated", generate_catalog(films), events, user_ids=np.arange(1, users + 1))


def generate_catalog(films: int) -> Catalog:
    """Return a catalogue of films with the titles "Film 1", "Film 2", …, the year 2000 and no genres."""
    movies = film_table([(n, f"Film {n}", 2000, "", "", "", None) for n in range(1, films + 1)])
    return Catalog(movies, infrequent=movies.iloc[:0])  # all films are items, also those without events
