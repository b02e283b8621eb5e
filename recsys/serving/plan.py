"""An evening of films: the model's own continuation of a history, each film conditioned on those before it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recsys.data.schema import Dataset
from recsys.models.base import Recommender
from recsys.serving.recommend import History, log_sum_exp, score_each, top

FILMS = 5  # of an evening


@dataclass(frozen=True)
class Step:
    """One film of a plan."""

    item: int
    probability: float | None  # that it comes next after the history and the films before it; None: no logits


def plan(
    dataset: Dataset,
    model: Recommender,
    history: History,
    length: int = FILMS,
    allowed: np.ndarray | None = None,
    rejected: Sequence[int] = (),
) -> list[Step]:
    """The film that is most likely next, then the one most likely after it, and so on; no film comes twice.

    allowed (I,): which films may be planned; None: all. `rejected` items are passed over, and what stood before them
    stays. Watched films are not planned again. Fewer than `length` come back when the films run out. Raises
    ServingError as `recommend` does.
    """
    watched, steps = list(history), list[Step]()
    while len(steps) < length and (step := _next(dataset, model, watched, allowed, rejected)):
        steps.append(step)
        watched.append(step.item)
    return steps


def _next(
    dataset: Dataset, model: Recommender, watched: list[int], allowed: np.ndarray | None, rejected: Sequence[int]
) -> Step | None:
    """The most likely film after what was watched and planned; None when there is none left."""
    seen, scores = next(score_each(dataset, model, [watched]))
    log_sum = log_sum_exp(scores) if model.softmax else math.nan
    if allowed is not None:
        scores[~allowed] = -np.inf
    best = top(scores, np.append(seen, np.asarray(rejected, np.int64)), 1)
    if not len(best):
        return None
    item = int(best[0])
    return Step(item, math.exp(float(scores[item]) - log_sum) if model.softmax else None)
