"""The films to watch next: a request in, the best films of a `Ranking` out.

For a catalogue of millions each pass over the scores counts: `Ranking` copies a row once, and takes its softmax a piece
at a time. Shapes: B histories, I films.

What a visitor thinks of their films, on its way to a model.

Models that read ratings are told them. The others are not told of films that were not liked: what they learnt is that
people who watched one film watched another, and to somebody who did not like the first that says little.
"""

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain, repeat
from numbers import Integral

import numpy as np

from recsys import monitoring
from recsys.data.dataset import Dataset, Film, Queries
from recsys.errors import Message, RecsysError
from recsys.ranking.ranking import Ranking
from recsys.serving import filters as film_filters
from recsys.serving import substitutes
from recsys.serving.filters import Filters
from recsys.serving.predictor import Predictor

LIKED_STARS, DISLIKED_STARS = 5.0, 2.0  # stars that a thumb stands for
LIKED_THRESHOLD = 3.0  # stars; a film with fewer was not liked

Ratings = tuple[tuple[int, float], ...]  # (film as numbered by `Catalog.films`, stars) of one visitor; others: unrated


def to_queries(dataset: Dataset, histories: Iterable[np.ndarray], ratings: Sequence[Ratings], read: bool) -> Queries:
    """Histories (n,) of films with the ratings of whose they are, as a model is asked; read: whether it reads ratings.

    Films that training left out are each replaced by the one that stands in for it, which inherits its rating.
    """
    pairs = list(zip(histories, map(dict, ratings), strict=True))
    if not read:
        return Queries(
            [substitutes.replace_infrequent(dataset, _without_disliked(history, stars)) for history, stars in pairs]
        )
    asked = [substitutes.replace_infrequent(dataset, history) for history, _ in pairs]
    return Queries(asked, ratings=[_aligned_ratings(dataset, *pair) for pair in pairs] if any(ratings) else None)


def _without_disliked(history: np.ndarray, stars: dict[int, float]) -> np.ndarray:
    """The history without the films that were not liked."""
    disliked = [film for film, given in stars.items() if given < LIKED_THRESHOLD]
    return history[~np.isin(history, disliked)] if disliked else history


def _aligned_ratings(dataset: Dataset, history: np.ndarray, stars: dict[int, float]) -> np.ndarray:
    """(m,) float32: the rating of each item that stands for a history, NaN where there is none."""
    given = [stars.get(film, np.nan) for film in history.tolist() for _ in substitutes.substitutes_of(dataset, film)]
    return np.array(given, np.float32)


History = Sequence[int] | np.ndarray

MAX_SCORES = 1 << 24  # floats in the score blocks of all threads: 64 MB, whatever the catalogue
MAX_BATCH = 256  # histories in a block, at most
N_THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class ServingError(RecsysError):
    """A request that cannot be answered."""


@dataclass(frozen=True)
class Request:
    """What a person wants: films to watch after a history. Hashable, so that answers can be cached by it."""

    history: tuple[int, ...]  # films as numbered by `Catalog.films`, oldest first; repeats are allowed
    k: int = 10  # films to recommend
    filters: Filters = field(default_factory=Filters)
    unwanted: tuple[int, ...] = ()  # items that are not recommended
    ratings: Ratings = ()  # of films, some of which are in the history

    def __post_init__(self) -> None:
        if not isinstance(self.k, Integral) or self.k < 0:
            raise ServingError("cannot recommend {k} films; ask for 0 or more", k=self.k)


@dataclass(frozen=True)
class Recommendation:
    """One film to watch next."""

    rank: int  # 1 = best
    item: int
    film: Film
    score: float  # of the model, comparable within one list only
    probability: float | None  # that it comes next, given that a film of the whole list does; None: the model has none


@dataclass(frozen=True)
class RankPosition:
    """Where one film stands in the whole list of a recommender."""

    rank: int | None  # 1 = best; None: not in the list, being hidden or ruled out
    of: int  # films in the list
    probability: float | None  # as in Recommendation; 0 for a film that is not in the list

    @property
    def log_rank_score(self) -> float:
        """1 at the top of the list, 0 at its end and outside it, by the logarithm of the rank."""
        if self.rank is None:
            return 0.0
        return 1 - math.log(self.rank) / math.log(self.of) if self.of > 1 else 1.0


