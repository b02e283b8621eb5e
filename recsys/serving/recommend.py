"""Recommend the next films: a `Request` in, the best films of a `Ranking` out.

With millions of films, each pass over the scores counts. `Ranking` copies a row once and computes its softmax in
chunks.

Shapes: B requests, I items.
"""

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from numbers import Integral

import numpy as np

from recsys import monitoring
from recsys.data.dataset import Dataset, Film, Queries
from recsys.errors import Message, RecsysError
from recsys.ranking.ranking import Ranking
from recsys.serving import feedback, substitutes
from recsys.serving import filters as film_filters
from recsys.serving.filters import Filters
from recsys.serving.predictor import Predictor

LIKED_STARS = 5.0  # of a thumb up
DISLIKED_STARS = 2.0  # of a thumb down
LIKED_THRESHOLD = 3.0  # stars; a film with fewer is disliked
MAX_SCORES = 1 << 24  # floats in the score blocks of all threads: 64 MB for any catalogue
MAX_BATCH = 256  # histories
N_THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

History = Sequence[int] | np.ndarray
Ratings = tuple[tuple[int, float], ...]  # (film number of `Catalog.films`, stars) of one user


class ServingError(RecsysError):
    """A request that cannot be answered."""


@dataclass(frozen=True)
class Request:
    """A history and settings of a user. Requests are hashable, so answers can be cached."""

    history: tuple[int, ...]  # film numbers of `Catalog.films`, oldest first; repeats are allowed
    k: int = 10  # number of recommendations
    filters: Filters = field(default_factory=Filters)
    unwanted: tuple[int, ...] = ()  # excluded films
    ratings: Ratings = ()  # of films of the history, and of others that the user has an opinion on

    def __post_init__(self) -> None:
        if not isinstance(self.k, Integral) or self.k < 0:
            raise ServingError("cannot recommend {k} films; ask for 0 or more", k=self.k)


@dataclass(frozen=True)
class Recommendation:
    """A recommended film."""

    rank: int  # 1 = best
    item: int
    film: Film
    score: float  # of the model, comparable within one list only
    probability: float | None  # that it is watched next, if a film of the list is; None: the model has none


@dataclass(frozen=True)
class RankPosition:
    """The position of a film in the ranking of a recommender."""

    rank: int | None  # 1 = best; None: excluded
    n_ranked: int  # films in the ranking
    probability: float | None  # as in Recommendation; 0 for an excluded film

    @property
    def log_rank_score(self) -> float:
        """1 for the first film, 0 for the last film and for excluded films, linear in the logarithm of the rank."""
        if self.rank is None:
            return 0.0
        return 1 - math.log(self.rank) / math.log(self.n_ranked) if self.n_ranked > 1 else 1.0


def recommend(predictor: Predictor, request: Request) -> list[Recommendation]:
    """Return the best films, at most `request.k`, best first. Equal scores are ordered by item number.

    Raises:
        ServingError: If a film number is not in the catalogue.
        ScoreError: If a score is NaN or infinite.
    """
    return recommend_many(predictor, [request])[0]


def recommend_many(predictor: Predictor, requests: Sequence[Request]) -> list[list[Recommendation]]:
    """Answer B requests like `recommend`, on all cores. The scores take at most 64 MB."""

    def answer(rows: list[int]) -> list[list[Recommendation]]:
        batch = [requests[row] for row in rows]
        return [
            top_recommendations(predictor, ranking, request.k, request.filters.diversity)
            for request, ranking in zip(batch, rankings(predictor, batch), strict=True)
        ]

    size = _batch_size(predictor.dataset, N_THREADS)
    order = sorted(range(len(requests)), key=lambda row: -len(requests[row].history))  # similar lengths: little padding
    batches = [order[start : start + size] for start in range(0, len(order), size)]
    if len(batches) < 2:
        answers = list(map(answer, batches))
    else:
        with ThreadPoolExecutor(N_THREADS) as pool:
            answers = list(pool.map(answer, batches))
    monitoring.count("recommendations", predictor.variant.name, len(requests))
    by_row = dict(zip(order, chain.from_iterable(answers), strict=True))
    return [by_row[row] for row in range(len(requests))]


