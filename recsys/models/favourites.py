"""Scores for favourites: films that a visitor lists in no order (see `VisitorPool.for_unordered_lists`).

    s_f(i) = Σ_m w_m · z_m(i | f) + prior(i)                        after the single favourite f
    score(i) = SHARED_WEIGHT · log Σ_f exp(s_f(i)) / b_f + (1 - SHARED_WEIGHT) · mean_f s_f(i)

The weights w_m (GRADED_WEIGHTS) do not come from the events of users, who rate famous films and the films of the same
months. Language models graded 18,157 recommendations for 655 lists of favourites, and the weights fit their grades best
(`benchmarks/graded_lists.py`, docs/experiments.md). b_f gives each favourite a similar number of the first films, see
`share_out`.

Shapes: B queries, I items, N tested factors, F single films, n favourites of a list.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp

from recsys.data.dataset import Dataset, HeldOut, Queries
from recsys.models.length_weights import MAX_EXAMPLES, Examples

CONTENT_MEMBERS = ("content-fields", "content-sentence")
GRADED_WEIGHTS = {"content-fields": 2.95, "content-sentence": 0.95, "ease-low-rank": 0.5, "markov-both": 0.16}
POPULARITY_WEIGHT = 0.12  # of the logarithm of the share of users who watched an item
RATING_WEIGHT = 0.44  # of the mean rating of an item, in stars
RATING_PSEUDO_COUNT = 20.0  # ratings with the mean of all ratings, which are added to those of each item
SHARED_WEIGHT = 0.8
TRAIT_WEIGHT = 0.25  # films with a common trait get TRAIT_WEIGHT · strength, see `CommonTrait`
TASTE_FACTOR = 3.0  # of the weights of CONTENT_MEMBERS in `VisitorPool.for_taste`
INVERSE_TEMPERATURES = np.linspace(0.05, 2, 40, dtype=np.float32)  # tested values, N
N_CALIBRATED = 3  # recommendations whose total probability is compared with the share of hits
CALIBRATION_LENGTHS = (1, 2, 3, 5, 10)  # the scores of lists of 5 to 9 films have the inverse temperature of 5 films
N_DRAWINGS = 4  # random lists of each user for each length, because one of a hundred lists is a hit
MAX_RECENT = 50  # newest items of a history from which lists in no order are drawn
MAX_SCORED = 50  # films of a list that are scored; 1,000 would take .7 s
N_SHARED = 10  # first recommendations that are shared out among the favourites of a list


def item_prior(train: Dataset, log_shares: np.ndarray) -> np.ndarray:
    """Return what is added to the scores of each item, (I,) float32: more for popular items with good ratings.

    `log_shares` (I,) are the logarithms of the shares of users who watched each item.
    """
    return np.asarray(POPULARITY_WEIGHT * log_shares + RATING_WEIGHT * mean_ratings(train), np.float32)


def mean_ratings(train: Dataset) -> np.ndarray:
    """Return the mean rating of each item in stars, (I,), or zeros without ratings, see RATING_PSEUDO_COUNT."""
    ratings = np.asarray(train.interactions.rating, np.float64)
    is_rated = ~np.isnan(ratings)
    if not is_rated.any():
        return np.zeros(train.n_items)
    items, ratings = np.asarray(train.interactions.item)[is_rated], ratings[is_rated]
    totals = np.bincount(items, ratings, train.n_items) + RATING_PSEUDO_COUNT * ratings.mean()
    return np.asarray(totals / (np.bincount(items, minlength=train.n_items) + RATING_PSEUDO_COUNT))


def random_lists(valid: HeldOut, list_lengths: Sequence[int], rng: np.random.Generator) -> Examples:
    """Return lists of random items in random order, like the favourites of a visitor.

    There are lists of up to MAX_EXAMPLES users for each length. Their items are drawn from the MAX_RECENT newest items
    of a history. All items of the history are excluded.
    """
    histories = valid.queries.histories
    lengths = np.array([len(history) for history in histories])
    lists, rows = [], []
    for length in list_lengths:
        for row in rng.permutation(np.flatnonzero(lengths >= length))[:MAX_EXAMPLES]:
            lists.append(rng.permutation(histories[row][-MAX_RECENT:])[:length])
            rows.append(row)
    return Examples(Queries(lists), valid.targets[rows], [histories[row] for row in rows])


def single_films(histories: Sequence[np.ndarray]) -> tuple[Queries, list[np.ndarray]]:
    """Return each different film of the lists as a query of its own, F in all, and the rows of the films of each list.

    An empty list is a query without films. Of a list with more than MAX_SCORED films, so many are chosen, evenly spaced
    by number.
    """
    queries: dict[int | None, int] = {}  # film, or None for an empty list → row
    rows = []
    for history in histories:
        films = np.unique(history)
        if len(films) > MAX_SCORED:
            films = films[np.linspace(0, len(films) - 1, MAX_SCORED).round().astype(int)]
        rows.append(np.array([queries.setdefault(film, len(queries)) for film in films.tolist() or [None]]))
    return Queries([np.array([] if film is None else [film], np.int64) for film in queries]), rows


def combine_favourites(single_scores: np.ndarray, favourites: np.ndarray) -> np.ndarray:
    """Return the scores of a list from the scores after each of its favourites, (I,) float32.

    For the formula, see the start of this module.

    Args:
        single_scores: The scores s_f for each favourite, log-probabilities up to a constant, (n, I).
        favourites: The favourites that are items.
    """
    if len(single_scores) == 1:
        return single_scores[0]
    shared_out = share_out(single_scores, favourites)
    return np.asarray(SHARED_WEIGHT * shared_out + (1 - SHARED_WEIGHT) * single_scores.mean(0), np.float32)


def share_out(single_scores: np.ndarray, favourites: np.ndarray) -> np.ndarray:
    """Return scores in which each favourite of a list has a similar number of the first N_SHARED items, (I,) float32.

        log Σ_f exp(s_f(i)) / m_f

    s_f are the scores after the single favourite f, and m_f is the mean of exp(s_f) over its best ⌈N_SHARED / n⌉ items.
    So the best items of each favourite have the same mean, however certain its recommendations are. The scores have an
    additional constant, because the code divides by the sum of the best items.

    Args:
        single_scores: The scores s_f for each favourite, log-probabilities up to a constant, (n, I).
        favourites: The favourites that are items. They are not among the best items, and their own scores are not used.
    """
    candidates = single_scores.copy()
    candidates[:, favourites] = candidates.min(1, keepdims=True)
    n_best = min(-(-N_SHARED // len(single_scores)), candidates.shape[1])
    best = -np.partition(-candidates, n_best - 1, axis=1)[:, :n_best]
    relative = single_scores - logsumexp(best, axis=1, keepdims=True)
    return np.asarray(logsumexp(relative, axis=0), np.float32)


def expected_hit_rates(scores: np.ndarray) -> np.ndarray:
    """Return the total probability of the top N_CALIBRATED items for each of the N INVERSE_TEMPERATURES, (B, N).

    Args:
        scores: Log-probabilities up to a constant, (B, I); -∞ for excluded items.
    """
    n = min(N_CALIBRATED, scores.shape[1])
    top = -np.partition(-scores, n - 1, axis=1)[:, :n]
    highest = scores.max(1, keepdims=True)
    rates = [
        np.exp(factor * (top - highest)).sum(1) / np.exp(factor * (scores - highest)).sum(1)
        for factor in INVERSE_TEMPERATURES
    ]
    return np.stack(rates, axis=1)
