"""Compare lists of recommendations: before and after a change of the history, and of several recommenders.

Also compare the ranks that recommenders give to held-out films. A held-out film is a film of the history. It is ranked
from the films before it. Lists have k films, best first.

Sizes: O other orders, F held-out films.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from recsys.ranking import metrics
from recsys.serving.export import as_record
from recsys.serving.history import SampleList
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import (
    RankPosition,
    Recommendation,
    Request,
    check_items,
    rank_positions,
    rankings,
    recommend_many,
)

RBO_PERSISTENCE = 0.9  # p of rank-biased overlap: probability that a reader continues to the next film of a list
N_ORDERS = 10  # default number of random orders
FILMS_PER_SAMPLE_LIST = 4  # films of each sample list in `sample_list_orders`
MAX_HELD_OUT = 20  # films that are held out one by one, so that the table stays readable
N_LAST_ITEMS = 10  # default number of positions that `last_item_positions` returns
TOP_K = 10  # a held-out film is a hit if its rank is at most TOP_K

Order = tuple[int, ...]  # items, oldest first


def reorderings(films: Sequence[int], n: int = N_ORDERS) -> list[Order]:
    """Return other orders of the films: first the reversed order, then at most n random orders.

    The orders are distinct. A short history has fewer than n + 1 of them.
    """
    rng = np.random.default_rng(0)
    # some shuffles of a short history are equal, so 3n shuffles are made
    shuffled = [tuple(rng.permutation(np.asarray(films, np.int64)).tolist()) for _ in range(3 * n)]
    orders = dict.fromkeys([tuple(reversed(films)), *shuffled])
    orders.pop(tuple(films), None)
    return list(orders)[: n + 1]


def rank_biased_overlap(left: Sequence[Hashable], right: Sequence[Hashable]) -> float:
    """Return the agreement of two lists: 0 without common films, 1 if they are equal. The first ranks count most.

    The lists are cut to the shorter length k. Beyond k, the agreement is assumed to stay as it is at depth k. With X_d,
    the number of common films among the first d:

        RBO_EXT = X_k / k · p^k + (1 - p) / p · Σ_d X_d / d · p^d,   d = 1…k

    Two empty lists have the agreement 1.

    Reference: Webber, Moffat and Zobel, ACM TOIS 28:4, 2010.
    """
    k = min(len(left), len(right))
    if k == 0:
        return float(len(left) == len(right))
    agreement = [len({*left[:d]} & {*right[:d]}) / d for d in range(1, k + 1)]  # X_d / d
    p = RBO_PERSISTENCE
    weights = (1 - p) / p * p ** np.arange(1, k + 1)
    weights[-1] += p**k  # now the weights sum to 1
    return float(np.average(agreement, weights=weights))


@dataclass(frozen=True)
class OrderEffect:
    """The lists of a recommender for a history and for O other orders of the same films."""

    given_list: list[Recommendation]  # list for the given order
    other_lists: list[list[Recommendation]]  # O lists, one for each other order

    @cached_property
    def overlaps(self) -> list[float]:
        """The rank-biased overlap of the list for the given order with each other list."""
        return [rank_biased_overlap(_items(self.given_list), _items(other)) for other in self.other_lists]

    @cached_property
    def kept_counts(self) -> list[int]:
        """The number of films of the list for the given order that are in each other list."""
        return [len({*_items(self.given_list)} & {*_items(other)}) for other in self.other_lists]

    @property
    def mean_overlap(self) -> float:
        """The mean of `overlaps`."""
        return float(np.mean(self.overlaps))

    @property
    def mean_kept(self) -> float:
        """The mean of `kept_counts`."""
        return float(np.mean(self.kept_counts))

    @property
    def has_equal_lists(self) -> bool:
        """Whether the lists for all orders are equal."""
        return all(_items(other) == _items(self.given_list) for other in self.other_lists)


def order_effect(predictor: Predictor, films: Sequence[int], orders: Sequence[Order], k: int) -> OrderEffect:
    """Recommend k films for the given order and for each of O ≥ 1 other orders."""
    given_list, *other_lists = recommend_many(predictor, [Request(tuple(order), k) for order in (films, *orders)])
    return OrderEffect(given_list, other_lists)


def order_table(effects: dict[str, OrderEffect], names: Sequence[str]) -> pd.DataFrame:
    """Return a row per recommender and other order: films kept, length of the list, and rank-biased overlap.

    Args:
        effects: Title of a recommender → its order effect.
        names: Names of the O other orders.
    """
    rows = [
        {"recommender": title, "order": name, "kept": n_kept, "of": len(effect.given_list), "overlap": overlap}
        for title, effect in effects.items()
        for name, n_kept, overlap in zip(names, effect.kept_counts, effect.overlaps, strict=True)
    ]
    return pd.DataFrame(rows)


class SampleListOrder(NamedTuple):
    """The films of two sample lists, one list after the other."""

    last_name: str  # name of the sample list whose films come last
    films: Order


def sample_list_orders(lists: Sequence[SampleList]) -> tuple[SampleListOrder, SampleListOrder] | None:
    """Return both orders of the first two sample lists with several films. None without two such lists.

    The second list lacks the films that are also in the first.
    """
    usable = [sample for sample in lists if len(sample.items) > 1]
    if len(usable) < 2:
        return None
    left, right = usable[:2]
    left_items = left.items[:FILMS_PER_SAMPLE_LIST]
    right_items = tuple(item for item in right.items if item not in left_items)[:FILMS_PER_SAMPLE_LIST]
    return SampleListOrder(left.name, right_items + left_items), SampleListOrder(right.name, left_items + right_items)


class Change(Enum):
    """How a film moved into, within or out of the first k ranks."""

    ENTERED = "entered"
    ROSE = "rose"
    STAYED = "stayed"
    FELL = "fell"
    LEFT = "left"


@dataclass(frozen=True)
class RankChange:
    """The ranks of a film before and after a change of the history. At least one of them is k or less."""

    item: int
    before: RankPosition
    after: RankPosition
    change: Change


def remove_film(history: Sequence[int], position: int) -> tuple[int, ...]:
    """Return the history without the film at a position, from 0. Raises IndexError for an invalid position."""
    _check_positions(history, position)
    return (*history[:position], *history[position + 1 :])


def move_film(history: Sequence[int], position: int, new_position: int) -> tuple[int, ...]:
    """Return the history with a film moved to a new position, both from 0. Raises IndexError like `remove_film`."""
    _check_positions(history, position, new_position)
    films = list(remove_film(history, position))
    films.insert(new_position, history[position])
    return tuple(films)


def _check_positions(history: Sequence[int], *positions: int) -> None:
    """Raise IndexError if the history does not have a position."""
    for position in positions:
        if not 0 <= position < len(history):
            raise IndexError(f"a history of {len(history)} films has no position {position}; they count from 0")


def rank_changes(predictor: Predictor, before: Request, after: Request) -> list[RankChange]:
    """Return the rank changes of all films of two lists. The films of the list for `after` come first.

    A list is the first `after.k` films of a ranking, so diversity has no effect. A film that was removed from the
    history can be recommended.
    """
    k = after.k
    ranking_before, ranking_after = rankings(predictor, [before, after])
    items = list(dict.fromkeys([*ranking_after.top(k).tolist(), *ranking_before.top(k).tolist()]))
    film_ranks = zip(items, rank_positions(ranking_before, items), rank_positions(ranking_after, items), strict=True)
    return [RankChange(item, old, new, _change(old.rank, new.rank, k)) for item, old, new in film_ranks]


def _change(before: int | None, after: int | None, k: int) -> Change:
    """Return the change between two ranks. At least one of them is k or less. None: excluded."""
    if before is None or before > k:
        return Change.ENTERED
    if after is None or after > k:
        return Change.LEFT
    if before == after:
        return Change.STAYED
    return Change.ROSE if after < before else Change.FELL


def _items(picks: Sequence[Recommendation]) -> list[int]:
    """Return the items of a list."""
    return [pick.item for pick in picks]


def count_lists_per_item(lists: Mapping[str, Sequence[int]]) -> Counter[int]:
    """Return the number of lists that each item is in."""
    return Counter(item for items in lists.values() for item in set(items))


def shared_counts(lists: Mapping[str, Sequence[int]]) -> pd.DataFrame:
    """Return the number of common films of each pair of lists. The diagonal has the number of films of each list."""
    sets = {name: set(items) for name, items in lists.items()}
    return pd.DataFrame({left: {right: len(sets[left] & sets[right]) for right in sets} for left in sets})


def closest_lists(lists: Mapping[str, Sequence[int]]) -> tuple[str, str, int] | None:
    """Return the names of the two lists with the most common films, and their number. None for fewer than two lists."""
    pairs = [(left, right, len(set(lists[left]) & set(lists[right]))) for left, right in combinations(lists, 2)]
    return max(pairs, key=lambda pair: pair[2], default=None)


def unique_items(lists: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """Return for each list the films that are in no other list, best first."""
    counts = count_lists_per_item(lists)
    return {name: [item for item in items if counts[item] == 1] for name, items in lists.items()}


def overlap_table(lists: Mapping[str, Sequence[Recommendation]]) -> pd.DataFrame:
    """Return a row per list and film: rank, film, score, probability, and the number of lists that the film is in."""
    counts = count_lists_per_item({name: _items(picks) for name, picks in lists.items()})
    rows = [
        {"recommender": name, **as_record(pick), "lists": counts[pick.item]}
        for name, picks in lists.items()
        for pick in picks
    ]
    return pd.DataFrame(rows)


def held_out_ranks(predictor: Predictor, films: Sequence[int], positions: Sequence[int]) -> list[RankPosition]:
    """Rank the film at each of F positions (from 0) from the films before it, as the evaluation does.

    Later films of the history are neither read nor excluded.
    """
    targets = check_items(predictor.dataset, [films[position] for position in positions]).tolist()
    requests = [Request(tuple(films[:position])) for position in positions]
    target_rankings = zip(rankings(predictor, requests), targets, strict=True)
    return [rank_positions(ranking, [item])[0] for ranking, item in target_rankings]


def last_item_positions(films: Sequence[int], n_items: int, n: int = N_LAST_ITEMS) -> list[int]:
    """Return the positions of the last n items of a history, the last position first.

    Infrequent films, with numbers of `n_items` or more, are skipped. The first film is skipped, because there is no
    film before it.
    """
    return [position for position in range(len(films) - 1, 0, -1) if films[position] < n_items][:n]


@dataclass(frozen=True)
class HitStatistics:
    """Metrics of a recommender for F held-out films, with 95% confidence intervals."""

    hits: int  # held-out films with a rank up to TOP_K; HR@10 is hits / F
    hit_rate_low: float  # lower end of the interval of HR@10 (Wilson score interval)
    hit_rate_high: float  # upper end of this interval
    ndcg: float  # NDCG@10
    median: float  # median rank; infinite if half of the films or more are excluded
    median_low: float  # lower end of the interval of the median, by order statistics; NaN for fewer than six films
    median_high: float  # upper end of this interval


def hit_statistics(film_ranks: Sequence[RankPosition]) -> HitStatistics:
    """Return the metrics of F ≥ 1 held-out films."""
    from scipy.stats import binom, binomtest  # imported late: takes half a second

    ranks = np.sort(_ranks(film_ranks))
    n, hits = len(ranks), int((ranks <= TOP_K).sum())
    interval = binomtest(hits, n).proportion_ci(method="wilson")
    ndcg = float(np.mean(metrics.rank_values(ranks, f"ndcg@{TOP_K}")))
    # the interval of the median is from the bound-th smallest to the bound-th largest rank; 0: no interval
    bound = int(binom.ppf(0.025, n, 0.5))
    low, high = (ranks[bound - 1], ranks[n - bound]) if bound else (np.nan, np.nan)
    return HitStatistics(hits, interval.low, interval.high, ndcg, float(np.median(ranks)), float(low), float(high))


def hit_table(ranks_by_recommender: Mapping[str, Sequence[RankPosition]]) -> pd.DataFrame:
    """Return a row per recommender, best first, with the fields of `HitStatistics`."""
    rows = [{"recommender": name, **vars(hit_statistics(ranks))} for name, ranks in ranks_by_recommender.items()]
    return pd.DataFrame(rows).sort_values(["hits", "ndcg", "median"], ascending=[False, False, True], ignore_index=True)


def mean_reciprocal_rank(film_ranks: Sequence[RankPosition]) -> float:
    """Return the MRR of F ≥ 1 held-out films. An excluded film counts as 0."""
    return metrics.mrr(_ranks(film_ranks))


def _ranks(film_ranks: Sequence[RankPosition]) -> np.ndarray:
    """Return the ranks of F films, (F,) float64, infinite for an excluded film."""
    return np.array([np.inf if film_rank.rank is None else film_rank.rank for film_rank in film_ranks], np.float64)


def is_hit(film_rank: RankPosition) -> bool:
    """Return whether a film is among the first TOP_K."""
    return film_rank.rank is not None and film_rank.rank <= TOP_K


def rank_table(ranks_by_recommender: Mapping[str, Sequence[RankPosition]], titles: Sequence[str]) -> pd.DataFrame:
    """Return a row per recommender and held-out film: rank, number of ranked films, probability.

    `titles` are the titles of the held-out films, in the order of the ranks of each recommender.
    """
    rows = [
        {
            "film": title,
            "recommender": name,
            "rank": film_rank.rank,
            "of": film_rank.n_ranked,
            "probability": film_rank.probability,
        }
        for name, film_ranks in ranks_by_recommender.items()
        for title, film_rank in zip(titles, film_ranks, strict=True)
    ]
    return pd.DataFrame(rows).astype({"rank": "Int64"})
