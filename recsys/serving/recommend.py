"""The top films of a score row: who is hidden, how ties fall, what is a probability. Models only score.

For a catalogue of millions passes over the scores count: a row is copied once, to find the k-th score, and its softmax
is taken a piece at a time. Shapes: B histories, I films.
"""

import math
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain

import numpy as np

from recsys.data.schema import Dataset, Queries
from recsys.models.base import Recommender
from recsys.serving.filters import POOL, varied

History = Sequence[int] | np.ndarray

SCORES_AT_ONCE = 1 << 24  # floats in the score blocks of all threads: 64 MB, whatever the catalogue
AT_ONCE = 256  # histories in a block, at most
THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
EXPONENTS_AT_ONCE = 1 << 14  # scores whose exponentials are summed together: 64 KB, which a core's cache holds


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


@dataclass(frozen=True)
class Standing:
    """Where one film stands in the whole list of a model."""

    rank: int | None  # 1 = best; None: not in the list, being hidden or ruled out
    of: int  # films in the list
    probability: float | None  # as in Recommendation

    @property
    def nearness(self) -> float:
        """1 at the top of the list, 0 at its end and outside it, by the logarithm of the rank."""
        if self.rank is None:
            return 0.0
        return 1 - math.log(self.rank) / math.log(self.of) if self.of > 1 else 1.0


def recommend(
    dataset: Dataset,
    model: Recommender,
    history: History,
    k: int = 10,
    hide_seen: bool = True,
    allowed: np.ndarray | None = None,
    diversity: float = 0.0,
) -> list[Recommendation]:
    """The k best films after a history of items (0…I-1, oldest first, repeats allowed), best first.

    allowed: (I,) bool, which films may be shown; None: all. diversity: 0…1, see `filters.varied`.
    Equal scores are ordered by item number. Fewer than k come back when the films run out.
    Raises ServingError for a negative k, items outside the catalogue, a mask of another length and scores that are no
    numbers.
    """
    return recommend_many(dataset, model, [history], k, hide_seen, allowed, diversity)[0]


