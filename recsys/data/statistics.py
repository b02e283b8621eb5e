"""What a data set is like: how much of it there is, who watched how much, and which films.

Every table is small, whatever the set: a row for a bar or a point of a chart. Shapes: U people, I films, E events.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from recsys.data.dataset import Dataset

TOP_SHARES = (0.01, 0.10, 0.20)  # of the films, the most watched
LORENZ_POINTS = 100  # of the curve
GAPS = (  # what passes between two ratings of one person: name, seconds below which it counts as that
    ("the same second", 1),
    ("under a minute", 60),
    ("under an hour", 3_600),
    ("under a day", 86_400),
    ("a day or more", np.inf),
)
SHORT_SPAN = 5 * 365 * 86_400  # seconds: ratings of fewer years are counted by month


@dataclass(frozen=True)
class Size:
    """How much there is."""

    people: int
    films: int  # that somebody can be recommended
    left_out: int  # films with too few ratings to learn from
    ratings: int
    first: int  # second of the first rating, since 1970; 0 where the set has no times
    last: int

    @property
    def density(self) -> float:
        """The share of all pairs of a person and a film that were rated."""
        return self.ratings / max(1, self.people * self.films)


def size(dataset: Dataset) -> Size:
    """How much a data set holds."""
    times, left_out = dataset.interactions.timestamp, len(dataset.catalog.infrequent)
    first, last = (int(times.min()), int(times.max())) if has_times(dataset) else (0, 0)
    return Size(dataset.n_users, dataset.n_items, left_out, len(times), first, last)


def has_times(dataset: Dataset) -> bool:
    """Whether it is known when people rated; in a set without times the numbers of rows stand for them."""
    return bool(len(dataset.interactions)) and dataset.ties != "rows"


def has_ratings(dataset: Dataset) -> bool:
    """Whether people gave stars; in a set without them a 1 stands for each."""
    return bool((dataset.interactions.rating != 1).any())


@dataclass(frozen=True)
class Lengths:
    """How many films people watched."""

    table: pd.DataFrame  # from, to (both included), people: bins that grow with the length
    median: float
    p90: float  # a tenth of the people watched more
    shortest: int
    longest: int


def lengths(dataset: Dataset) -> Lengths:
    """How long the histories of people are; those of people without films are not counted."""
    known = np.diff(dataset.offsets)
    known = known[known > 0]
    if not len(known):
        return Lengths(pd.DataFrame({"from": [], "to": [], "people": []}, dtype=int), 0.0, 0.0, 0, 0)
    edges = _growing(int(known.min()), int(known.max()))
    people = np.histogram(known, np.append(edges, np.inf))[0]
    table = pd.DataFrame({"from": edges, "to": np.append(edges[1:] - 1, known.max()), "people": people})
    median, p90 = np.percentile(known, [50, 90])
    return Lengths(table, float(median), float(p90), int(known.min()), int(known.max()))


def _growing(least: int, most: int, steps: int = 24) -> np.ndarray:
    """Up to `steps` whole numbers from least to most, where each bin is as much wider as its start is larger."""
    return np.unique(np.geomspace(least, most + 1, steps + 1).astype(np.int64))[:-1]


@dataclass(frozen=True)
class LongTail:
    """How unequally films are watched."""

    curve: pd.DataFrame  # films, events: shares, the most watched films first, from 0, 0 to 1, 1 (a Lorenz curve)
    top: dict[float, float]  # share of the films → their share of the events, for TOP_SHARES
    gini: float  # 0: all are watched equally often; towards 1: one film has it all


def long_tail(counts: np.ndarray) -> LongTail:
    """From how often each of I films was watched (I,). Gini, Variabilità e mutabilità, 1912.

    A share of the films is rounded to whole films, and is one at least.
    """
    ordered = np.sort(counts)[::-1].astype(np.float64)
    n, total = len(ordered), float(ordered.sum())
    if not total:
        return LongTail(pd.DataFrame({"films": [0.0, 1.0], "events": [0.0, 1.0]}), dict.fromkeys(TOP_SHARES, 0.0), 0.0)
    reached = np.append(0, np.cumsum(ordered)) / total  # by how many of the first films, 0…n
    places = np.unique(np.linspace(0, n, min(n, LORENZ_POINTS) + 1).round().astype(np.int64))
    curve = pd.DataFrame({"films": places / n, "events": reached[places]})
    top = {share: float(reached[max(1, round(share * n))]) for share in TOP_SHARES}
    gini = float(((n + 1 - 2 * np.arange(1, n + 1)) * ordered).sum() / (n * total))
    return LongTail(curve, top, gini)


def years(dataset: Dataset) -> pd.DataFrame:
    """decade, films, events: when the films were made, and how often those of each decade were watched.

    Films without a year are not in it; a decade between others without a film has zeros.
    """
    made = dataset.catalog.movies["year"]
    known = made.notna().to_numpy()
    decades = made[known].to_numpy(np.int64) // 10 * 10
    if not len(decades):
        return pd.DataFrame({"decade": [], "films": [], "events": []}, dtype=int)
    place = (decades - decades.min()) // 10
    films, events = np.bincount(place), np.bincount(place, weights=dataset.counts[known]).astype(np.int64)
    return pd.DataFrame({"decade": decades.min() + 10 * np.arange(len(films)), "films": films, "events": events})


def genres(dataset: Dataset) -> pd.DataFrame:
    """genre, films, events, rating: a film counts for each of its genres; the most watched genre first.

    films and events are shares of all films and of all events; rating: the mean stars.
    """
    of_films = dataset.catalog.movies["genres"].astype("str").str.get_dummies("|").drop(columns="", errors="ignore")
    has = of_films.to_numpy()  # (I, G) 0 or 1
    events = dataset.interactions
    stars = np.bincount(events.item, weights=events.rating, minlength=dataset.n_items)
    watched = dataset.counts @ has
    table = pd.DataFrame(
        {
            "genre": list(of_films.columns),
            "films": has.sum(0) / max(1, dataset.n_items),
            "events": watched / max(1, len(events)),
            "rating": np.divide(stars @ has, watched, out=np.full(len(watched), np.nan), where=watched > 0),
        }
    )
    return table.sort_values("events", ascending=False, kind="stable", ignore_index=True)


def over_time(dataset: Dataset) -> pd.DataFrame:
    """when ("2000-04" where the set spans a few years, else "2000"), ratings, people who rated then.

    Empty where there are no times.
    """
    events = dataset.interactions
    if not has_times(dataset):
        return pd.DataFrame({"when": [], "ratings": [], "people": []})
    unit = "M" if int(np.ptp(events.timestamp)) < SHORT_SPAN else "Y"
    when = events.timestamp.astype("datetime64[s]").astype(f"datetime64[{unit}]")
    place = when.astype(np.int64) - int(when.astype(np.int64).min())
    ratings = np.bincount(place)
    pairs = np.unique(place * dataset.n_users + events.user)  # of a time and a person who rated then
    people = np.bincount(pairs // dataset.n_users, minlength=len(ratings))
    names = (when.min() + np.arange(len(ratings))).astype(str)
    return pd.DataFrame({"when": names, "ratings": ratings, "people": people})


def stars(dataset: Dataset) -> pd.DataFrame:
    """stars, share of the ratings; empty where there are none."""
    if not has_ratings(dataset):
        return pd.DataFrame({"stars": [], "share": []})
    values, n = np.unique(dataset.interactions.rating, return_counts=True)
    return pd.DataFrame({"stars": values, "share": n / max(1, n.sum())})


def gaps(dataset: Dataset) -> pd.DataFrame:
    """gap, share: what passes between two neighbouring ratings of one person, by GAPS.

    Empty where there are no times.
    """
    if not has_times(dataset):
        return pd.DataFrame({"gap": [], "share": []})
    events = dataset.interactions
    same_person = events.user[1:] == events.user[:-1]
    seconds = np.diff(events.timestamp)[same_person]
    bounds = [0, *(below for _, below in GAPS)]
    n = np.histogram(seconds, bounds)[0]
    return pd.DataFrame({"gap": [name for name, _ in GAPS], "share": n / max(1, len(seconds))})


@dataclass(frozen=True)
class Statistics:
    """All of it."""

    size: Size
    lengths: Lengths
    long_tail: LongTail
    years: pd.DataFrame
    genres: pd.DataFrame
    over_time: pd.DataFrame
    stars: pd.DataFrame
    gaps: pd.DataFrame

    @classmethod
    def of(cls, dataset: Dataset) -> "Statistics":
        """Those of a data set; takes a second or less for each million ratings."""
        return cls(
            size(dataset),
            lengths(dataset),
            long_tail(dataset.counts),
            years(dataset),
            genres(dataset),
            over_time(dataset),
            stars(dataset),
            gaps(dataset),
        )