def rankings(
    predictor: Predictor, requests: Sequence[Request], excluded: Iterable[np.ndarray] | None = None
) -> Iterator[Ranking]:
    """Yield the ranking of all films for each of B requests, in order. `k` and diversity have no effect.

    At most 64 MB of scores exist at a time.

    Args:
        predictor: Scores the films.
        requests: The histories, ratings and filters.
        excluded: For each request the excluded items, (n,) or a mask (I,) bool, in place of those of the request.

    Raises:
        ServingError, ScoreError: As `recommend` does.
    """
    hidden = iter((_excluded(predictor, request) for request in requests) if excluded is None else excluded)
    size = _batch_size(predictor.dataset)
    for start in range(0, len(requests), size):
        for scores in _scores(predictor, requests[start : start + size]):
            yield Ranking.from_scores(scores, next(hidden), predictor.log_probabilities)


def rank_of(ranking: Ranking, items: Sequence[int]) -> list[RankPosition]:
    """Return the position of each item in a ranking."""
    ranks = {item: ranking.rank(item) for item in items}
    ranked = [item for item, rank in ranks.items() if rank is not None]
    values = ranking.probabilities(np.array(ranked, np.int64))
    probabilities: dict[int, float | None] = dict.fromkeys(ranks, None if values is None else 0.0)
    if values is not None:
        probabilities |= dict(zip(ranked, values.tolist(), strict=True))
    n_ranked = len(ranking)
    return [RankPosition(ranks[item], n_ranked, probabilities[item]) for item in items]


def exclusion_mask(predictor: Predictor, request: Request) -> np.ndarray:
    """Return True for the items that a request excludes, (I,) bool."""
    mask = np.zeros(predictor.dataset.n_items, bool)
    mask[_excluded(predictor, request)] = True
    return mask


def count_candidates(predictor: Predictor, request: Request) -> int:
    """Return the number of films that a request does not exclude."""
    return int(np.count_nonzero(~exclusion_mask(predictor, request)))


def _excluded(predictor: Predictor, request: Request) -> np.ndarray:
    """Return the excluded items of a request, (n,), or a mask (I,) bool if a filter restricts the films.

    Item numbers are faster than a mask if the catalogue has millions of films.
    """
    films = (request.history if request.filters.hide_seen else (), request.unwanted)
    watched, unwanted = (check_items(predictor.dataset, numbers, infrequent=True) for numbers in films)
    watched, unwanted = (numbers[numbers < predictor.dataset.n_items] for numbers in (watched, unwanted))
    if main_items := _main_items(predictor.dataset):
        same = [main_items[item] for item in watched.tolist() if item in main_items]
        unwanted = np.concatenate([unwanted, [*main_items], same]).astype(np.int64)
    if not request.filters.restricts:
        return np.append(watched, unwanted) if len(unwanted) else watched
    mask = ~film_filters.allowed_mask(predictor.features, request.filters, request.history)
    mask[watched] = mask[unwanted] = True
    return mask


def _main_items(dataset: Dataset) -> dict[int, int]:
    """Return the items that are listed twice → the same film with more ratings."""
    return {item: main for item, main in dataset.main_films.items() if item < dataset.n_items}


def top_recommendations(predictor: Predictor, ranking: Ranking, k: int, diversity: float = 0.0) -> list[Recommendation]:
    """Return k films of a ranking, best first. For `diversity`, 0…1, see `filters.mmr`."""
    items = ranking.top(max(k, film_filters.MMR_POOL_SIZE) if diversity else k)
    if diversity:
        items = film_filters.mmr(items, ranking.scores[items], _similarity(predictor, items), k, diversity)
    values = ranking.probabilities(items)
    probabilities = [None] * len(items) if values is None else values.tolist()
    rows = zip(items.tolist(), ranking.scores[items].tolist(), probabilities, strict=True)
    films = predictor.dataset.catalog.films
    return [Recommendation(rank, row[0], films[row[0]], *row[1:]) for rank, row in enumerate(rows, start=1)]


