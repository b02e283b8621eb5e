"""What the order of a history changes: the same films in other orders, and how far the recommendations agree.

Shapes: O other orders, lists of k films, best first.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from recsys.serving.history import Example
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Recommendation, Request, recommend_many

PATIENCE = 0.9  # the p of rank-biased overlap: how likely a reader is to go on to the next film
ORDERS = 10  # random orders
PART = 4  # films of each mood in `moods`

Order = tuple[int, ...]


def reorderings(films: Sequence[int], n: int = ORDERS, seed: int = 0) -> list[Order]:
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


def rank_biased_overlap(one: Sequence[Hashable], other: Sequence[Hashable], p: float = PATIENCE) -> float:
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


def table(effects: dict[str, OrderEffect], names: Sequence[str]) -> pd.DataFrame:
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
    first = one.items[:PART]
    second = tuple(item for item in other.items if item not in first)[:PART]
    return (one.name, second + first), (other.name, first + second)


def _items(picks: list[Recommendation]) -> list[int]:
    return [pick.item for pick in picks]
