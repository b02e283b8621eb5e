"""What the order of a history changes: the same films in other orders, and how far the recommendations agree.

Shapes: O other orders, lists of k films, best first.

How far the lists of several recommenders agree. Lists hold items, best first; there are few lists.

A person's own films, hidden one at a time: which recommender would have found them.

Each film is predicted from the films watched before it, as in evaluation. Those watched later are neither known nor
hidden from the list, because at that time nobody knew of them. Shapes: F hidden films.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import pandas as pd

from recsys.ranking import metrics
from recsys.serving.export import as_record
from recsys.serving.history import Example
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import RankPosition, Recommendation, Request, recommend_many, standings

RBO_PERSISTENCE = 0.9  # the p of rank-biased overlap: how likely a reader is to go on to the next film
N_ORDERS = 10  # random orders
MOOD_FILMS = 4  # films of each mood in `moods`

Order = tuple[int, ...]


def reorderings(films: Sequence[int], n: int = N_ORDERS, seed: int = 0) -> list[Order]:
    """The films newest first, then up to n random orders: never the order as given, and none twice.

    Few films have few orders, so fewer than n + 1 may come back.
    """
    rng = np.random.default_rng(seed)
    shuffled = [
        tuple(rng.permutation(np.asarray(films, np.int64)).tolist()) for _ in range(3 * n)
    ]  # some are drawn twice
    orders = dict.fromkeys([tuple(reversed(films)), *shuffled])
    orders.pop(tuple(films), None)
    return list(orders)[: n + 1]


def rank_biased_overlap(one: Sequence[Hashable], other: Sequence[Hashable], p: float = RBO_PERSISTENCE) -> float:
    """How much two lists agree: from 0, no film in common, to 1, the same film at every rank; the top counts most.

    RBO_EXT of Webber, Moffat and Zobel (ACM TOIS 28:4, 2010): what is seen down to depth k is assumed to
    go on for ever. Of lists that differ in length, the shorter sets k. Two empty lists agree fully.
    """
    k = min(len(one), len(other))
    if k == 0:
        return float(len(one) == len(other))
    agreement = [len({*one[:d]} & {*other[:d]}) / d for d in range(1, k + 1)]  # X_d / d
    weights = (1 - p) / p * p ** np.arange(1, k + 1)  # they and p^k sum to 1
    weights[-1] += p**k
    return float(np.average(agreement, weights=weights))


@dataclass(frozen=True)
class OrderEffect:
    """One recommender's lists for a history and for O other orders of the same films."""

    first: list[Recommendation]  # for the order as given
    others: list[list[Recommendation]]  # O lists

    @cached_property
    def overlaps(self) -> list[float]:
        """Rank-biased overlap of each other list with the first one: O numbers from 0 to 1."""
        return [rank_biased_overlap(_items(self.first), _items(other)) for other in self.others]

    @cached_property
    def kept(self) -> list[int]:
        """How many films of the first list each other one still shows: O numbers."""
        return [len({*_items(self.first)} & {*_items(other)}) for other in self.others]

    @property
    def overlap(self) -> float:
        """The mean overlap over the orders."""
        return float(np.mean(self.overlaps))

    @property
    def mean_kept(self) -> float:
        """How many films of the first list another order keeps on average."""
        return float(np.mean(self.kept))

    @property
    def ignores_order(self) -> bool:
        """Whether every order got the same list."""
        return all(_items(other) == _items(self.first) for other in self.others)


def order_effect(predictor: Predictor, films: Sequence[int], orders: Sequence[Order], k: int) -> OrderEffect:
    """The k best films after the films as given and after each of O ≥ 1 other orders of them."""
    first, *others = recommend_many(predictor, [Request(tuple(order), k) for order in (films, *orders)])
    return OrderEffect(first, others)


def order_table(effects: dict[str, OrderEffect], names: Sequence[str]) -> pd.DataFrame:
    """Recommender by recommender and order by order: films kept, and overlap. names: of the O orders."""
    rows = [
        {"recommender": title, "order": name, "kept": kept, "of": len(effect.first), "overlap": overlap}
        for title, effect in effects.items()
        for name, kept, overlap in zip(names, effect.kept, effect.overlaps, strict=True)
    ]
    return pd.DataFrame(rows)


def moods(examples: Sequence[Example]) -> tuple[tuple[str, Order], tuple[str, Order]] | None:
    """Two histories of the same films, each with the name of the mood it ends in; None where there are not two moods.

    They are made of two ready-made sequences: one history ends in films of the first, the other in films of the second.
    """
    usable = [example for example in examples if len(example.items) > 1]
    if len(usable) < 2:
        return None
    one, other = usable[:2]
    first = one.items[:MOOD_FILMS]
    second = tuple(item for item in other.items if item not in first)[:MOOD_FILMS]
    return (one.name, second + first), (other.name, first + second)


def _items(picks: list[Recommendation]) -> list[int]:
    return [pick.item for pick in picks]


def count_lists(lists: Mapping[str, Sequence[int]]) -> Counter[int]:
    """Item → in how many of the lists it is."""
    return Counter(item for items in lists.values() for item in set(items))


