"""Fill in blanks: predict the film at any position of a sequence from the films on both sides.

A blank is a position of a sequence without a film (None). The model reads its mask token there.

Shapes: T films of the sequence, Q blanks, I items.
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
    rank_positions,
    top_recommendations,
)


@dataclass(frozen=True)
class Blank:
    """The films predicted for a blank of a sequence."""

    position: int  # in the sequence, from 0
    picks: list[Recommendation]  # best first
    answer_rank: RankPosition | None  # rank of the true film; None: the film is not given, or it is excluded


def insert_blanks(
    films: Sequence[int], replaced_positions: Sequence[int], insertion_positions: Sequence[int]
) -> tuple[list[int | None], dict[int, int]]:
    """Return the films with blanks (None), and the answers: position in this new sequence → replaced film.

    Args:
        films: Items, oldest first.
        replaced_positions: Positions of films that become blanks. Invalid positions are ignored.
        insertion_positions: Positions of films before which a blank is inserted. len(films) inserts it at the end.
            Invalid positions are ignored.
    """
    sequence: list[int | None] = []
    answers: dict[int, int] = {}
    for position, film in enumerate(films):
        if position in insertion_positions:
            sequence.append(None)
        if position in replaced_positions:
            answers[len(sequence)] = film
        sequence.append(None if position in replaced_positions else film)
    if len(films) in insertion_positions:
        sequence.append(None)
    return sequence, answers


def fill_blanks(
    predictor: Predictor,
    sequence: Sequence[int | None],
    k: int,
    answers: Mapping[int, int],
    hide_seen: bool,
) -> list[Blank]:
    """Predict the k best films for each blank. All blanks are predicted at once, independently of each other.

    Args:
        predictor: A recommender that can fill masks.
        sequence: Items, oldest first; None for a blank. The model reads at most its `max_length` newest positions.
            Older blanks are omitted from the result.
        k: Number of films for each blank.
        answers: Position of a blank in the sequence → true film, for the blanks whose film is given.
        hide_seen: Whether films of the sequence are excluded from the predictions.

    Raises:
        ServingError: If the model cannot fill masks, or if an item is not in the catalogue.
    """
    items = check_items(predictor.dataset, [item for item in sequence if item is not None])
    check_items(predictor.dataset, list(answers.values()))
    blanks = []
    for position, scores in _blank_scores(predictor, sequence).items():
        ranking = Ranking.from_scores(scores, items if hide_seen else None, predictor.log_probabilities)
        answer_rank = _answer_rank(ranking, answers.get(position))
        blanks.append(Blank(position, top_recommendations(predictor, ranking, k), answer_rank))
    return blanks


@dataclass(frozen=True)
class SideRanks:
    """The rank of the true film of a blank, predicted from the films on each side of the blank and on both sides.

    None: the blank is too old for the model, or the true film is excluded.
    """

    before: RankPosition | None  # the model reads only the films before the blank
    after: RankPosition | None  # only the films after the blank
    both: RankPosition | None  # all films


def rank_by_side(predictor: Predictor, sequence: Sequence[int | None], position: int, answer: int) -> SideRanks:
    """Rank the true film (`answer`) of the blank at `position` from the films on each side, and on both sides.

    There must be films on both sides. Films of the whole sequence are excluded from all three rankings.
    """
    items = check_items(predictor.dataset, [item for item in sequence if item is not None])
    check_items(predictor.dataset, [answer])

    def rank(part: Sequence[int | None], blank: int) -> RankPosition | None:
        scores = _blank_scores(predictor, part).get(blank)
        if scores is None:  # the blank is too old for the model
            return None
        return _answer_rank(Ranking.from_scores(scores, items, predictor.log_probabilities), answer)

    return SideRanks(
        before=rank(sequence[: position + 1], position),
        after=rank(sequence[position:], 0),
        both=rank(sequence, position),
    )


def has_films_on_both_sides(sequence: Sequence[int | None], position: int) -> bool:
    """Return whether there are films before and after a position."""
    has_film_before = any(item is not None for item in sequence[:position])
    return has_film_before and any(item is not None for item in sequence[position + 1 :])


def _blank_scores(predictor: Predictor, sequence: Sequence[int | None]) -> dict[int, np.ndarray]:
    """Return the scores (I,) for each blank that the model reads, by position in the sequence."""
    model = predictor.model
    if not model.can_fill_masks:
        raise ServingError(
            "{title} reads from the first film to the last, so it cannot predict a masked film; choose BERT4Rec",
            title=Message(predictor.title),
        )
    start = 0 if model.max_length is None else max(0, len(sequence) - model.max_length)
    blanks = [position for position in range(start, len(sequence)) if sequence[position] is None]
    if not blanks:
        return {}
    items = [0 if item is None else item for item in sequence[start:]]  # the model ignores items at blanks
    scores = model.fill(np.array(items, np.int64), np.array(blanks) - start)  # (Q, I)
    films = np.array([item for item in sequence if item is not None], np.int64)
    scores = scores * np.float32(model.calibration_factor(films))
    return dict(zip(blanks, scores, strict=True))


def _answer_rank(ranking: Ranking, item: int | None) -> RankPosition | None:
    """Return the rank of an item, or None if the item is None or excluded."""
    if item is None or ranking.rank(item) is None:
        return None
    return rank_positions(ranking, [item])[0]
