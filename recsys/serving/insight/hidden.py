"""A person's own films, hidden one at a time: which recommender would have found them.

Each film is predicted from the films watched before it, as in evaluation. Those watched later are neither known nor
hidden from the list, because at that time nobody knew of them. Shapes: F hidden films.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from recsys.ranking import metrics
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Standing, standings

NEWEST = 20  # films that are hidden one by one, at most: as many rows as a person reads
LAST = 10  # films that stand for a whole history, at most
FOUND = 10  # a film is found when its rank is at most this


def look_for(predictor: Predictor, films: Sequence[int], positions: Sequence[int]) -> list[Standing]:
    """Where the film at each of F positions (from 0) stands after the films before it."""
    histories = [films[:position] for position in positions]
    return standings(predictor, histories, [films[position] for position in positions])


def last_known(films: Sequence[int], n_items: int, most: int = LAST) -> list[int]:
    """The positions of the last films that recommenders can know, with at least one before them, the newest first."""
    return [position for position in range(len(films) - 1, 0, -1) if films[position] < n_items][:most]


@dataclass(frozen=True)
class Guess:
    """How well one recommender guessed F films; intervals of 95 %, as wide as so few films make them."""

    found: int  # films among the first FOUND: HR@10 is found / F
    low: float  # of HR@10, by Wilson's score interval
    high: float
    ndcg: float  # NDCG@10
    median: float  # rank; infinite where half the films are not in the list
    best: float  # the interval of the median, by order statistics; NaN for fewer than six films
    worst: float


def guess(row: Sequence[Standing]) -> Guess:
    """What F ≥ 1 standings come to, with how sure that is."""
    from scipy.stats import binom, binomtest  # takes half a second, and a page begins without

    ranks = np.sort([standing.rank or np.inf for standing in row])
    n, found = len(ranks), int((ranks <= FOUND).sum())
    interval = binomtest(found, n).proportion_ci(method="wilson")
    ndcg = float(np.mean(metrics.values(ranks, f"ndcg@{FOUND}")))
    outside = int(binom.ppf(0.025, n, 0.5))  # order statistics left out at each end
    best, worst = (ranks[outside - 1], ranks[n - outside]) if outside else (np.nan, np.nan)
    return Guess(found, interval.low, interval.high, ndcg, float(np.median(ranks)), float(best), float(worst))


def guesses(rows: Mapping[str, Sequence[Standing]]) -> pd.DataFrame:
    """A row for each recommender, the best first: its name and the fields of `Guess`."""
    table = pd.DataFrame([{"recommender": name, **vars(guess(row))} for name, row in rows.items()])
    return table.sort_values(["found", "ndcg", "median"], ascending=[False, False, True], ignore_index=True)


@dataclass(frozen=True)
class Score:
    """How well one recommender found a person's films."""

    found: int  # of the F films, those among the first FOUND
    mrr: float  # mean reciprocal rank; a film that is not in the list counts 0


def score(row: Sequence[Standing]) -> Score:
    """What F ≥ 1 standings come to."""
    ranks = np.array([standing.rank or np.inf for standing in row])
    return Score(int((ranks <= FOUND).sum()), metrics.mrr(ranks))


def was_found(standing: Standing) -> bool:
    """Whether the film is among the first FOUND."""
    return standing.rank is not None and standing.rank <= FOUND


def table(rows: Mapping[str, Sequence[Standing]], titles: Sequence[str]) -> pd.DataFrame:
    """Film by film and recommender by recommender, for a file: rank, films in the list, probability."""
    cells = [
        {"film": title, "recommender": name, "rank": cell.rank, "of": cell.of, "probability": cell.probability}
        for name, row in rows.items()
        for title, cell in zip(titles, row, strict=True)
    ]
    return pd.DataFrame(cells).astype({"rank": "Int64"})
