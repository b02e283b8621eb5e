"""Compare the recommendations before and after a change of the history."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from recsys.serving.predictor import Predictor
from recsys.serving.recommend import RankPosition, Request, rank_positions, rankings


class Change(Enum):
    """How a film moved into, within or out of the first k ranks."""

    ENTERED = "entered"
    ROSE = "rose"
    STAYED = "stayed"
    FELL = "fell"
    LEFT = "left"


@dataclass(frozen=True)
class RankChange:
    """A film that is among the first k before or after."""

    item: int
    before: RankPosition
    after: RankPosition
    change: Change


def remove_film(history: Sequence[int], position: int) -> tuple[int, ...]:
    """Return the history without the film at a position, from 0. Raises IndexError if there is none."""
    _check_positions(history, position)
    return (*history[:position], *history[position + 1 :])


def move_film(history: Sequence[int], position: int, to: int) -> tuple[int, ...]:
    """Return the history with the film at `position` moved to the position `to`. Raises IndexError if there is none."""
    _check_positions(history, position, to)
    rest = list(remove_film(history, position))
    rest.insert(to, history[position])
    return tuple(rest)


def _check_positions(history: Sequence[int], *positions: int) -> None:
    for position in positions:
        if not 0 <= position < len(history):
            raise IndexError(f"a history of {len(history)} films has no position {position}; they count from 0")


def rank_changes(predictor: Predictor, before: Request, after: Request) -> list[RankChange]:
    """Return the rank changes of the first `after.k` films of the new list, then of the other films of the old list.

    Diversity has no effect, because ranks are compared. A film that was removed from the history can be recommended.
    """
    k = after.k
    old_ranking, new_ranking = rankings(predictor, [before, after])
    items = list(dict.fromkeys([*new_ranking.top(k).tolist(), *old_ranking.top(k).tolist()]))
    moves = zip(items, rank_positions(old_ranking, items), rank_positions(new_ranking, items), strict=True)
    return [RankChange(item, old, new, _change(old.rank, new.rank, k)) for item, old, new in moves]


def _change(before: int | None, after: int | None, k: int) -> Change:
    """Return the change between two ranks, of which at least one is k or less. None: excluded."""
    if before is None or before > k:
        return Change.ENTERED
    if after is None or after > k:
        return Change.LEFT
    if before == after:
        return Change.STAYED
    return Change.ROSE if after < before else Change.FELL
