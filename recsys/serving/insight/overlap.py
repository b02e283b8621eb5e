"""How far the lists of several recommenders agree. Lists hold items, best first; there are few lists."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import pandas as pd

from recsys.serving.export import as_record
from recsys.serving.recommend import Recommendation


def appearances(lists: Mapping[str, Sequence[int]]) -> Counter[int]:
    """Item → in how many of the lists it is."""
    return Counter(item for items in lists.values() for item in set(items))


def shared(lists: Mapping[str, Sequence[int]]) -> pd.DataFrame:
    """A square table, list by list: how many films two lists have in common; the diagonal holds their lengths."""
    sets = {name: set(items) for name, items in lists.items()}
    return pd.DataFrame({one: {other: len(sets[one] & sets[other]) for other in sets} for one in sets})


def closest(lists: Mapping[str, Sequence[int]]) -> tuple[str, str, int] | None:
    """The two lists with the most films in common and that number; the first pair on a tie, None below two lists."""
    pairs = [(one, other, len(set(lists[one]) & set(lists[other]))) for one, other in combinations(lists, 2)]
    return max(pairs, key=lambda pair: pair[2], default=None)


def only(lists: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """List by list, the films that are in no other, best first."""
    counts = appearances(lists)
    return {name: [item for item in items if counts[item] == 1] for name, items in lists.items()}


def table(lists: Mapping[str, Sequence[Recommendation]]) -> pd.DataFrame:
    """Every list film by film, for a file: list, rank, film, probability, and in how many of the lists the film is."""
    counts = appearances({name: [pick.item for pick in picks] for name, picks in lists.items()})
    rows = [
        {"recommender": name, **as_record(pick), "lists": counts[pick.item]}
        for name, picks in lists.items()
        for pick in picks
    ]
    return pd.DataFrame(rows)
