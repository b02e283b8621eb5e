"""Why a film is recommended: each watched film is left out in turn, and the recommended one is ranked again.

Only the model's answers are compared, so this works for every recommender. It holds for this history only: the effect
of two films left out together need not be the sum of their effects. Shapes: N films left out in turn, I films.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from recsys.models.base import Model
from recsys.ranking.ranking import Ranking
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import (
    RankPosition,
    Request,
    check_items,
    exclusion_mask,
    rank_of,
    rankings_without,
    valid_films,
)

MAX_ABLATED = 50  # films that are left out in turn, the newest: even a long history takes about a second
MIN_LOG_PROB = -50.0  # stands for minus infinity, so that the effect on a film that was ruled out is a number
MIN_EFFECT = 1e-3  # smaller effects are rounding: they change a probability by less than a thousandth of itself


@dataclass(frozen=True)
class Influence:
    """What one watched film did to a recommended one."""

    position: int  # in the history, from 0
    item: int
    effect: float  # the strength of the recommended film minus its strength without this one; above 0: this one helped
    without: RankPosition  # where the recommended film would stand had this one not been watched


@dataclass(frozen=True)
class Explanation:
    """What each watched film did to one recommended film."""

    item: int
    standing: RankPosition  # after the whole history
    influences: tuple[Influence, ...]  # the strongest first, whichever way; of equal ones the newest
    watched: int  # films of the history; only the newest len(influences) were left out in turn

    @property
    def lifted_by(self) -> tuple[Influence, ...]:
        """The films that helped noticeably, the strongest first."""
        return tuple(one for one in self.influences if one.effect > MIN_EFFECT)

    @property
    def lowered_by(self) -> tuple[Influence, ...]:
        """The films that did noticeable harm, the strongest first."""
        return tuple(one for one in self.influences if one.effect < -MIN_EFFECT)


@dataclass(frozen=True)
class _Outcome:
    """How one film comes out after one history."""

    standing: RankPosition
    strength: float  # log-probability; where a model has none, standard deviations above the mean score


def explain(predictor: Predictor, request: Request, items: Sequence[int]) -> list[Explanation]:
    """One explanation for each of `items` (0…I-1) as answers to a request; its k and diversity do not matter.

    The films compete that the request lists, and `items`; not the one left out, so that all N + 1 lists are of the same
    films. At most MOST films are left out, and none that the model does not read. A history of one film is compared
    with the empty one; an empty history has no influences. Raises ServingError and ScoreError as `recommend` does.
    """
    watched = valid_films(predictor.dataset, request.history)
    wanted = check_items(predictor.dataset, items).tolist()
    positions = np.arange(len(watched))[-max_ablated_films(predictor.model) :]
    histories = [watched, *(np.delete(watched, position) for position in positions)]
    hidden = exclusion_mask(predictor, request)
    hidden[wanted] = False
    whole, *others = (
        _outcomes(ranking, wanted)
        for ranking in rankings_without(predictor, histories, repeat(hidden), repeat(request.ratings))
    )
    return [
        Explanation(item, whole[item].standing, _influences(watched, positions, whole, others, item), len(watched))
        for item in wanted
    ]


def max_ablated_films(model: Model) -> int:
    """How many films of a history, the newest, are left out in turn at most: none that the model does not read."""
    return min(MAX_ABLATED, MAX_ABLATED if model.max_length is None else model.max_length)


def _influences(
    watched: np.ndarray,
    positions: np.ndarray,
    whole: dict[int, _Outcome],
    others: list[dict[int, _Outcome]],
    item: int,
) -> tuple[Influence, ...]:
    """What each film left out did to one item, the strongest first."""
    found = [
        Influence(position, int(watched[position]), whole[item].strength - other[item].strength, other[item].standing)
        for position, other in zip(positions.tolist(), others, strict=True)
    ]
    return tuple(sorted(found, key=lambda one: (-abs(one.effect), -one.position)))


def _outcomes(ranking: Ranking, items: Sequence[int]) -> dict[int, _Outcome]:
    """How the items come out in one ranking."""
    found = zip(items, rank_of(ranking, items), _strengths(ranking, items), strict=True)
    return {item: _Outcome(standing, strength) for item, standing, strength in found}


def _strengths(ranking: Ranking, items: Sequence[int]) -> list[float]:
    """The strength of each item; LEAST for one that is not in the ranking."""
    scores, in_list = ranking.scores[items].astype(np.float64), ranking.scores[items] > -np.inf
    probabilities = ranking.probabilities(np.asarray(items)[in_list])
    values = np.full(len(items), MIN_LOG_PROB)
    if probabilities is None:
        values[in_list] = _z_scores(scores[in_list], ranking.scores)
    else:
        values[in_list] = [max(math.log(p), MIN_LOG_PROB) if p > 0 else MIN_LOG_PROB for p in probabilities]
    return values.tolist()


def _z_scores(scores: np.ndarray, among: np.ndarray) -> np.ndarray:
    """How many standard deviations scores (n,) lie above the mean of those listed `among` (I,)."""
    listed = among[among > -np.inf].astype(np.float64)
    mean, spread = listed.mean() if len(listed) else 0.0, listed.std() if len(listed) else 0.0
    return (scores - mean) / spread if spread > 0 else np.zeros(len(scores))
