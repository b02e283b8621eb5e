"""How far the lists of several recommenders agree. Lists hold film ids, best first; the number of lists is small."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import pandas as pd


def appearances(lists: Mapping[str, Sequence[int]]) -> Counter[int]:
    """Film id → in how many of the lists it stands."""
    return Counter(film for picks in lists.values() for film in set(picks))


def shared(lists: Mapping[str, Sequence[int]]) -> pd.DataFrame:
    """A square table, list by list: how many films two lists have in common; the diagonal holds their lengths."""
    sets = {name: set(picks) for name, picks in lists.items()}
    return pd.DataFrame({one: {other: len(sets[one] & sets[other]) for other in sets} for one in sets})


def closest(lists: Mapping[str, Sequence[int]]) -> tuple[str, str, int] | None:
    """The two lists with the most films in common and that number; the first pair on a tie, None below two lists."""
    pairs = [(one, other, len(set(lists[one]) & set(lists[other]))) for one, other in combinations(lists, 2)]
    return max(pairs, key=lambda pair: pair[2], default=None)
