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
FOUND = 10  # a film is found when its rank is at most this


def look_for(predictor: Predictor, films: Sequence[int], positions: Sequence[int]) -> list[Standing]:
    """Where the film at each of F positions (from 0) stands after the films before it."""
    histories = [films[:position] for position in positions]
    return standings(predictor, histories, [films[position] for position in positions])


def positions(films: Sequence[int]) -> list[int]:
    """The positions of the newest films that have at least one before them, the newest first."""
    return list(range(len(films) - 1, 0, -1))[:NEWEST]


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