def recommend(predictor: Predictor, request: Request) -> list[Recommendation]:
    """The best films for a request, best first; fewer than `request.k` when the films run out.

    Equal scores are ordered by item number. Raises ServingError for items outside the catalogue, ScoreError for scores
    that are no numbers.
    """
    return recommend_many(predictor, [request])[0]


def recommend_many(predictor: Predictor, requests: Sequence[Request]) -> list[list[Recommendation]]:
    """`recommend` for each of B requests, on all cores; scores take no more than 64 MB whatever B is."""

    def answer(rows: list[int]) -> list[list[Recommendation]]:
        block = [requests[row] for row in rows]
        return [
            top_recommendations(predictor, ranking, request.k, request.filters.diversity)
            for request, ranking in zip(block, listed(predictor, block), strict=True)
        ]

    size = _batch_size(predictor.dataset, N_THREADS)
    order = sorted(range(len(requests)), key=lambda row: -len(requests[row].history))  # alike lengths: little padding
    blocks = [order[start : start + size] for start in range(0, len(order), size)]
    if len(blocks) < 2:
        answered = list(map(answer, blocks))
    else:
        with ThreadPoolExecutor(N_THREADS) as pool:
            answered = list(pool.map(answer, blocks))
    monitoring.count("recommendations", predictor.variant.name, len(requests))
    found = dict(zip(order, chain.from_iterable(answered), strict=True))
    return [found[row] for row in range(len(requests))]


def standing(predictor: Predictor, history: History, item: int, hide_seen: bool = True) -> RankPosition:
    """Where an item stands in the list after a history."""
    return standings(predictor, [history], [item], hide_seen)[0]


def standings(
    predictor: Predictor, histories: Sequence[History], items: Sequence[int], hide_seen: bool = True
) -> list[RankPosition]:
    """Where items[b] stands in the list after histories[b], for each of B pairs."""
    wanted = check_items(predictor.dataset, items).tolist()
    ranked = rankings(predictor, histories, hide_seen)
    return [rank_of(ranking, [item])[0] for item, ranking in zip(wanted, ranked, strict=True)]


def rank_of(ranking: Ranking, items: Sequence[int]) -> list[RankPosition]:
    """Where each of some items stands in one ranking."""
    ranks = {item: ranking.rank(item) for item in items}
    in_list = [item for item, rank in ranks.items() if rank is not None]
    found = ranking.probabilities(np.array(in_list, np.int64))
    probabilities: dict[int, float | None] = dict.fromkeys(ranks, None if found is None else 0.0)
    if found is not None:
        probabilities |= dict(zip(in_list, found.tolist(), strict=True))
    listed_films = len(ranking)
    return [RankPosition(ranks[item], listed_films, probabilities[item]) for item in items]


def listed(predictor: Predictor, requests: Sequence[Request]) -> Iterator[Ranking]:
    """The ranking of all films that each request allows, in order; k and diversity do not matter."""
    histories = [valid_films(predictor.dataset, request.history) for request in requests]
    hidden = (not_listed(predictor, request, seen) for request, seen in zip(requests, histories, strict=True))
    return rankings_without(predictor, histories, hidden, [request.ratings for request in requests])


def rankings(predictor: Predictor, histories: Sequence[History], hide_seen: bool = True) -> Iterator[Ranking]:
    """The ranking of all films after each history, in order; with `hide_seen`, without those of the history."""
    hidden = (items_of(predictor.dataset, history if hide_seen else ()) for history in histories)
    return rankings_without(predictor, histories, hidden)


def rankings_without(
    predictor: Predictor,
    histories: Sequence[History],
    hidden: Iterable[np.ndarray],
    ratings: Iterable[Ratings] | None = None,
) -> Iterator[Ranking]:
    """The ranking after each of B histories, without the films hidden from it: items (n,) or a mask (I,) bool.

    ratings: those of the person behind each history; None: nothing was rated. No more than 64 MB of scores exist at a
    time. Raises ServingError and ScoreError as `recommend` does.
    """
    left_out, stars = iter(hidden), iter(repeat(()) if ratings is None else ratings)
    size = _batch_size(predictor.dataset)
    for start in range(0, len(histories), size):
        block = histories[start : start + size]
        for scores in _scores(predictor, block, [next(stars) for _ in block]):
            yield Ranking.from_scores(scores, next(left_out), predictor.log_probabilities)


