"""Recommend films for a `Request`: score the items, rank them, and return the best.

A film number is an index of `Catalog.films`. Numbers below I are items, higher numbers are infrequent films.

Shapes: B requests, I items.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from numbers import Integral

import numpy as np

from recsys import machine, monitoring
from recsys.data.dataset import Dataset, Film, Queries
from recsys.errors import Message, RecsysError
from recsys.models.base import Model
from recsys.ranking.ranking import Ranking
from recsys.serving import feedback, substitutes
from recsys.serving import filters as film_filters
from recsys.serving.filters import Filters
from recsys.serving.predictor import Predictor

LIKED_STARS = 5.0  # rating of a film with a thumb up
DISLIKED_STARS = 2.0  # rating of a film with a thumb down
MIN_LIKED_STARS = 3.0  # a film with a lower rating is disliked, any other rated film is liked
MAX_SCORES = 1 << 24  # scores that all threads together compute at a time, 64 MB of float32
MAX_BATCH = 256  # histories that a thread scores at a time
N_THREADS = machine.cores()

FilmNumbers = Sequence[int] | np.ndarray  # a history is oldest first
Ratings = tuple[tuple[int, float], ...]  # (film number, stars) of one visitor


class ServingError(RecsysError):
    """A request that cannot be answered."""


@dataclass(frozen=True)
class Request:
    """The history and the settings of one visitor. Requests are hashable, so that recommendations can be cached."""

    history: tuple[int, ...]  # film numbers, oldest first; repeats are allowed
    k: int = 10  # number of recommendations
    filters: Filters = field(default_factory=Filters)
    unwanted: tuple[int, ...] = ()  # film numbers that are not recommended
    ratings: Ratings = ()  # of films of the history and of other films

    def __post_init__(self) -> None:
        if not isinstance(self.k, Integral) or self.k < 0:
            raise ServingError("cannot recommend {k} films; ask for 0 or more", k=self.k)


@dataclass(frozen=True)
class Recommendation:
    """A recommended film."""

    rank: int  # 1 = best
    item: int
    film: Film
    score: float  # of the model; comparable only within one list
    probability: float | None  # that the film is watched next, see `Ranking.probabilities`; None: the model has none


@dataclass(frozen=True)
class RankPosition:
    """The position of a film in the ranking of a recommender."""

    rank: int | None  # 1 = best; None: excluded
    n_ranked: int  # films in the ranking
    probability: float | None  # as in `Recommendation`; 0 for an excluded film

    @property
    def log_rank_score(self) -> float:
        """Linear in the logarithm of the rank: 1 for the first film, 0 for the last film. 0 for an excluded film."""
        if self.rank is None:
            return 0.0
        return 1 - math.log(self.rank) / math.log(self.n_ranked) if self.n_ranked > 1 else 1.0


def recommend(predictor: Predictor, request: Request) -> list[Recommendation]:
    """Return the best films, at most `request.k`, best first. Equal scores are ordered by item number.

    Raises:
        ServingError: If a film number is not in the catalogue.
        ScoreError: If a score is NaN or plus infinity.
    """
    return recommend_many(predictor, [request])[0]


def recommend_many(predictor: Predictor, requests: Sequence[Request]) -> list[list[Recommendation]]:
    """Return the result of `recommend` for each of B requests. The requests are divided between all cores."""

    def recommend_batch(rows: list[int]) -> list[list[Recommendation]]:
        batch = [requests[row] for row in rows]
        return [
            top_recommendations(predictor, ranking, request.k, request.filters.diversity)
            for request, ranking in zip(batch, rankings(predictor, batch), strict=True)
        ]

    size = _batch_size(predictor.dataset, N_THREADS)
    # histories of similar length share a batch, so that models pad little
    longest_first = sorted(range(len(requests)), key=lambda row: -len(requests[row].history))
    batches = [longest_first[start : start + size] for start in range(0, len(requests), size)]
    if len(batches) < 2:
        results = list(map(recommend_batch, batches))
    else:
        with ThreadPoolExecutor(N_THREADS) as executor:
            results = list(executor.map(recommend_batch, batches))
    monitoring.count("recommendations", predictor.recommender.name, len(requests))
    result_by_row = dict(zip(longest_first, chain.from_iterable(results), strict=True))
    return [result_by_row[row] for row in range(len(requests))]


def rankings(
    predictor: Predictor, requests: Sequence[Request], excluded: Iterable[np.ndarray] | None = None
) -> Iterator[Ranking]:
    """Yield the ranking of all items for each of B requests, in order. `k` and diversity have no effect.

    Args:
        predictor: Scores the items.
        requests: The histories, ratings and filters.
        excluded: For each request the excluded items (n,) or a mask (I,) bool. None: the items that the request
            excludes.
    """
    if excluded is None:
        excluded = (_excluded(predictor, request) for request in requests)
    excluded_iterator = iter(excluded)  # continues over all batches
    size = _batch_size(predictor.dataset)
    for start in range(0, len(requests), size):
        for scores in _scores(predictor, requests[start : start + size]):
            yield Ranking.from_scores(scores, next(excluded_iterator), predictor.log_probabilities)


def rank_positions(ranking: Ranking, items: Sequence[int]) -> list[RankPosition]:
    """Return the position of each item in a ranking."""
    n_ranked, ranks = len(ranking), {item: ranking.rank(item) for item in items}
    ranked_items = [item for item, rank in ranks.items() if rank is not None]
    probabilities = ranking.probabilities(np.array(ranked_items, np.int64))
    if probabilities is None:
        return [RankPosition(ranks[item], n_ranked, None) for item in items]
    probability_by_item = dict(zip(ranked_items, probabilities.tolist(), strict=True))
    return [RankPosition(ranks[item], n_ranked, probability_by_item.get(item, 0.0)) for item in items]


def exclusion_mask(predictor: Predictor, request: Request) -> np.ndarray:
    """Return True for the items that a request excludes, (I,) bool."""
    mask = np.zeros(predictor.dataset.n_items, bool)
    mask[_excluded(predictor, request)] = True
    return mask


def count_candidates(predictor: Predictor, request: Request) -> int:
    """Return the number of items that a request does not exclude."""
    return int(np.count_nonzero(~exclusion_mask(predictor, request)))


def _excluded(predictor: Predictor, request: Request) -> np.ndarray:
    """Return the items that a request excludes, as item numbers (n,) or as a mask (I,) bool.

    It is a mask if a filter excludes films. Otherwise, it is item numbers, because a mask is slow for a catalogue of
    millions of films.

    If the catalogue has a film several times, the entry with the most ratings is its main film. The other entries, the
    duplicates, are always excluded. A duplicate in the request excludes its main film.
    """
    films = (*(request.history if request.filters.hide_seen else ()), *request.unwanted)
    numbers = check_items(predictor.dataset, films, allow_infrequent=True)
    if main_film_by_duplicate := predictor.dataset.main_film_by_duplicate:
        main_numbers = [main_film_by_duplicate.get(film, film) for film in numbers.tolist()]
        numbers = np.array([*main_film_by_duplicate, *main_numbers], np.int64)
    items = numbers[numbers < predictor.dataset.n_items]
    if not request.filters.excludes_films:
        return items
    features = film_filters.film_features(predictor.dataset)
    mask = ~film_filters.allowed_mask(features, request.filters, request.history)
    mask[items] = True
    return mask


def top_recommendations(predictor: Predictor, ranking: Ranking, k: int, diversity: float = 0.0) -> list[Recommendation]:
    """Return at most k films of a ranking, best first. A diversity above 0 selects them by `filters.mmr`."""
    items = ranking.top(max(k, film_filters.N_MMR_CANDIDATES) if diversity else k)
    if diversity:
        items = film_filters.mmr(items, ranking.scores[items], _similarity(predictor, items), k, diversity)
    probabilities = ranking.probabilities(items)
    probability_column = [None] * len(items) if probabilities is None else probabilities.tolist()
    columns = zip(items.tolist(), ranking.scores[items].tolist(), probability_column, strict=True)
    films = predictor.dataset.catalog.films
    return [Recommendation(rank, item, films[item], score, p) for rank, (item, score, p) in enumerate(columns, start=1)]


def _similarity(predictor: Predictor, items: np.ndarray) -> np.ndarray:
    """Return the similarities of items, (n, n) 0…1, by the embeddings of the model or, without them, by genres."""
    if predictor.model.has_item_embeddings:
        return film_filters.vector_similarity(predictor.model.item_embeddings()[items])
    return film_filters.genre_similarity(film_filters.film_features(predictor.dataset).genre_matrix[items])


def check_items(dataset: Dataset, numbers: FilmNumbers, allow_infrequent: bool = False) -> np.ndarray:
    """Check item numbers, and return them as (n,) int64. With `allow_infrequent`, all film numbers are valid.

    Raises:
        ServingError: If a number is not valid, for example the number of a padding or mask token.
    """
    array = np.asarray(numbers)
    if not array.size:
        return np.zeros(0, np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":  # i: int, u: unsigned int
        raise ServingError("a history is a flat list of item numbers; turn titles into items first")
    n = len(dataset.catalog.films) if allow_infrequent else dataset.n_items
    invalid = array[(array < 0) | (array >= n)]
    if len(invalid):
        text = "there is no item {unknown} among {n}; pass item numbers, not MovieLens IDs"
        raise ServingError(text, unknown=invalid[0], n=n)
    return array.astype(np.int64, copy=False)


def _scores(predictor: Predictor, requests: Sequence[Request]) -> np.ndarray:
    """Return the scores of the model, adjusted by the ratings that the model does not read, (B, I) float."""
    dataset = predictor.dataset
    histories = [check_items(dataset, request.history, allow_infrequent=True) for request in requests]
    ratings = [request.ratings for request in requests]
    reads_ratings = predictor.model.uses_query_ratings
    scores = predictor.model.score(to_queries(predictor.model, dataset, histories, ratings))
    expected_shape = (len(histories), dataset.n_items)
    if scores.shape != expected_shape:
        raise ServingError(
            "{title} returned scores of shape {shape}, not {expected}; train it again",
            title=Message(predictor.title),
            shape=scores.shape,
            expected=expected_shape,
        )
    for row, request in enumerate(requests):
        history = set(request.history)  # a model that reads ratings only reads ratings of these films
        unread_ratings = {film: stars for film, stars in request.ratings if not (reads_ratings and film in history)}
        scores[row] = feedback.adjust(dataset, scores[row], unread_ratings)
    return scores


def to_queries(model: Model, dataset: Dataset, histories: Sequence[np.ndarray], ratings: Sequence[Ratings]) -> Queries:
    """Return the input of a model for B histories of film numbers (n,).

    Substitutes replace infrequent films, unless the model reads such films. If the model does not read ratings,
    disliked films are removed from the histories, because the model would recommend more films like them.
    """
    replace_films = substitutes.replace_duplicates if model.reads_infrequent_films else substitutes.replace_infrequent
    films = [replace_films(dataset, history) for history in histories]
    if not model.uses_query_ratings:
        for row, stars_by_film in enumerate(map(dict, ratings)):
            disliked_films = [film for film, stars in stars_by_film.items() if stars < MIN_LIKED_STARS]
            if disliked_films:
                films[row] = films[row][~np.isin(histories[row], disliked_films)]
    if not model.uses_query_ratings or not any(ratings):
        return Queries(films)
    stars_of_histories = []
    for history, stars_by_film in zip(histories, map(dict, ratings), strict=True):
        stars = [stars_by_film.get(film, np.nan) for film in history.tolist()]
        stars_of_histories.append(np.array(stars, np.float32))
    return Queries(films, ratings=stars_of_histories)


def _batch_size(dataset: Dataset, n_threads: int = 1) -> int:
    """Return the number of histories that each thread scores at a time, at least 1."""
    return max(1, min(MAX_BATCH, MAX_SCORES // max(1, n_threads * dataset.n_items)))
