"""What changes in the recommendations when the history changes: which films rise, fall, come in and drop out."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from recsys.serving.predictor import Predictor
from recsys.serving.recommend import RankPosition, Request, listed, rank_of


class Change(Enum):
    """What became of a film among the first k."""

    ENTERED = "entered"
    ROSE = "rose"
    STAYED = "stayed"
    FELL = "fell"
    LEFT = "left"


@dataclass(frozen=True)
class RankChange:
    """One film that is among the first k of either list."""

    item: int
    before: RankPosition
    after: RankPosition
    turn: Change


def remove_film(history: Sequence[int], position: int) -> tuple[int, ...]:
    """The history without the film at a position, counted from 0; IndexError where there is none."""
    _check_positions(history, position)
    return (*history[:position], *history[position + 1 :])


def move_film(history: Sequence[int], position: int, to: int) -> tuple[int, ...]:
    """The history with the film at one position put at another, both counted from 0; IndexError outside."""
    _check_positions(history, position, to)
    rest = list(remove_film(history, position))
    rest.insert(to, history[position])
    return tuple(rest)


def _check_positions(history: Sequence[int], *positions: int) -> None:
    for position in positions:
        if not 0 <= position < len(history):
            raise IndexError(f"a history of {len(history)} films has no position {position}; they count from 0")


def rank_changes(predictor: Predictor, before: Request, after: Request) -> list[RankChange]:
    """The films among the first `after.k` of either list: those of the new one in its order, then those that left it.

    Filters apply to each history on its own; diversity does not, as ranks are compared. A film that was dropped from
    the history may be recommended again. Raises ServingError and ScoreError as `recommend` does.
    """
    old, new = listed(predictor, [before, after])
    shown = list(dict.fromkeys([*new.top(after.k).tolist(), *old.top(after.k).tolist()]))
    pairs = zip(shown, rank_of(old, shown), rank_of(new, shown), strict=True)
    return [RankChange(item, one, other, _change(one.rank, other.rank, after.k)) for item, one, other in pairs]


def _change(before: int | None, after: int | None, k: int) -> Change:
    """What became of a film that is among the first k before, after, or both times."""
    if before is None or before > k:
        return Change.ENTERED
    if after is None or after > k:
        return Change.LEFT
    return Change.STAYED if before == after else Change.ROSE if after < before else Change.FELL
