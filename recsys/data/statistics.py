"""Compute statistics of a data set for charts: size, activity of users, popularity of films, and times.

Tables have a row for each bar or point of a chart. A table is empty if the data set lacks the times, ratings or years
that it needs. Columns called "people" have numbers of users.
Shapes: U users, I films, E events, G genres.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from recsys.data.dataset import Dataset

TOP_SHARES = (0.01, 0.10, 0.20)  # shares of all films: the most watched 1 %, 10 % and 20 %
MAX_LORENZ_POINTS = 100  # without the origin
MAX_HISTOGRAM_BINS = 24
GAPS = {  # time between two ratings → exclusive upper bound in seconds
    "the same second": 1,
    "under a minute": 60,
    "under an hour": 3_600,
    "under a day": 86_400,
    "a day or more": np.inf,
}
MAX_MONTHLY_SPAN_SECONDS = 5 * 365 * 86_400  # ratings of more than five years are counted by year, not by month


class Size(NamedTuple):
    """Counts of a data set."""

    users: int
    films: int  # used for training
    infrequent_films: int  # films with too few ratings for training
    ratings: int  # events, also if they have no rating values
    first_time: int  # of the oldest rating, in seconds since 1970; 0: no times
    last_time: int  # of the newest rating, in seconds since 1970; 0: no times

    @property
    def density(self) -> float:
        """Share of all (user, film) pairs that were rated."""
        return self.ratings / (self.users * self.films)


def size(dataset: Dataset) -> Size:
    """Count users, films and ratings."""
    times = dataset.interactions.timestamp
    span = (int(times.min()), int(times.max())) if dataset.has_times else (0, 0)
    return Size(dataset.n_users, dataset.n_items, len(dataset.catalog.infrequent), len(times), *span)


def has_ratings(dataset: Dataset) -> bool:
    """Return whether the events have rating values. Without values, every rating is 1."""
    return bool((dataset.interactions.rating != 1).any())


class Lengths(NamedTuple):
    """Distribution of the history lengths."""

    table: pd.DataFrame  # histogram with the columns from, to (both inclusive), people; long histories have wide bins
    median: float
    p90: float  # 90th percentile
    shortest: int
    longest: int


def lengths(dataset: Dataset) -> Lengths:
    """Compute the distribution of history lengths."""
    counts = np.diff(dataset.offsets)
    shortest, longest = int(counts.min()), int(counts.max())
    edges = np.unique(np.geomspace(shortest, longest + 1, MAX_HISTOGRAM_BINS + 1).astype(np.int64))
    people = np.histogram(counts, edges)[0]
    table = pd.DataFrame({"from": edges[:-1], "to": edges[1:] - 1, "people": people})
    median, p90 = np.percentile(counts, [50, 90])
    return Lengths(table, float(median), float(p90), shortest, longest)


class LongTail(NamedTuple):
    """Concentration of the ratings on few films."""

    curve: pd.DataFrame  # Lorenz curve: cumulative shares of films and ratings, the most watched films first
    # share of TOP_SHARES → share of the ratings. 0.1 → 0.7: the most watched 10 % of the films have 70 % of the ratings
    rating_share_of_top: dict[float, float]
    gini: float


def long_tail(counts: np.ndarray) -> LongTail:
    """Compute the concentration of ratings from the number of ratings (I,) of each film.

    The number of films in each share of TOP_SHARES is rounded to at least one film.
    """
    descending = np.sort(counts)[::-1].astype(np.float64)
    n_films = len(descending)
    cumulative = np.append(0, np.cumsum(descending)) / descending.sum()  # (I + 1,)
    positions = np.unique(np.linspace(0, n_films, min(n_films, MAX_LORENZ_POINTS) + 1).round().astype(np.int64))
    curve = pd.DataFrame({"films": positions / n_films, "ratings": cumulative[positions]})
    rating_share_of_top = {share: float(cumulative[max(1, round(share * n_films))]) for share in TOP_SHARES}
    return LongTail(curve, rating_share_of_top, gini(counts))


def gini(counts: np.ndarray) -> float:
    """Compute the Gini coefficient of counts (I,): 0 if all are equal, 1 - 1/I if only one is not 0.

    Reference: Gini, Variabilità e mutabilità, 1912. For ascending x: Σ (2i - I - 1) x_i / (I Σ x), with i from 1.
    """
    ascending = np.sort(counts)
    weights = 2 * np.arange(1, len(counts) + 1) - len(counts) - 1
    return float((weights * ascending).sum() / (len(counts) * max(ascending.sum(), 1)))  # 0 if all counts are 0


def decades(dataset: Dataset) -> pd.DataFrame:
    """Count films and ratings by decade of the film, in the columns decade, films, ratings.

    Films without a year are ignored.
    """
    decade = dataset.catalog.movies["year"] // 10 * 10
    films = pd.DataFrame({"decade": decade, "films": 1, "ratings": dataset.counts}).dropna().astype("int64")
    all_decades = range(films["decade"].min(), films["decade"].max() + 1, 10) if len(films) else []
    return films.groupby("decade").sum().reindex(pd.Index(all_decades, name="decade"), fill_value=0).reset_index()


def genres(dataset: Dataset) -> pd.DataFrame:
    """Return a row per genre with the columns genre, films (share of all), ratings (share of all), rating (mean).

    A film counts towards each of its genres. The genres with the most ratings are first.
    """
    flags = dataset.catalog.movies["genres"].astype("str").str.get_dummies("|").drop(columns="", errors="ignore")
    has_genre = flags.to_numpy()  # (I, G) 0 or 1
    events = dataset.interactions
    rating_sums = np.bincount(events.item, weights=events.rating, minlength=dataset.n_items) @ has_genre
    n_ratings = dataset.counts @ has_genre
    columns = {
        "genre": list(flags.columns),
        "films": has_genre.sum(0) / dataset.n_items,
        "ratings": n_ratings / len(events),
        "rating": np.divide(rating_sums, n_ratings, out=np.full(len(n_ratings), np.nan), where=n_ratings > 0),
    }
    return pd.DataFrame(columns).sort_values("ratings", ascending=False, kind="stable", ignore_index=True)


def over_time(dataset: Dataset) -> pd.DataFrame:
    """Count ratings and active users by month ("2000-04") or year, in the columns when, ratings, people."""
    events = dataset.interactions
    if not dataset.has_times:
        return pd.DataFrame({"when": [], "ratings": [], "people": []})
    unit = "M" if int(np.ptp(events.timestamp)) < MAX_MONTHLY_SPAN_SECONDS else "Y"
    when = events.timestamp.astype("datetime64[s]").astype(f"datetime64[{unit}]")
    period = (when - when.min()).astype(np.int64)  # (E,) months or years after the oldest rating
    ratings = np.bincount(period)
    active_pairs = np.unique(period * dataset.n_users + events.user)  # a number for each pair of period and user
    people = np.bincount(active_pairs // dataset.n_users, minlength=len(ratings))
    names = (when.min() + np.arange(len(ratings))).astype(str)
    return pd.DataFrame({"when": names, "ratings": ratings, "people": people})


def stars(dataset: Dataset) -> pd.DataFrame:
    """Compute the share of each rating value, in the columns stars, share."""
    if not has_ratings(dataset):
        return pd.DataFrame({"stars": [], "share": []})
    values, counts = np.unique(dataset.interactions.rating, return_counts=True)
    return pd.DataFrame({"stars": values, "share": counts / counts.sum()})


def gaps(dataset: Dataset) -> pd.DataFrame:
    """Compute the share of each key of GAPS among the times between ratings of a user, in the columns gap, share."""
    if not dataset.has_times:
        return pd.DataFrame({"gap": [], "share": []})
    events = dataset.interactions
    is_same_user = events.user[1:] == events.user[:-1]
    seconds = np.diff(events.timestamp)[is_same_user]
    counts = np.histogram(seconds, [0, *GAPS.values()])[0]
    return pd.DataFrame({"gap": list(GAPS), "share": counts / max(1, len(seconds))})


@dataclass(frozen=True)
class Statistics:
    """All statistics of a data set."""

    size: Size
    lengths: Lengths
    long_tail: LongTail
    decades: pd.DataFrame
    genres: pd.DataFrame
    over_time: pd.DataFrame
    stars: pd.DataFrame
    gaps: pd.DataFrame

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> "Statistics":
        """Compute all statistics. It takes a second or less for each million ratings."""
        tables = (compute(dataset) for compute in (decades, genres, over_time, stars, gaps))
        return cls(size(dataset), lengths(dataset), long_tail(dataset.counts), *tables)
