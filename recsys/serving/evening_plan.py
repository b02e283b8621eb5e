"""An evening of films: the model's own continuation of a history, each film given those before it.

The likeliest film each time need not give the likeliest evening, so several beginnings are kept open (beam search): the
five films of BERT4Rec on ML-1M are then 2.3 times as likely together (geometric mean over 40 people).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import repeat

import numpy as np

from recsys.ranking.ranking import Ranking
from recsys.serving.insight.explain import explain
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Request, exclusion_mask, items_of, rankings_without
from recsys.serving.search.series import same_series

DEFAULT_LENGTH = 3  # of an evening, unless another number is asked for
BEAM_WIDTH = 5  # beginnings that are kept open
MAX_REASONS = 2  # films that are named as the reason for another, at most


@dataclass(frozen=True)
class PlanStep:
    """One film of a plan."""

    item: int
    probability: float | None  # that of all films that may be planned this one comes next; None: the model has none


@dataclass(frozen=True)
class _Path:
    """A beginning of the evening."""

    steps: tuple[PlanStep, ...] = ()
    log_probability: float = 0.0  # of all its films; 0 where the model has no probabilities

    @property
    def items(self) -> list[int]:
        return [step.item for step in self.steps]

    def extended(self, step: PlanStep) -> "_Path":
        return _Path((*self.steps, step), self.log_probability + math.log(step.probability or 1.0))


def plan_evening(
    predictor: Predictor,
    request: Request,
    length: int = DEFAULT_LENGTH,
    rejected: Sequence[int] = (),
    beam: int = BEAM_WIDTH,
    kept: Sequence[PlanStep] = (),
) -> list[PlanStep]:
    """Up to `length` films to watch one after another: the likeliest sequence that a beam search finds.

    It begins with `kept`. The filters of the request apply, k and diversity do not. Films that were watched, are
    unwanted or `rejected` are not planned, and of no series more than one film, see `franchises`. Scores without
    probabilities cannot be added up: then each film is simply the best after the one before it. Fewer films come back
    when they run out. Raises ServingError and ScoreError as `recommend` does.
    """
    width = 1 if predictor.log_probabilities is None else beam
    hidden = _excluded_mask(predictor, request, rejected)
    paths = [_Path(tuple(kept))]
    for _ in range(length - len(kept)):
        histories = [[*request.history, *path.items] for path in paths]
        masks = [_exclude_series(predictor, hidden, path.items) for path in paths]
        rankings = rankings_without(predictor, histories, masks, repeat(request.ratings))
        longer = [
            path.extended(step) for path, one in zip(paths, rankings, strict=True) for step in _next_steps(one, width)
        ]
        if not longer:
            break
        paths = sorted(longer, key=lambda path: -path.log_probability)[:width]
    return list(paths[0].steps)


def plan_reasons(predictor: Predictor, request: Request, items: Sequence[int]) -> list[tuple[int, ...]]:
    """For each film of a plan those that spoke for it the most, the strongest first: watched ones or planned before.

    None for a film that the model would show to anybody. Raises ServingError and ScoreError as `recommend` does.
    """
    found = []
    for number, item in enumerate(items):
        history = (*request.history, *items[:number])
        [explanation] = explain(predictor, replace(request, history=history), [item])
        found.append(tuple(one.item for one in explanation.lifted_by[:MAX_REASONS]))
    return found


def _excluded_mask(predictor: Predictor, request: Request, rejected: Sequence[int]) -> np.ndarray:
    """(I,) bool: the films that are not planned, whatever is planned before them."""
    hidden = exclusion_mask(predictor, request)
    hidden[items_of(predictor.dataset, [*request.history, *rejected])] = True
    return hidden


def _exclude_series(predictor: Predictor, hidden: np.ndarray, planned: Sequence[int]) -> np.ndarray:
    """(I,) bool: a mask of hidden films to which those that are planned are added, and all of their series."""
    more = hidden.copy()
    for item in planned:
        more[same_series(predictor.dataset, item)] = True
    return more


def _next_steps(ranking: Ranking, width: int) -> list[PlanStep]:
    """The likeliest films of one ranking; none with a probability of 0."""
    items = ranking.top(width)
    probabilities = ranking.probabilities(items)
    if probabilities is None:
        return [PlanStep(item, None) for item in items.tolist()]
    return [PlanStep(item, p) for item, p in zip(items.tolist(), probabilities.tolist(), strict=True) if p > 0]
