"""Why a film is recommended: each watched film is left out in turn, and the recommended one is looked at again.

This asks the model itself, so it works for every recommender, and it answers for this history only. Films pull
together: the effects of two need not add up to that of both. Shapes: N films left out in turn, I films.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from recsys.data.schema import Dataset
from recsys.models.base import Recommender
from recsys.serving.recommend import History, ahead_of, log_sum_exp, score_each

MOST = 50  # films that are left out in turn, the newest: a long history is weighed in a second
LEAST = -50.0  # stands for minus infinity, so that the effect on a film that was ruled out is a number
NOTICEABLE = 1e-3  # effects below this are rounding: they change a probability by less than a thousandth of itself


@dataclass(frozen=True)
class Standing:
    """How one film stands after one history."""

    value: float  # log-probability; where a model has none, standard deviations above the mean score
    probability: float | None  # None: this model's scores are no logits
    rank: int | None  # among the films that were not watched; None: the model rules it out


@dataclass(frozen=True)
class Influence:
    """What one watched film did to a recommended one."""

    place: int  # in the history, from 0
    item: int
    effect: float  # the film's value minus its value without this one: above 0, this one lifted it
    without: Standing  # where it would stand had this one not been watched


@dataclass(frozen=True)
class Explanation:
    """What each watched film did to one recommended film."""

    item: int
    standing: Standing  # after the whole history
    influences: tuple[Influence, ...]  # the strongest first, whichever way; of equal ones the newest
    watched: int  # films of the history; only the newest len(influences) were left out in turn

    @property
    def lifted_by(self) -> tuple[Influence, ...]:
        """The films that helped noticeably, the strongest first."""
        return tuple(one for one in self.influences if one.effect > NOTICEABLE)

    @property
    def lowered_by(self) -> tuple[Influence, ...]:
        """The films that stood noticeably in the way, the strongest first."""
        return tuple(one for one in self.influences if one.effect < -NOTICEABLE)


def explain(dataset: Dataset, model: Recommender, history: History, items: Sequence[int]) -> list[Explanation]:
    """One explanation for each of `items` (0…I-1) after a history of items, oldest first.

    At most MOST films are left out in turn, and none that the model no longer reads. A history of one film is compared
    with the empty one; an empty history has no influences. Raises ServingError as `recommend` does.
    """
    watched = np.asarray(history, np.int64)
    places = np.arange(len(watched))[-weighed(model) :]
    left = [np.delete(watched, place) for place in places]
    rows = [
        [_standing(model, scores, log_sum, watched, item) for item in items]
        for scores, log_sum in _scored(dataset, model, [watched, *left])
    ]
    whole, others = rows[0], rows[1:]
    return [
        Explanation(item, whole[column], _influences(watched, places, whole, others, column), len(watched))
        for column, item in enumerate(items)
    ]


def weighed(model: Recommender) -> int:
    """The newest films of a history that are left out in turn, at most: none that the model cannot see."""
    return min(MOST, getattr(model.config, "length", MOST))


def _scored(
    dataset: Dataset, model: Recommender, histories: Sequence[np.ndarray]
) -> Iterator[tuple[np.ndarray, float]]:
    """Each history's scores (I,) with the logarithm of the sum of their exponentials, NaN where they are no logits."""
    for _, scores in score_each(dataset, model, histories):
        yield scores, log_sum_exp(scores) if model.softmax else math.nan


def _influences(
    watched: np.ndarray, places: np.ndarray, whole: list[Standing], others: list[list[Standing]], column: int
) -> tuple[Influence, ...]:
    """What each film left out did to the item of one column, the strongest first."""
    found = [
        Influence(int(place), int(watched[place]), whole[column].value - without[column].value, without[column])
        for place, without in zip(places, others, strict=True)
    ]
    return tuple(sorted(found, key=lambda one: (-abs(one.effect), -one.place)))


def _standing(model: Recommender, scores: np.ndarray, log_sum: float, watched: np.ndarray, item: int) -> Standing:
    """Where one film stands in a row of scores (I,); the films of the whole history do not compete."""
    score = float(scores[item])
    if score == -math.inf:
        return Standing(LEAST, 0.0 if model.softmax else None, None)
    ahead = ahead_of(scores, score, item)
    ahead[watched] = False
    rank = int(np.count_nonzero(ahead)) + 1
    if model.softmax:
        return Standing(max(score - log_sum, LEAST), math.exp(score - log_sum), rank)
    known = scores[np.isfinite(scores)].astype(np.float64)
    spread = float(known.std())
    return Standing((score - float(known.mean())) / spread if spread > 0 else 0.0, None, rank)
