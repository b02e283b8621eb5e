"""Fill in the blank: the film for any position of a sequence, predicted from both of its sides.

Shapes: T films of the sequence, Q blanks, I films.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recsys.errors import Message
from recsys.ranking.ranking import Ranking
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import (
    RankPosition,
    Recommendation,
    ServingError,
    check_items,
    rank_of,
    top_recommendations,
)


@dataclass(frozen=True)
class Blank:
    """One blank of a sequence and the films for it."""

    position: int  # in the sequence that was given, from 0
    picks: list[Recommendation]  # best first
    answer: (
        RankPosition | None
    )  # where the film that was really there stands; None: it is not known, or not in the list


def insert_blanks(
    films: Sequence[int], hidden: Sequence[int], gaps: Sequence[int]
) -> tuple[list[int | None], dict[int, int]]:
    """A sequence with blanks (None), and the film that was there for each blank that replaces one.

    hidden: positions of `films` that become blanks; gaps: positions before which a blank is inserted, len(films) for
    the end. Positions outside the sequence are ignored.
    """
    sequence: list[int | None] = []
    answers: dict[int, int] = {}
    for position in range(len(films) + 1):
        sequence += [None] * (position in gaps)
        if position in hidden and position < len(films):
            answers[len(sequence)] = films[position]
        if position < len(films):
            sequence.append(None if position in hidden else films[position])
    return sequence, answers


def fill_blanks(
    predictor: Predictor,
    sequence: Sequence[int | None],
    k: int = 10,
    answers: Mapping[int, int] | None = None,
    hide_seen: bool = True,
) -> list[Blank]:
    """The k best films for each None of a sequence of items, oldest first.

    All blanks are predicted at once, so none knows what the others hold. With `hide_seen`, films of the sequence are
    not recommended. answers: position → the film that was really there. Of a sequence longer than the model reads, only
    the newest part counts, and blanks before it are left out. Raises ServingError for models that read in one direction
    and for items outside the catalogue.
    """
    seen = check_items(predictor.dataset, [item for item in sequence if item is not None])
    known = {position: int(item) for position, item in (answers or {}).items()}
    check_items(predictor.dataset, list(known.values()))
    rows = _blank_scores(predictor, sequence)
    ranked = {position: _ranking(predictor, row, seen if hide_seen else seen[:0]) for position, row in rows.items()}
    return [
        Blank(position, top_recommendations(predictor, ranking, k), _answer_position(ranking, known.get(position)))
        for position, ranking in ranked.items()
    ]


@dataclass(frozen=True)
class SideRanks:
    """Where the film behind a blank stands, by what the model is shown."""

    before: RankPosition | None  # by the films before the blank alone
    after: RankPosition | None  # by the films after it alone
    both: RankPosition | None  # by all of them


def rank_by_side(predictor: Predictor, sequence: Sequence[int | None], position: int, answer: int) -> SideRanks:
    """What the films before a blank and those after it bring, each alone and together.

    position: of the blank, a None of the sequence with films on both sides; other blanks stay blank. In all three lists
    the films of the whole sequence are hidden. Raises ServingError as `fill_blanks` does.
    """
    seen = check_items(predictor.dataset, [item for item in sequence if item is not None])
    check_items(predictor.dataset, [answer])
    shown = {"before": (sequence[: position + 1], position), "after": (sequence[position:], 0)}
    found = {}
    for name, (part, at) in (shown | {"both": (sequence, position)}).items():
        scores = _blank_scores(predictor, part).get(at)  # a blank that is too far back is not read
        found[name] = None if scores is None else _answer_position(_ranking(predictor, scores, seen), answer)
    return SideRanks(**found)


def has_films_on_both_sides(sequence: Sequence[int | None], position: int) -> bool:
    """Whether there are films on both sides of a position."""
    sides_ = (sequence[:position], sequence[position + 1 :])
    return all(any(item is not None for item in side) for side in sides_)


def _blank_scores(predictor: Predictor, sequence: Sequence[int | None]) -> dict[int, np.ndarray]:
    """Position of a blank → the scores (I,) of the films for it, for the blanks that the model reads."""
    model = predictor.model
    if not model.can_fill_masks:
        raise ServingError(
            "{title} reads from the first film to the last, so it cannot fill a blank; choose BERT4Rec",
            title=Message(predictor.title),
        )
    first = 0 if model.max_length is None else max(0, len(sequence) - model.max_length)
    blanks = [position for position in range(first, len(sequence)) if sequence[position] is None]
    if not blanks:
        return {}
    films = np.array([0 if item is None else item for item in sequence[first:]], np.int64)  # 0 is not read
    scores = model.fill(films, np.array(blanks) - first)  # (Q, I)
    return dict(zip(blanks, scores, strict=True))


def _ranking(predictor: Predictor, scores: np.ndarray, hidden: np.ndarray) -> Ranking:
    return Ranking.from_scores(scores, hidden, predictor.log_probabilities)


def _answer_position(ranking: Ranking, item: int | None) -> RankPosition | None:
    """Where the film that was really there stands; None where it is not known, or not in the list."""
    if item is None or ranking.rank(item) is None:
        return None
    return rank_of(ranking, [item])[0]