def recommend_many(
    dataset: Dataset,
    model: Recommender,
    histories: Sequence[History],
    k: int = 10,
    hide_seen: bool = True,
    allowed: np.ndarray | None = None,
    diversity: float = 0.0,
) -> list[list[Recommendation]]:
    """`recommend` for each of B histories, on all cores; scores take no more than 64 MB whatever B is."""
    if k < 0:
        raise ServingError(f"cannot recommend {k} films; ask for 0 or more")
    if allowed is not None and allowed.shape != (dataset.n_items,):
        raise ServingError(f"the mask is {allowed.shape}, not ({dataset.n_items},); give a yes or no for each film")

    def answer(rows: list[int]) -> list[list[Recommendation]]:
        scored = _score(dataset, model, [histories[row] for row in rows])
        return [
            top_films(dataset, model, scores, seen if hide_seen else seen[:0], k, allowed, diversity)
            for seen, scores in scored
        ]

    block = max(1, min(AT_ONCE, SCORES_AT_ONCE // max(1, THREADS * dataset.n_items)))
    order = sorted(range(len(histories)), key=lambda row: -len(histories[row]))  # alike lengths: little padding
    blocks = [order[start : start + block] for start in range(0, len(order), block)]
    if len(blocks) < 2:
        answered = list(map(answer, blocks))
    else:
        with ThreadPoolExecutor(THREADS) as pool:
            answered = list(pool.map(answer, blocks))
    found = dict(zip(order, chain.from_iterable(answered), strict=True))
    return [found[row] for row in range(len(histories))]


def rank_of(
    dataset: Dataset, model: Recommender, history: History, items: Sequence[int], hide_seen: bool = True
) -> list[int | None]:
    """The rank of each of `items` in the whole list that `recommend` would give; None: hidden, or ruled out."""
    wanted = valid_items(dataset, items)
    seen, scores = next(_score(dataset, model, [history]))
    ranks = np.zeros(len(scores), np.int64)  # (I,) 0: not in the list
    ordered = top(scores, seen if hide_seen else seen[:0], len(scores))
    ranks[ordered] = np.arange(1, len(ordered) + 1)
    return [int(rank) or None for rank in ranks[wanted]]


def standings(
    dataset: Dataset,
    model: Recommender,
    histories: Sequence[History],
    items: Sequence[int],
    hide_seen: bool = True,
) -> list[Standing]:
    """Where items[b] stands in the list that `recommend` would give after histories[b], for each of B pairs."""
    wanted = valid_items(dataset, items).tolist()
    scored = score_each(dataset, model, histories)
    return [
        _standing(model, scores, seen if hide_seen else seen[:0], item)
        for item, (seen, scores) in zip(wanted, scored, strict=True)
    ]


def score_each(
    dataset: Dataset, model: Recommender, histories: Sequence[History]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Each history as items with its row of scores (I,), in order; no more than 64 MB of scores at a time.

    Scores are numbers or minus infinity. Raises ServingError as `recommend` does.
    """
    block = max(1, min(AT_ONCE, SCORES_AT_ONCE // max(1, dataset.n_items)))
    for start in range(0, len(histories), block):
        yield from _score(dataset, model, histories[start : start + block])


def _score(
    dataset: Dataset, model: Recommender, histories: Sequence[History]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Each history as items with its row of scores (I,), which are numbers or minus infinity."""
    queries = Queries([valid_items(dataset, history) for history in histories])
    scores = model.score(queries)  # (B, I)
    if scores.shape != (len(queries), dataset.n_items):
        raise ServingError(
            f"{model.title} scored {scores.shape}, not {(len(queries), dataset.n_items)}; train it again"
        )
    if not scores.max(initial=-np.inf) < np.inf:  # the largest of some numbers and a NaN is NaN
        raise ServingError(f"{model.title} returned scores that are no numbers; train it again")
    return zip(queries.histories, scores, strict=True)


def valid_items(dataset: Dataset, history: History) -> np.ndarray:
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


def top_films(
    dataset: Dataset,
    model: Recommender,
    scores: np.ndarray,
    seen: np.ndarray,
    k: int,
    allowed: np.ndarray | None = None,
    diversity: float = 0.0,
) -> list[Recommendation]:
    """The k best films of one score row (I,) as people read them. Overwrites scores of films that are hidden."""
    log_sum = log_sum_exp(scores) if model.softmax else None  # over all films, before any is hidden
    items = _choose(dataset, scores, seen, k, allowed, diversity)
    films = [dataset.catalog.films[item] for item in items.tolist()]
    return [
        Recommendation(
            rank,
            film.movie_id,
            film.title,
            film.year,
            film.genres,
            score,
            None if log_sum is None else math.exp(score - log_sum),
        )
        for rank, (film, score) in enumerate(zip(films, scores[items].tolist(), strict=True), start=1)
    ]


def _standing(model: Recommender, scores: np.ndarray, seen: np.ndarray, item: int) -> Standing:
    """Where an item stands by one score row (I,). Overwrites scores of `seen` films."""
    own = scores[item]
    share = math.exp(own - log_sum_exp(scores)) if own > -np.inf else 0.0
    scores[seen] = -np.inf
    listed = int((scores > -np.inf).sum())
    ahead = int(ahead_of(scores, own, item).sum())
    return Standing(ahead + 1 if scores[item] > -np.inf else None, listed, share if model.softmax else None)


def ahead_of(scores: np.ndarray, own: float, item: int) -> np.ndarray:
    """(I,) bool: the films that a list puts before an item whose score is `own`; of equals, those of lower number."""
    ahead = scores > own
    ahead[:item] |= scores[:item] == own
    return ahead


def _choose(
    dataset: Dataset, scores: np.ndarray, seen: np.ndarray, k: int, allowed: np.ndarray | None, diversity: float
) -> np.ndarray:
    """Up to k items of one score row (I,), best first. Overwrites scores of films that are hidden."""
    if allowed is not None:
        scores[~allowed] = -np.inf
    if not diversity:
        return top(scores, seen, k)
    pool = top(scores, seen, max(k, POOL))
    return varied(dataset.catalog, pool, scores[pool], k, diversity)


def top(scores: np.ndarray, seen: np.ndarray, k: int) -> np.ndarray:
    """Up to k items, best first, equal scores by item number; neither `seen` ones nor those at minus infinity.

    Overwrites the scores (I,) of `seen` films.
    """
    scores[seen] = -np.inf
    k = min(k, len(scores))
    if k == 0:
        return np.zeros(0, np.int64)
    kth = max(np.partition(scores, -k)[-k], np.finfo(scores.dtype).min)  # above minus infinity
    ahead = np.flatnonzero(scores >= kth)  # in item order; more than k where several films tie for the last place
    return ahead[np.argsort(-scores[ahead], kind="stable")][:k]


def log_sum_exp(scores: np.ndarray) -> float:
    """log Σ exp of a row of scores (I,), a piece at a time: nothing as long as the row is made."""
    largest = scores.max(initial=-np.inf)
    if largest == -np.inf:
        return -math.inf
    pieces = (scores[start : start + EXPONENTS_AT_ONCE] for start in range(0, len(scores), EXPONENTS_AT_ONCE))
    return float(largest) + math.log(sum(float(np.exp(piece - largest).sum()) for piece in pieces))
