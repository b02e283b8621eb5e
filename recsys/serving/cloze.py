"""Fill in the blank: what belongs to any place of a sequence, guessed from both of its sides.

Shapes: T tokens, Q blanks, I films.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recsys.data.schema import Dataset
from recsys.models.base import Recommender
from recsys.serving.inside import filling
from recsys.serving.recommend import Recommendation, ServingError, top_films, valid_items


@dataclass(frozen=True)
class Blank:
    """One blank of a sequence and the films for it."""

    place: int  # in the sequence that was asked about, from 0
    picks: list[Recommendation]  # best first
    answer: Recommendation | None  # the film that really stood there, with its rank; None: nobody said, or not ranked


def with_blanks(
    films: Sequence[int], hidden: Sequence[int], gaps: Sequence[int]
) -> tuple[list[int | None], dict[int, int]]:
    """A sequence with blanks (None), and which film stood in each that took one's place.

    hidden: places of `films` that become blanks; gaps: places before which one is put, len(films) for the end.
    Places outside the sequence are passed over.
    """
    sequence: list[int | None] = []
    answers: dict[int, int] = {}
    for place in range(len(films) + 1):
        sequence += [None] * (place in gaps)
        if place in hidden and place < len(films):
            answers[len(sequence)] = films[place]
        if place < len(films):
            sequence.append(None if place in hidden else films[place])
    return sequence, answers


def fill_blanks(
    dataset: Dataset,
    model: Recommender,
    sequence: Sequence[int | None],
    k: int = 10,
    answers: Mapping[int, int] | None = None,
    hide_seen: bool = True,
) -> list[Blank]:
    """The k best films for each None of a sequence of items, oldest first.

    All blanks are guessed at once and none knows what the others hold. With `hide_seen`, films that stand in the
    sequence are not offered. answers: place → the film that really stood there.
    Of a sequence longer than the model reads the newest part counts, and a blank before it is passed over.
    Raises ServingError for models that read in one direction, and for items outside the catalogue.
    """
    fills, answers = filling(model), answers or {}
    seen = valid_items(dataset, [item for item in sequence if item is not None])
    valid_items(dataset, list(answers.values()))
    tokens = np.array([fills.module.mask if item is None else item for item in sequence], np.int64)
    first = max(0, len(tokens) - fills.config.length)
    places = [place for place in range(first, len(tokens)) if sequence[place] is None]
    if not places:
        return []
    scores = fills.fill(tokens[first:], np.array(places) - first)  # (Q, I)
    if not scores.max(initial=-np.inf) < np.inf:
        raise ServingError(f"{model.title} returned scores that are no numbers; train it again")
    hidden = seen if hide_seen else seen[:0]
    blanks = []
    for place, row in zip(places, scores, strict=True):
        picks = top_films(dataset, model, row.copy(), hidden, k)
        blanks.append(Blank(place, picks, _place_of(dataset, model, row, hidden, answers.get(place))))
    return blanks


def _place_of(
    dataset: Dataset, model: Recommender, scores: np.ndarray, hidden: np.ndarray, item: int | None
) -> Recommendation | None:
    """One film as it stands in the whole list of a score row (I,); None where it is hidden or not asked about."""
    if item is None:
        return None
    wanted = int(dataset.catalog.movie_ids[item])
    everything = top_films(dataset, model, scores.copy(), hidden, len(scores))
    return next((film for film in everything if film.movie_id == wanted), None)
