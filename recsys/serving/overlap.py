"""How far the lists of several recommenders agree. Lists hold film ids, best first; the number of lists is small."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import combinations

import pandas as pd

from recsys.serving.recommend import Recommendation


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


def only(lists: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """List by list, the films that stand in no other, best first."""
    counts = appearances(lists)
    return {name: [film for film in picks if counts[film] == 1] for name, picks in lists.items()}


def table(lists: Mapping[str, Sequence[Recommendation]]) -> pd.DataFrame:
    """Every list film by film, for a file: list, rank, film, probability, and in how many of the lists it stands."""
    counts = appearances({name: [pick.movie_id for pick in picks] for name, picks in lists.items()})
    rows = [
        {"recommender": name, **asdict(pick), "lists": counts[pick.movie_id]}
        for name, picks in lists.items()
        for pick in picks
    ]
    return pd.DataFrame(rows)