def _similarity(predictor: Predictor, items: np.ndarray) -> np.ndarray:
    """Return the similarity of items, (n, n) 0…1, by the model's embeddings or, if it has none, by genres."""
    if predictor.model.has_item_embeddings:
        return film_filters.vector_similarity(predictor.model.item_embeddings()[items])
    return film_filters.genre_similarity(predictor.features.genre_matrix[items])


def check_items(dataset: Dataset, items: History, infrequent: bool = False) -> np.ndarray:
    """Return items as an array (n,) int64. With `infrequent`, numbers of infrequent films are valid, too.

    Raises:
        ServingError: If a number is not valid, for example that of padding or of a mask.
    """
    array = np.asarray(items)
    if not array.size:
        return np.zeros(0, np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ServingError("a history is a flat list of item numbers; turn titles into items first")
    n = len(dataset.catalog.films) if infrequent else dataset.n_items
    if array.min() < 0 or array.max() >= n:
        unknown = array[(array < 0) | (array >= n)][0]
        raise ServingError("there is no item {unknown} among {n}; pass items, not MovieLens ids", unknown=unknown, n=n)
    return array.astype(np.int64, copy=False)


def _scores(predictor: Predictor, requests: Sequence[Request]) -> np.ndarray:
    """Return the scores of the model, (B, I) float."""
    dataset = predictor.dataset
    histories = [check_items(dataset, request.history, infrequent=True) for request in requests]
    ratings = [request.ratings for request in requests]
    scores = predictor.model.score(to_queries(dataset, histories, ratings, predictor.model.uses_query_ratings))
    expected = (len(histories), dataset.n_items)
    if scores.shape != expected:
        raise ServingError(
            "{title} scored {shape}, not {expected}; train it again",
            title=Message(predictor.title),
            shape=scores.shape,
            expected=expected,
        )
    for row, request in enumerate(requests):
        if request.ratings:
            scores[row] = feedback.adjust(dataset, scores[row], _feedback(predictor, request))
    return scores


def _feedback(predictor: Predictor, request: Request) -> dict[int, float]:
    """Return the weights of the rated films. A model that reads the ratings of the history gets no feedback on it."""
    read = set(request.history) if predictor.model.uses_query_ratings else set()
    return feedback.weights({film: stars for film, stars in request.ratings if film not in read})


def to_queries(
    dataset: Dataset, histories: Iterable[np.ndarray], ratings: Sequence[Ratings], with_ratings: bool
) -> Queries:
    """Return the input of a model for histories (n,) and the ratings of their users.

    Models that read ratings get them. Other models get histories without disliked films: they have learned which films
    are watched together, and would recommend more films like the disliked one. Each infrequent film is
    replaced by its substitute, which gets its rating.
    """
    pairs = list(zip(histories, map(dict, ratings), strict=True))
    if with_ratings:
        items = [substitutes.replace_infrequent(dataset, history) for history, _ in pairs]
        return Queries(items, ratings=[_aligned_ratings(dataset, *pair) for pair in pairs] if any(ratings) else None)
    liked = []
    for history, stars in pairs:
        disliked = [film for film, value in stars.items() if value < LIKED_THRESHOLD]
        liked.append(history[~np.isin(history, disliked)] if disliked else history)
    return Queries([substitutes.replace_infrequent(dataset, history) for history in liked])


def _aligned_ratings(dataset: Dataset, history: np.ndarray, stars: dict[int, float]) -> np.ndarray:
    """Return the rating of each item that the model gets for a history, (m,) float32. NaN means unrated."""
    values = [stars.get(film, np.nan) for film in history.tolist() for _ in substitutes.find(dataset, film)]
    return np.array(values, np.float32)


def _batch_size(dataset: Dataset, n_threads: int = 1) -> int:
    """Return the number of histories that each thread scores at a time."""
    return max(1, min(MAX_BATCH, MAX_SCORES // max(1, n_threads * dataset.n_items)))
