"""Recommend films for two people: a recommender ranks the films for each person, and the two rankings are merged.

A film has a value for each person, `RankPosition.log_rank_score`. It depends only on the rank, because ranks can be
compared between people, and scores of models cannot. The rule "fair" orders films by the lower of the two values (least
misery), the rule "average" by their mean.

Shapes: I items.

Reference: Masthoff, Group recommender systems: combining individual models, in Recommender Systems Handbook, 2011.
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
from recsys.serving.history import MAX_ID_DIGITS, OMITTED_PREFIX
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import RankPosition, Request, exclusion_mask, rank_positions, rankings

MAX_SHARED_FILMS = 100  # of a shared list; the newest films are kept
RULES = ("fair", "average")
_ID = rf"\d{{1,{MAX_ID_DIGITS}}}"
SHARED_LIST_PATTERN = re.compile(  # "ml-1m.1-260-1196": name of a data set, and the ids of films
    rf"\w[\w.-]{{0,59}}\.{_ID}(-{_ID}){{0,{MAX_SHARED_FILMS - 1}}}"
)
_IDS = re.compile(rf"{_ID}(-{_ID})*")  # "1-260-1196"


@dataclass(frozen=True)
class GroupRecommendation:
    """A film that is recommended to two people."""

    rank: int  # 1 = best in the merged ranking
    item: int
    film: Film
    positions: tuple[RankPosition, RankPosition]  # in the ranking of each person


def recommend_for_two(
    predictors: tuple[Predictor, Predictor],
    requests: tuple[Request, Request],
    k: int,
    rule: str = "fair",
    allowed: np.ndarray | None = None,
) -> list[GroupRecommendation]:
    """Return at most k films for two people, best first.

    A film is excluded if either request excludes it, or if either person has watched it.

    Args:
        predictors: The recommender for each person. `for_unordered_list` adapts it to favourites in no order.
        requests: The request of each person.
        k: Number of films.
        rule: One of RULES.
        allowed: Mask (I,) bool. Films with False are also excluded. None: all films are allowed.
    """
    pairs = [
        (predictor, replace(request, filters=replace(request.filters, hide_seen=True)))
        for predictor, request in zip(predictors, requests, strict=True)
    ]
    excluded = np.logical_or(*(exclusion_mask(predictor, request) for predictor, request in pairs))
    if allowed is not None:
        excluded |= ~allowed
    left, right = (next(rankings(predictor, [request], [excluded])) for predictor, request in pairs)
    items = merge_rankings(left, right, rule)[:k].tolist()
    position_pairs = zip(rank_positions(left, items), rank_positions(right, items), strict=True)
    films = predictors[0].dataset.catalog.films
    return [
        GroupRecommendation(rank, item, films[item], positions)
        for rank, (item, positions) in enumerate(zip(items, position_pairs, strict=True), start=1)
    ]


def merge_rankings(left: Ranking, right: Ranking, rule: str) -> np.ndarray:
    """Return the items that both rankings have, (n,), best first. Ties are ordered by the other rule."""
    scores = np.stack([_log_rank_scores(left), _log_rank_scores(right)])  # (2, I)
    items = np.flatnonzero(np.isfinite(scores).all(0))
    # rounded, because equal scores can differ in the last bits: log 2 + log 6 and log 3 + log 4
    lower, total = scores[:, items].min(0).round(9), scores[:, items].sum(0).round(9)
    order = np.lexsort((-total, -lower) if rule == "fair" else (-lower, -total))  # the last key counts most
    return items[order]


def _log_rank_scores(ranking: Ranking) -> np.ndarray:
    """Return `RankPosition.log_rank_score` of all items, (I,), but -inf for excluded items."""
    log_rank_scores = np.full(len(ranking.scores), -np.inf)
    items = ranking.top(len(ranking))
    log_rank_scores[items] = 1 - np.log(np.arange(1, len(items) + 1)) / np.log(max(2, len(items)))
    return log_rank_scores


def list_from_link(text: str) -> str:
    """Return the newest MAX_SHARED_FILMS films of a link to this app, in the format of `format_list`.

    Raises:
        RecsysError: If the text is not a link to a list of films.
    """
    parameters = parse_qs(text.strip().partition("?")[2].partition("#")[0])  # the text between "?" and "#"
    dataset_name = parameters.get("data", [DEFAULT_DATASET])[0]
    # "s" has the ids of the films, after the number of omitted films
    ids = OMITTED_PREFIX.sub("", parameters.get("s", [""])[0])
    if not _IDS.fullmatch(ids):
        raise RecsysError("this is not a link to a list of films; copy the link from the address bar or from “Share”")
    films = format_list(dataset_name, [int(movie_id) for movie_id in ids.split("-")])
    if not SHARED_LIST_PATTERN.fullmatch(films):  # the name of the data set is invalid
        raise RecsysError("the link has an invalid data set name")
    return films


def group_table(recommendations: Sequence[GroupRecommendation]) -> pd.DataFrame:
    """Return a row per film: rank, film, and the rank and probability for each person.

    A probability is missing if the model has none.
    """
    rows = []
    for recommendation in recommendations:
        row = {"rank": recommendation.rank, **recommendation.film._asdict()}
        for person, position in zip(("your", "their"), recommendation.positions, strict=True):
            row |= {f"{person}_rank": position.rank, f"{person}_probability": position.probability}
        rows.append(row)
    return pd.DataFrame(rows)


def format_list(dataset_name: str, movie_ids: Sequence[int]) -> str:
    """Return the newest MAX_SHARED_FILMS films as "ml-1m.1-260-1196", "" for none. `movie_ids` are oldest first."""
    return f"{dataset_name}.{'-'.join(map(str, movie_ids[-MAX_SHARED_FILMS:]))}" if movie_ids else ""
