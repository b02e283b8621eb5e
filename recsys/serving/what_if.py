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
    """A film that is among the first k before or after the change."""

    item: int
    before: RankPosition
    after: RankPosition
    change: Change


def remove_film(history: Sequence[int], position: int) -> tuple[int, ...]:
    """Return the history without the film at a position, from 0. Raises IndexError for an invalid position."""
    _check_positions(history, position)
    return (*history[:position], *history[position + 1 :])


def move_film(history: Sequence[int], position: int, new_position: int) -> tuple[int, ...]:
    """Return the history with a film moved to a new position, both from 0. Raises IndexError like `remove_film`."""
    _check_positions(history, position, new_position)
    films = list(remove_film(history, position))
    films.insert(new_position, history[position])
    return tuple(films)


def _check_positions(history: Sequence[int], *positions: int) -> None:
    """Raise IndexError if the history does not have a position."""
    for position in positions:
        if not 0 <= position < len(history):
            raise IndexError(f"a history of {len(history)} films has no position {position}; they count from 0")


def rank_changes(predictor: Predictor, before: Request, after: Request) -> list[RankChange]:
    """Return the rank changes of the films in the list after the change, then of the films only in the list before it.

    A list is the first `after.k` films of a ranking, so diversity has no effect. A film that was removed from the
    history can be recommended.
    """
    k = after.k
    ranking_before, ranking_after = rankings(predictor, [before, after])
    items = list(dict.fromkeys([*ranking_after.top(k).tolist(), *ranking_before.top(k).tolist()]))
    positions = zip(items, rank_positions(ranking_before, items), rank_positions(ranking_after, items), strict=True)
    return [RankChange(item, old, new, _change(old.rank, new.rank, k)) for item, old, new in positions]


def _change(before: int | None, after: int | None, k: int) -> Change:
    """Return the change between two ranks. At least one of them is k or less. None: excluded."""
    if before is None or before > k:
        return Change.ENTERED
    if after is None or after > k:
        return Change.LEFT
    if before == after:
        return Change.STAYED
    return Change.ROSE if after < before else Change.FELL