def not_listed(predictor: Predictor, request: Request, history: np.ndarray) -> np.ndarray:
    """The films that a request hides: items (n,), or where it has filters a mask (I,) bool; history: its own, (n,)."""
    seen = items_of(predictor.dataset, history if request.filters.hide_seen else ())
    unwanted = items_of(predictor.dataset, request.unwanted)
    if not request.filters.restricts:
        return np.append(seen, unwanted) if len(unwanted) else seen
    hidden = ~film_filters.allowed_mask(predictor.facts, request.filters, request.history)
    hidden[seen] = hidden[unwanted] = True
    return hidden


def exclusion_mask(predictor: Predictor, request: Request) -> np.ndarray:
    """(I,) bool: the films that a request hides."""
    hidden = np.zeros(predictor.dataset.n_items, bool)
    hidden[not_listed(predictor, request, valid_films(predictor.dataset, request.history))] = True
    return hidden


def top_recommendations(predictor: Predictor, ranking: Ranking, k: int, diversity: float = 0.0) -> list[Recommendation]:
    """The k best films of a ranking, best first; diversity: 0…1, see `filters.mmr`."""
    items = ranking.top(max(k, film_filters.MMR_POOL_SIZE) if diversity else k)
    if diversity:
        items = film_filters.mmr(items, ranking.scores[items], similarity_matrix(predictor, items), k, diversity)
    probabilities = ranking.probabilities(items)
    shown = [None] * len(items) if probabilities is None else probabilities.tolist()
    rows = zip(items.tolist(), ranking.scores[items].tolist(), shown, strict=True)
    films = predictor.dataset.catalog.films
    return [Recommendation(rank, row[0], films[row[0]], *row[1:]) for rank, row in enumerate(rows, start=1)]


def similarity_matrix(predictor: Predictor, items: np.ndarray) -> np.ndarray:
    """(n, n) how alike some items (n,) are, 0…1: by the model's own vectors of them, else by their genres."""
    if predictor.model.has_item_embeddings:
        return film_filters.vector_similarity(predictor.model.item_embeddings()[items])
    return film_filters.genre_similarity(predictor.facts.genre_matrix[items])


def count_candidates(predictor: Predictor, request: Request) -> int:
    """How many films the list of a request is chosen from: those that it does not hide."""
    return int(np.count_nonzero(~exclusion_mask(predictor, request)))


def check_items(dataset: Dataset, history: History) -> np.ndarray:
    """Items as an array (n,) int64; PAD, MASK and MovieLens ids that are no items raise ServingError."""
    return _below(dataset.n_items, history)


def valid_films(dataset: Dataset, history: History) -> np.ndarray:
    """`valid_items` that allows the films that training left out, numbered from I on."""
    return _below(len(dataset.catalog.films), history)


def items_of(dataset: Dataset, history: History) -> np.ndarray:
    """Those films of a history that are items, (n,): without the ones that training left out."""
    found = valid_films(dataset, history)
    return found[found < dataset.n_items]


def _below(n: int, history: History) -> np.ndarray:
    """Numbers 0…n-1 as an array (n,) int64; raises ServingError for others."""
    items = np.asarray(history)
    if not items.size:
        return np.zeros(0, np.int64)
    if items.ndim != 1 or items.dtype.kind not in "iu":
        raise ServingError("a history is a flat list of item numbers; turn titles into items first")
    if items.min() < 0 or items.max() >= n:
        unknown = items[(items < 0) | (items >= n)][0]
        raise ServingError("there is no item {unknown} among {n}; pass items, not MovieLens ids", unknown=unknown, n=n)
    return items.astype(np.int64, copy=False)


def _scores(predictor: Predictor, histories: Sequence[History], ratings: Sequence[Ratings]) -> np.ndarray:
    """(B, I) float, as the model gives them."""
    data = predictor.dataset
    films = [valid_films(data, history) for history in histories]
    scores = predictor.model.score(to_queries(data, films, ratings, predictor.model.uses_query_ratings))
    if scores.shape != (len(films), data.n_items):
        expected = (len(films), data.n_items)
        raise ServingError(
            "{title} scored {shape}, not {expected}; train it again",
            title=Message(predictor.title),
            shape=scores.shape,
            expected=expected,
        )
    return scores


def _batch_size(dataset: Dataset, threads: int = 1) -> int:
    """Histories that are scored at once on each of some threads."""
    return max(1, min(MAX_BATCH, MAX_SCORES // max(1, threads * dataset.n_items)))
