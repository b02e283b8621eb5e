"""What a visitor thinks of their films, on its way to a model.

Models that read ratings are told them. The others are not told of films that were not liked: what they learnt is that
people who watched one film watched another, and to somebody who did not like the first that says little.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from recsys.data.dataset import Dataset, Queries
from recsys.serving import stand_ins

LIKED, NOT_LIKED = 5.0, 2.0  # stars that a thumb stands for
ENOUGH = 3.0  # stars; a film with fewer was not liked

Ratings = tuple[tuple[int, float], ...]  # (film as numbered by `Catalog.films`, stars) of one visitor; others: unrated


def queries(dataset: Dataset, histories: Iterable[np.ndarray], ratings: Sequence[Ratings], read: bool) -> Queries:
    """Histories (n,) of films with the ratings of whose they are, as a model is asked; read: whether it reads ratings.

    Films that training left out are each replaced by the one that stands in for it, which inherits its rating.
    """
    pairs = list(zip(histories, map(dict, ratings), strict=True))
    if not read:
        return Queries([stand_ins.known(dataset, _but_disliked(history, stars)) for history, stars in pairs])
    asked = [stand_ins.known(dataset, history) for history, _ in pairs]
    return Queries(asked, ratings=[_aligned(dataset, *pair) for pair in pairs] if any(ratings) else None)


def _but_disliked(history: np.ndarray, stars: dict[int, float]) -> np.ndarray:
    """The history without the films that were not liked."""
    disliked = [film for film, given in stars.items() if given < ENOUGH]
    return history[~np.isin(history, disliked)] if disliked else history


def _aligned(dataset: Dataset, history: np.ndarray, stars: dict[int, float]) -> np.ndarray:
    """(m,) float32: the rating of each item that stands for a history, NaN where there is none."""
    given = [stars.get(film, np.nan) for film in history.tolist() for _ in stand_ins.of(dataset, film)]
    return np.array(given, np.float32)
