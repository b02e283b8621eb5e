"""A visitor's own films, hidden one at a time: who would have found them, as the Evaluation page asks of everybody.

The rule: a film is looked for with the films watched before it, and nothing else. Films watched later are neither
known nor hidden, because at that time nobody knew of them. Shapes: F hidden films.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from recsys.data.schema import Dataset
from recsys.evaluation import metrics
from recsys.models.base import Recommender
from recsys.serving.recommend import Standing, standings

NEWEST = 20  # films that are hidden one by one, at most: as many rows as can still be read
FOUND = 10  # a film is found when it is among so many


def look_for(dataset: Dataset, model: Recommender, films: Sequence[int], places: Sequence[int]) -> list[Standing]:
    """Where the film at each of F places (from 0) stands, by a model that was told the films before that place."""
    return standings(dataset, model, [films[:place] for place in places], [films[place] for place in places])


def places(films: Sequence[int]) -> list[int]:
    """The places of the newest films that have at least one before them, the latest first."""
    return list(range(len(films) - 1, 0, -1))[:NEWEST]


@dataclass(frozen=True)
class Score:
    """How well one recommender found a visitor's films."""

    found: int  # of the F films, those among the first FOUND
    mrr: float  # mean reciprocal rank, in which a film that is not in the list counts 0


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
