"""Predict the films behind masks at any positions of a sequence, from the films on both sides of each mask.

In a sequence, None stands for a mask. The answer of a mask is the film that it replaces.

Shapes: Q masks, I items.
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
class MaskPrediction:
    """The films predicted for a mask of a sequence."""

    position: int  # of the mask in the sequence, from 0
    picks: list[Recommendation]  # best first
    answer_rank: RankPosition | None  # None: the mask has no answer, or the answer is excluded


def insert_masks(
    films: Sequence[int], replaced_positions: Sequence[int], insertion_positions: Sequence[int]
) -> tuple[list[int | None], dict[int, int]]:
    """Return the sequence of films and masks (None), and the answers: position in this sequence → replaced film.

    Args:
        films: Items, oldest first.
        replaced_positions: Positions of films that masks replace. Invalid positions are ignored.
        insertion_positions: Positions of films before which a mask is inserted. len(films) inserts it at the end.
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


def fill_masks(
    predictor: Predictor,
    sequence: Sequence[int | None],
    k: int,
    answers: Mapping[int, int],
    exclude_sequence: bool,
) -> list[MaskPrediction]:
    """Predict the k best films for each mask. All masks are predicted at once, independently of each other.

    Args:
        predictor: A recommender that can fill masks.
        sequence: Items, oldest first; None for a mask. The model reads at most its `max_length` newest positions.
            Older masks are omitted from the result.
        k: Number of films for each mask.
        answers: Position of a mask in the sequence → film that it replaces. An inserted mask has no answer.
        exclude_sequence: Whether films of the sequence are excluded from the predictions.

    Raises:
        ServingError: If the model cannot fill masks, or if an item is not in the catalogue.
    """
    items = check_items(predictor.dataset, [item for item in sequence if item is not None])
    check_items(predictor.dataset, list(answers.values()))
    predictions = []
    for position, scores in _mask_scores(predictor, sequence).items():
        ranking = Ranking.from_scores(scores, items if exclude_sequence else None, predictor.log_probabilities)
        answer_rank = _answer_rank(ranking, answers.get(position))
        predictions.append(MaskPrediction(position, top_recommendations(predictor, ranking, k), answer_rank))
    return predictions


@dataclass(frozen=True)
class SideRanks:
    """The rank of the answer of a mask, predicted from the films on each side of the mask and on both sides.

    None: the mask is too old for the model, or the answer is excluded.
    """

    before: RankPosition | None  # the model reads only the films before the mask
    after: RankPosition | None  # only the films after the mask
    both: RankPosition | None  # all films


def rank_by_side(predictor: Predictor, sequence: Sequence[int | None], position: int, answer: int) -> SideRanks:
    """Rank the answer of the mask at `position` from the films on each side, and from the films on both sides.

    There must be films on both sides. All films of the sequence are excluded from all three rankings.
    """
    items = check_items(predictor.dataset, [item for item in sequence if item is not None])
    check_items(predictor.dataset, [answer])

    def rank(part: Sequence[int | None], position_in_part: int) -> RankPosition | None:
        scores = _mask_scores(predictor, part).get(position_in_part)
        if scores is None:  # the mask is too old for the model
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


def _mask_scores(predictor: Predictor, sequence: Sequence[int | None]) -> dict[int, np.ndarray]:
    """Return position in the sequence → scores (I,), for each mask that the model reads."""
    model = predictor.model
    if not model.can_fill_masks:
        raise ServingError(
            "{title} reads from the first film to the last, so it cannot predict a masked film; choose BERT4Rec",
            title=Message(predictor.title),
        )
    start = 0 if model.max_length is None else max(0, len(sequence) - model.max_length)
    masks = [position for position in range(start, len(sequence)) if sequence[position] is None]
    if not masks:
        return {}
    items = [0 if item is None else item for item in sequence[start:]]  # the model ignores items at masked positions
    scores = model.fill(np.array(items, np.int64), np.array(masks) - start)  # (Q, I)
    films = np.array([item for item in sequence if item is not None], np.int64)
    scores = scores * np.float32(model.calibration_factor(films))
    return dict(zip(masks, scores, strict=True))


def _answer_rank(ranking: Ranking, item: int | None) -> RankPosition | None:
    """Return the rank of an item, or None if the item is None or excluded."""
    if item is None or ranking.rank(item) is None:
        return None
    return rank_positions(ranking, [item])[0]
