"""Scores for favourites: films that a visitor enters in no order (see `VisitorPool.for_unordered_lists`).

    s_f(i) = Σ_m w_m · z_m(i | f) + prior(i)                                     after the single favourite f
    score(i) = BALANCED_WEIGHT · log Σ_f (exp(s_f(i)) / b_f) + (1 - BALANCED_WEIGHT) · mean_f s_f(i)

z_m are the scores of member m on a common scale, see `length_weights.py`. b_f is the sum of exp(s_f) over the
⌈N_BALANCED / n⌉ items with the highest s_f, where favourites count like the item with the lowest. So the best items of
each of the n favourites have the same total weight, however high its scores are, and no favourite is ignored.

The weights w_m (GRADED_WEIGHTS) are not fitted to the events of users, because users mostly rate famous films, and one
after the other films that were released in the same months. Except for EASE, whose weight was set by hand, they and the
two weights of the prior were fitted to 13,420 grades that language models gave to films for 445 single favourites.
4,737 grades for 210 lists selected BALANCED_WEIGHT and UNORDERED_TRAIT_BONUS (`benchmarks/graded_lists.py`,
docs/experiments.md).

Shapes: B queries, I items, N tested inverse temperatures, F single films, n favourites of a list.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp

from recsys.data.dataset import Dataset, HeldOut, Queries
from recsys.models.length_weights import MAX_EXAMPLES, Examples

GRADED_WEIGHTS = {"content-fields": 2.95, "content-sentence": 0.95, "ease-low-rank": 0.5, "markov-both": 0.16}
POPULARITY_WEIGHT = 0.12  # of the logarithm of the share of users who watched an item
RATING_WEIGHT = 0.44  # of the mean rating of an item, in stars
RATING_PSEUDO_COUNT = 20.0  # added ratings of each item; each equals the mean of all ratings
BALANCED_WEIGHT = 0.8  # of the balanced scores; the mean has the rest
UNORDERED_TRAIT_BONUS = 0.055  # films with the trait in common get this · Σ_m w_m · strength, see `CommonTrait`
TASTE_MEMBERS = ("content-fields", "content-sentence")
UNORDERED_TASTE_FACTOR = 3.0  # of the weights of TASTE_MEMBERS in `VisitorPool.for_taste`
INVERSE_TEMPERATURES = np.linspace(0.05, 2, 40, dtype=np.float32)  # tested values, N
N_CALIBRATED = 3  # recommendations whose total probability is compared with the share of hits
CALIBRATION_LENGTHS = (1, 2, 3, 5, 10)  # the scores of lists of 5 to 9 films have the inverse temperature of 5 films
N_DRAWS = 4  # passes over the users for each of these lengths, because only about 1 % of the lists have a hit
MAX_RECENT_ITEMS = 50  # newest items of a history from which lists in no order are drawn
MAX_SCORED_FAVOURITES = 50  # 1,000 films of a list would take .7 s
N_BALANCED = 10  # first recommendations that are divided among the favourites of a list


def item_prior(train: Dataset, log_shares: np.ndarray) -> np.ndarray:
    """Return the prior, which is added to the scores of each item, (I,) float32. Popular, well rated items have more.

    `log_shares` (I,) are the logarithms of the shares of users who watched each item.
    """
    return np.asarray(POPULARITY_WEIGHT * log_shares + RATING_WEIGHT * mean_ratings(train), np.float32)


def mean_ratings(train: Dataset) -> np.ndarray:
    """Return the mean rating of each item in stars, (I,), see RATING_PSEUDO_COUNT. All are 0 if nothing is rated."""
    ratings = np.asarray(train.interactions.rating, np.float64)
    is_rated = ~np.isnan(ratings)
    if not is_rated.any():
        return np.zeros(train.n_items)
    items, ratings = np.asarray(train.interactions.item)[is_rated], ratings[is_rated]
    totals = np.bincount(items, ratings, train.n_items) + RATING_PSEUDO_COUNT * ratings.mean()
    return np.asarray(totals / (np.bincount(items, minlength=train.n_items) + RATING_PSEUDO_COUNT))


def random_lists(valid: HeldOut, list_lengths: Sequence[int], rng: np.random.Generator) -> Examples:
    """Return lists of random items in random order, like the favourites of a visitor.

    There are lists of up to MAX_EXAMPLES users for each of the `list_lengths`, which may be equal. Their items are
    drawn from the MAX_RECENT_ITEMS newest items of a history. All items of the history are excluded.
    """
    histories = valid.queries.histories
    lengths = np.array([len(history) for history in histories])
    lists, rows = [], []
    for length in list_lengths:
        for row in rng.permutation(np.flatnonzero(lengths >= length))[:MAX_EXAMPLES]:
            lists.append(rng.permutation(histories[row][-MAX_RECENT_ITEMS:])[:length])
            rows.append(row)
    return Examples(Queries(lists), valid.targets[rows], [histories[row] for row in rows])


def single_films(histories: Sequence[np.ndarray]) -> tuple[Queries, list[np.ndarray]]:
    """Return F queries, one for each different film of the lists, and for each list the rows of its films among them.

    An empty list has a query without films. A list of more than MAX_SCORED_FAVOURITES films is reduced to so
    many pseudo-random ones. If a film is added to the list, at most one of them is replaced.
    """
    row_of_query: dict[tuple[int, ...], int] = {}
    rows = []
    for history in histories:
        films = np.unique(history).astype(np.int64)
        if len(films) > MAX_SCORED_FAVOURITES:
            hashes = films * 2_654_435_761 % 2**32  # multiplicative hashing: the same film always has the same hash
            films = films[np.argsort(hashes)[:MAX_SCORED_FAVOURITES]]
        keys: list[tuple[int, ...]] = [(film,) for film in films.tolist()] or [()]
        rows.append(np.array([row_of_query.setdefault(key, len(row_of_query)) for key in keys]))
    return Queries([np.array(key, np.int64) for key in row_of_query]), rows


def combine_favourites(single_scores: np.ndarray, favourites: np.ndarray) -> np.ndarray:
    """Return the scores of a list, up to a constant, (I,) float32, see the start of this module.

    Args:
        single_scores: The scores s_f after each favourite, up to a constant for each favourite, (n, I).
        favourites: The favourites that are items.
    """
    balanced = balance_favourites(single_scores, favourites)
    return np.asarray(BALANCED_WEIGHT * balanced + (1 - BALANCED_WEIGHT) * single_scores.mean(0), np.float32)


def balance_favourites(single_scores: np.ndarray, favourites: np.ndarray) -> np.ndarray:
    """Return log Σ_f (exp(s_f(i)) / b_f), (I,), see the start of this module. The arguments are the same as above."""
    candidates = single_scores.copy()
    candidates[:, favourites] = candidates.min(1, keepdims=True)
    n_best = min(-(-N_BALANCED // len(single_scores)), candidates.shape[1])
    best = -np.partition(-candidates, n_best - 1, axis=1)[:, :n_best]
    return np.asarray(logsumexp(single_scores - logsumexp(best, axis=1, keepdims=True), axis=0))


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
