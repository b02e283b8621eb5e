"""Explain a recommendation: leave out each watched film in turn, and rank the recommended film again.

Only rankings are compared, so this works for every recommender. An explanation is valid for one history only. If two
films are left out together, their joint effect need not be the sum of their effects.

Shapes: N films that are left out in turn, I items.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import repeat

import numpy as np

from recsys.ranking.ranking import Ranking
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import RankPosition, Request, check_items, exclusion_mask, rank_positions, rankings

MAX_ABLATED = 50  # newest films that are left out in turn; 50 films take about a second
MIN_LOG_PROB = -50.0  # replaces minus infinity, so that the effect on an excluded film is finite
MIN_EFFECT = 1e-3  # difference of log-probabilities, a relative change of the probability by 0.1%


@dataclass(frozen=True)
class Influence:
    """The effect of a watched film on a recommended film."""

    position: int  # in the history, from 0
    item: int
    effect: float  # strength (see `_strengths`) with the watched film minus without it; above 0: the film helps
    rank_position_without: RankPosition  # of the recommended film, without this film in the history


@dataclass(frozen=True)
class Explanation:
    """The effects of the watched films on a recommended film."""

    item: int
    rank_position: RankPosition  # with the whole history
    influences: tuple[Influence, ...]  # largest absolute effect first; ties: the newest film first
    n_watched: int  # films of the history; only the newest len(influences) of them were left out in turn

    @property
    def positive_influences(self) -> tuple[Influence, ...]:
        """The influences with an effect above MIN_EFFECT, strongest first."""
        return tuple(influence for influence in self.influences if influence.effect > MIN_EFFECT)

    @property
    def negative_influences(self) -> tuple[Influence, ...]:
        """The influences with an effect below -MIN_EFFECT, strongest first."""
        return tuple(influence for influence in self.influences if influence.effect < -MIN_EFFECT)


def explain(predictor: Predictor, request: Request, items: Sequence[int]) -> list[Explanation]:
    """Return an explanation for each of `items`. `k` and diversity of the request have no effect.

    There are N + 1 rankings: with the whole history, and without each of N films. All rank the same films: `items`, and
    the films that the request does not exclude. A film that is left out of the history stays excluded. With an empty
    history, explanations have no influences.
    """
    watched = check_items(predictor.dataset, request.history, allow_infrequent=True)
    targets = check_items(predictor.dataset, items).tolist()
    max_length = predictor.model.max_length
    n_ablated = MAX_ABLATED if max_length is None else min(MAX_ABLATED, max_length)
    positions = np.arange(len(watched))[-n_ablated:]
    histories = [watched, *(np.delete(watched, position) for position in positions)]
    requests = [replace(request, history=tuple(history.tolist())) for history in histories]
    mask = exclusion_mask(predictor, request)
    mask[targets] = False
    ranks: list[list[RankPosition]] = []  # N + 1 rows with a rank of each target; row 0: the whole history
    strengths: list[list[float]] = []  # N + 1 rows with a strength of each target
    for ranking in rankings(predictor, requests, repeat(mask)):
        ranks.append(rank_positions(ranking, targets))
        strengths.append(_strengths(ranking, targets))
    explanations = []
    for column, item in enumerate(targets):
        influences = []
        for row, position in enumerate(positions.tolist(), start=1):
            effect = strengths[0][column] - strengths[row][column]
            influences.append(Influence(position, int(watched[position]), effect, ranks[row][column]))
        influences.sort(key=lambda influence: (-abs(influence.effect), -influence.position))
        explanations.append(Explanation(item, ranks[0][column], tuple(influences), len(watched)))
    return explanations


def _strengths(ranking: Ranking, items: Sequence[int]) -> list[float]:
    """Return the log-probability of each item or, if the model has no probabilities, the z-score of its score.

    A log-probability is at least MIN_LOG_PROB. An excluded item has MIN_LOG_PROB in both cases.
    """
    scores = ranking.scores[items].astype(np.float64)
    is_ranked = scores > -np.inf
    probabilities = ranking.probabilities(np.asarray(items)[is_ranked])
    strengths = np.full(len(items), MIN_LOG_PROB)
    if probabilities is None:
        strengths[is_ranked] = _z_scores(scores[is_ranked], ranking.scores)
    else:
        strengths[is_ranked] = np.log(np.maximum(probabilities, np.exp(MIN_LOG_PROB)))
    return strengths.tolist()


def _z_scores(scores: np.ndarray, all_scores: np.ndarray) -> np.ndarray:
    """Return the z-scores of scores (n,) by mean and standard deviation of the finite `all_scores` (I,).

    They are 0 if all finite scores are equal.
    """
    finite_scores = all_scores[all_scores > -np.inf].astype(np.float64)
    if not len(finite_scores) or finite_scores.std() == 0:
        return np.zeros(len(scores))
    return (scores - finite_scores.mean()) / finite_scores.std()
