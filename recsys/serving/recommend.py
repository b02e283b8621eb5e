"""The top films of a score row: who is hidden, how ties fall, what is a probability. Models only score.

Shapes: B histories, I films.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from recsys.data.schema import Dataset, Queries
from recsys.models.base import Recommender

SCORES_AT_ONCE = 1 << 24  # floats in one block of scores: 64 MB, whatever the catalogue


class ServingError(ValueError):
    """A request or a score row from which nothing can be recommended; the message says what to do."""


@dataclass(frozen=True)
class Recommendation:
    """One film to watch next."""

    rank: int  # 1 = best
    movie_id: int  # the data set's own id
    title: str
    year: int | None
    genres: str  # "Action|Sci-Fi"
    score: float  # of the model, comparable within one list only
    probability: float | None  # softmax over all films, seen ones included; None: this model's scores are no logits


def recommend(
    dataset: Dataset, model: Recommender, history: Sequence[int], k: int = 10, hide_seen: bool = True
) -> list[Recommendation]:
    """The k best films after a history of items (0…I-1, oldest first, repeats allowed), best first.

    Equal scores are ordered by item number. Fewer than k come back when the films run out.
    Raises ServingError for a negative k, items outside the catalogue and scores that are no numbers.
    """
    return recommend_many(dataset, model, [history], k, hide_seen)[0]


def recommend_many(
    dataset: Dataset, model: Recommender, histories: Sequence[Sequence[int]], k: int = 10, hide_seen: bool = True
) -> list[list[Recommendation]]:
    """`recommend` for each of B histories; memory stays bounded whatever B is."""
    if k < 0:
        raise ServingError(f"cannot recommend {k} films; ask for 0 or more")
    scored = _score(dataset, model, histories)
    return [_best(dataset, model, scores, seen if hide_seen else seen[:0], k) for seen, scores in scored]


def rank_of(
    dataset: Dataset, model: Recommender, history: Sequence[int], items: Sequence[int], hide_seen: bool = True
) -> list[int | None]:
    """The rank of each of `items` in the whole list that `recommend` would give; None: hidden, or ruled out."""
    wanted = _items(dataset, items)
    seen, scores = next(_score(dataset, model, [history]))
    ranks = np.zeros(len(scores), np.int64)  # (I,) 0: not in the list
    ordered = _top(scores, seen if hide_seen else seen[:0], len(scores))
    ranks[ordered] = np.arange(1, len(ordered) + 1)
    return [int(rank) or None for rank in ranks[wanted]]


def _score(
    dataset: Dataset, model: Recommender, histories: Sequence[Sequence[int]]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Each history as items with its checked row of scores (I,), scored in blocks of bounded size."""
    block = max(1, min(256, SCORES_AT_ONCE // max(1, dataset.n_items)))
    for start in range(0, len(histories), block):
        queries = Queries([_items(dataset, history) for history in histories[start : start + block]])
        scores = model.score(queries)  # (block, I)
        if scores.shape != (len(queries), dataset.n_items):
            raise ServingError(
                f"{model.title} scored {scores.shape}, not {(len(queries), dataset.n_items)}; train it again"
            )
        if np.isnan(scores).any() or np.isposinf(scores).any():
            raise ServingError(f"{model.title} returned scores that are no numbers; train it again")
        yield from zip(queries.histories, scores, strict=True)


def _items(dataset: Dataset, history: Sequence[int]) -> np.ndarray:
    """A history as an array of valid items; PAD, MASK and MovieLens ids that are no items are refused."""
    items = np.asarray(history)
    if not items.size:
        return np.zeros(0, np.int64)
    if items.ndim != 1 or items.dtype.kind not in "iu":
        raise ServingError("a history is a flat list of item numbers; turn titles into items first")
    strange = items[(items < 0) | (items >= dataset.n_items)]
    if len(strange):
        raise ServingError(f"there is no item {strange[0]} among {dataset.n_items}; pass items, not MovieLens ids")
    return items.astype(np.int64)


def _best(dataset: Dataset, model: Recommender, scores: np.ndarray, seen: np.ndarray, k: int) -> list[Recommendation]:
    """The k best films of one score row (I,) as people read them."""
    best = _top(scores, seen, k)
    chances = _softmax(scores)[best].tolist() if model.softmax and len(best) else [None] * len(best)
    films = [dataset.catalog.films[item] for item in best]
    return [
        Recommendation(rank, film.movie_id, film.title, film.year, film.genres, score, chance)
        for rank, (film, score, chance) in enumerate(zip(films, scores[best].tolist(), chances, strict=True), start=1)
    ]


def _top(scores: np.ndarray, seen: np.ndarray, k: int) -> np.ndarray:
    """Up to k items, best first, equal scores by item number; neither `seen` ones nor those at minus infinity."""
    scores = scores.copy()  # (I,)
    scores[seen] = -np.inf
    k = min(k, int(np.isfinite(scores).sum()))
    if k == 0:
        return np.zeros(0, np.int64)
    kth = np.partition(scores, -k)[-k]
    ahead = np.flatnonzero(scores >= kth)  # in item order; more than k where several films tie for the last place
    return ahead[np.argsort(-scores[ahead], kind="stable")][:k]


def _softmax(scores: np.ndarray) -> np.ndarray:
    """(I,) float64 probabilities of one row of logits."""
    weights = np.exp(scores.astype(np.float64) - scores.max())
    return weights / weights.sum()