def shared_counts(lists: Mapping[str, Sequence[int]]) -> pd.DataFrame:
    """A square table, list by list: how many films two lists have in common; the diagonal holds their lengths."""
    sets = {name: set(items) for name, items in lists.items()}
    return pd.DataFrame({one: {other: len(sets[one] & sets[other]) for other in sets} for one in sets})


def closest_lists(lists: Mapping[str, Sequence[int]]) -> tuple[str, str, int] | None:
    """The two lists with the most films in common and that number; the first pair on a tie, None below two lists."""
    pairs = [(one, other, len(set(lists[one]) & set(lists[other]))) for one, other in combinations(lists, 2)]
    return max(pairs, key=lambda pair: pair[2], default=None)


def unique_items(lists: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """List by list, the films that are in no other, best first."""
    counts = count_lists(lists)
    return {name: [item for item in items if counts[item] == 1] for name, items in lists.items()}


def overlap_table(lists: Mapping[str, Sequence[Recommendation]]) -> pd.DataFrame:
    """Every list film by film, for a file: list, rank, film, probability, and in how many of the lists the film is."""
    counts = count_lists({name: [pick.item for pick in picks] for name, picks in lists.items()})
    rows = [
        {"recommender": name, **as_record(pick), "lists": counts[pick.item]}
        for name, picks in lists.items()
        for pick in picks
    ]
    return pd.DataFrame(rows)


MAX_HIDDEN = 20  # films that are hidden one by one, at most: as many rows as a person reads
MAX_LAST = 10  # films that stand for a whole history, at most
TOP_K = 10  # a film is found when its rank is at most this


def hidden_film_ranks(predictor: Predictor, films: Sequence[int], positions: Sequence[int]) -> list[RankPosition]:
    """Where the film at each of F positions (from 0) stands after the films before it."""
    histories = [films[:position] for position in positions]
    return standings(predictor, histories, [films[position] for position in positions])


def last_positions(films: Sequence[int], n_items: int, most: int = MAX_LAST) -> list[int]:
    """The positions of the last films that recommenders can know, with at least one before them, the newest first."""
    return [position for position in range(len(films) - 1, 0, -1) if films[position] < n_items][:most]


@dataclass(frozen=True)
class HitStatistics:
    """How well one recommender guessed F films; intervals of 95 %, as wide as so few films make them."""

    found: int  # films among the first FOUND: HR@10 is found / F
    low: float  # of HR@10, by Wilson's score interval
    high: float
    ndcg: float  # NDCG@10
    median: float  # rank; infinite where half the films are not in the list
    best: float  # the interval of the median, by order statistics; NaN for fewer than six films
    worst: float


def hit_statistics(row: Sequence[RankPosition]) -> HitStatistics:
    """What F ≥ 1 standings come to, with how sure that is."""
    from scipy.stats import binom, binomtest  # takes half a second, and a page begins without

    ranks = np.sort([standing.rank or np.inf for standing in row])
    n, found = len(ranks), int((ranks <= TOP_K).sum())
    interval = binomtest(found, n).proportion_ci(method="wilson")
    ndcg = float(np.mean(metrics.values(ranks, f"ndcg@{TOP_K}")))
    outside = int(binom.ppf(0.025, n, 0.5))  # order statistics left out at each end
    best, worst = (ranks[outside - 1], ranks[n - outside]) if outside else (np.nan, np.nan)
    return HitStatistics(found, interval.low, interval.high, ndcg, float(np.median(ranks)), float(best), float(worst))


def hit_table(rows: Mapping[str, Sequence[RankPosition]]) -> pd.DataFrame:
    """A row for each recommender, the best first: its name and the fields of `Guess`."""
    table = pd.DataFrame([{"recommender": name, **vars(hit_statistics(row))} for name, row in rows.items()])
    return table.sort_values(["found", "ndcg", "median"], ascending=[False, False, True], ignore_index=True)


@dataclass(frozen=True)
class HitScore:
    """How well one recommender found a person's films."""

    found: int  # of the F films, those among the first FOUND
    mrr: float  # mean reciprocal rank; a film that is not in the list counts 0


def hit_score(row: Sequence[RankPosition]) -> HitScore:
    """What F ≥ 1 standings come to."""
    ranks = np.array([standing.rank or np.inf for standing in row])
    return HitScore(int((ranks <= TOP_K).sum()), metrics.mrr(ranks))


def is_hit(standing: RankPosition) -> bool:
    """Whether the film is among the first FOUND."""
    return standing.rank is not None and standing.rank <= TOP_K


def hidden_table(rows: Mapping[str, Sequence[RankPosition]], titles: Sequence[str]) -> pd.DataFrame:
    """Film by film and recommender by recommender, for a file: rank, films in the list, probability."""
    cells = [
        {"film": title, "recommender": name, "rank": cell.rank, "of": cell.of, "probability": cell.probability}
        for name, row in rows.items()
        for title, cell in zip(titles, row, strict=True)
    ]
    return pd.DataFrame(cells).astype({"rank": "Int64"})
