"""Films that two people could watch together: both histories are ranked by one recommender, and the ranks are joined.

How much somebody wants a film is its nearness to the top of their list (`Standing.nearness`: 1 for the first film, 0
for the last, by the logarithm of the rank), as ranks can be compared between people and scores cannot. "Fair" counts
the one who wants it less (least misery), "average" the mean of both; see Masthoff, Group recommender systems: combining
individual models, in Recommender Systems Handbook, 2011. Shapes: I films.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import parse_qs

import numpy as np
import pandas as pd

from recsys.data.dataset import Film
from recsys.data.datasets import DEFAULT_DATASET
from recsys.errors import RecsysError
from recsys.ranking.ranking import Ranking
from recsys.serving.history import EARLIER
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Request, Standing, hidden_mask, rankings_without, standings_in

MOST = 100  # films of the other one that are kept, the newest
RULES = ("fair", "average")
LIST = re.compile(rf"\w[\w.-]{{0,59}}\.\d{{1,9}}(-\d{{1,9}}){{0,{MOST - 1}}}")  # data set, dot, original film ids
_IDS = re.compile(r"\d{1,9}(-\d{1,9})*")


@dataclass(frozen=True)
class Shared:
    """One film for two."""

    rank: int  # 1 = best for both
    item: int
    film: Film
    standings: Sequence[Standing]  # in the lists of the two


def together(
    predictor: Predictor,
    requests: tuple[Request, Request],
    k: int,
    rule: str = "fair",
    passing: np.ndarray | None = None,
) -> list[Shared]:
    """The k films that are best for two people, best first; fewer where the films run out.

    No film that either has watched or does not want, and none that the filters of either refuse; passing: (I,) bool,
    which films may be shown at all. A film that the recommender rules out for one of them is not listed. Raises
    ServingError and ScoreError as `recommend` does.
    """
    asked = [replace(request, filters=replace(request.filters, hide_seen=True)) for request in requests]
    hidden = hidden_mask(predictor, asked[0]) | hidden_mask(predictor, asked[1])
    if passing is not None:
        hidden |= ~passing
    histories, ratings = [one.history for one in asked], [one.ratings for one in asked]
    first, second = rankings_without(predictor, histories, [hidden, hidden], ratings)
    items = joined(first, second, rule)[:k].tolist()
    both = zip(standings_in(first, items), standings_in(second, items), strict=True)
    films = predictor.dataset.catalog.films
    return [
        Shared(rank, item, films[item], pair)
        for rank, (item, pair) in enumerate(zip(items, both, strict=True), start=1)
    ]


def joined(first: Ranking, second: Ranking, rule: str) -> np.ndarray:
    """(n,) items that both rankings list, the best for both first; of equals the better by the other rule."""
    ranks = np.stack([_ranks(first), _ranks(second)])  # (2, I), infinite: not listed
    items = np.flatnonzero(np.isfinite(ranks).all(0))
    worse, both = ranks[:, items].max(0), ranks[:, items].prod(0)  # a mean of logarithms orders as a product does
    order = np.lexsort((both, worse) if rule == "fair" else (worse, both))
    return items[order]


def _ranks(ranking: Ranking) -> np.ndarray:
    """(I,) the rank of each item, as `Ranking.rank` has it; infinite where it is not listed."""
    order = np.argsort(-ranking.scores, kind="stable")
    ranks = np.empty(len(order))
    ranks[order] = np.arange(1, len(order) + 1)
    ranks[ranking.scores == -np.inf] = np.inf
    return ranks


def from_link(text: str) -> str:
    """The films of a link of this app, as LIST has them: the newest MOST. Raises RecsysError where there are none."""
    asked = parse_qs(text.strip().partition("?")[2].partition("#")[0])
    data, ids = asked.get("data", [DEFAULT_DATASET])[0], EARLIER.sub("", asked.get("s", [""])[0])
    if not _IDS.fullmatch(ids):
        raise RecsysError("this is no link to a list of films; copy it from the address bar, or from Share")
    found = listed(data, [int(one) for one in ids.split("-")])
    if not LIST.fullmatch(found):
        raise RecsysError("the link names a data set that cannot be one")
    return found


def table(found: Sequence[Shared]) -> pd.DataFrame:
    """The films for a file: rank, film, and rank and probability for each of the two (NaN: the model has none)."""
    rows = []
    for one in found:
        row = {"rank": one.rank, **one.film._asdict()}
        for who, standing in zip(("your", "their"), one.standings, strict=True):
            row |= {f"{who}_rank": standing.rank, f"{who}_probability": standing.probability}
        rows.append(row)
    return pd.DataFrame(rows)


def listed(data: str, movie_ids: Sequence[int]) -> str:
    """Films of a data set, oldest first, as LIST has them: the newest MOST; "" for none."""
    return f"{data}.{'-'.join(map(str, movie_ids[-MOST:]))}" if movie_ids else ""
