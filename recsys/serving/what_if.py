"""What changes in the predictions when the history changes: which films rise, fall, come in and drop out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from recsys.data.schema import Dataset
from recsys.models.base import Recommender
from recsys.serving.recommend import History, log_sum_exp, score_each, top


class Turn(Enum):
    """What became of a film among the first k."""

    ENTERED = "entered"
    ROSE = "rose"
    STAYED = "stayed"
    FELL = "fell"
    LEFT = "left"


@dataclass(frozen=True)
class Place:
    """Where a film stands in a list."""

    rank: int | None  # from 1, in the whole list; None: hidden or ruled out
    probability: float | None  # None: the model's scores are no logits


@dataclass(frozen=True)
class Shift:
    """One film that stands among the first k of either list."""

    item: int
    before: Place
    after: Place
    turn: Turn


def without(history: Sequence[int], place: int) -> tuple[int, ...]:
    """The history without the film at a place, counted from 0; IndexError where there is none."""
    _check(history, place)
    return (*history[:place], *history[place + 1 :])


def moved(history: Sequence[int], place: int, to: int) -> tuple[int, ...]:
    """The history with the film at `place` put at the place `to`, both counted from 0; IndexError outside."""
    _check(history, place, to)
    rest = list(without(history, place))
    rest.insert(to, history[place])
    return tuple(rest)


def _check(history: Sequence[int], *places: int) -> None:
    for place in places:
        if not 0 <= place < len(history):
            raise IndexError(f"a history of {len(history)} films has no place {place}; places count from 0")


def shifts(
    dataset: Dataset,
    model: Recommender,
    before: History,
    after: History,
    k: int = 10,
    hide_seen: bool = True,
    allowed: np.ndarray | None = None,
) -> list[Shift]:
    """The films among the first k after either history: those of the new list in its order, then those that left it.

    allowed (I,): which films may be recommended; None: all. A film dropped from the history may be recommended again.
    Raises ServingError as `recommend` does.
    """
    old, new = (
        _ranked(model, scores, watched if hide_seen else watched[:0], allowed)
        for watched, scores in score_each(dataset, model, [before, after])
    )
    shown = dict.fromkeys([*new.first(k), *old.first(k)])
    return [Shift(item, old.place(item), new.place(item), _turn(old.rank(item), new.rank(item), k)) for item in shown]


@dataclass(frozen=True)
class _Ranked:
    """A whole list: items from the best, and where each item stands in it."""

    order: np.ndarray  # items
    ranks: np.ndarray  # (I,) from 1; 0: not in the list
    probabilities: np.ndarray | None  # (I,)

    def first(self, k: int) -> list[int]:
        return self.order[:k].tolist()

    def rank(self, item: int) -> int | None:
        return int(self.ranks[item]) or None

    def place(self, item: int) -> Place:
        chances = self.probabilities
        return Place(self.rank(item), None if chances is None else float(chances[item]))


def _ranked(model: Recommender, scores: np.ndarray, seen: np.ndarray, allowed: np.ndarray | None) -> _Ranked:
    """The list of one row of scores (I,), which is overwritten."""
    chances = np.exp(scores - log_sum_exp(scores)) if model.softmax and scores.max() > -math.inf else None
    if allowed is not None:
        scores[~allowed] = -np.inf
    order = top(scores, seen, len(scores))
    ranks = np.zeros(len(scores), np.int64)
    ranks[order] = np.arange(1, len(order) + 1)
    return _Ranked(order, ranks, chances)


def _turn(before: int | None, after: int | None, k: int) -> Turn:
    """What became of a film that stands among the first k before, after, or both times."""
    if before is None or before > k:
        return Turn.ENTERED
    if after is None or after > k:
        return Turn.LEFT
    return Turn.STAYED if before == after else Turn.ROSE if after < before else Turn.FELL
