"""What exactly is measured: the rules of each protocol, in words that go into every result file.

Shapes: B queries, I items, N sampled films.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recsys.data.schema import Dataset
from recsys.data.split import cuts

Draw = Callable[[np.ndarray, np.ndarray, int, np.random.Generator], np.ndarray]


class ProtocolError(ValueError):
    """A protocol that cannot be carried out on this data."""


COMMON_RULES = {
    "split": "leave one out: a user's last film is test, the last but one validation, the rest trains",
    "order": "ratings by user, then timestamp, stable: ties keep the order of the ratings file",
    "filter": "MovieLens: films with fewer than 5 ratings are dropped; other data is taken whole",
    "users": "those with at least 3 films; the others only train",
    "score_ties": "count against the target",
}


@dataclass(frozen=True)
class Protocol:
    """Which films a target is ranked against."""

    name: str
    rules: dict[str, Any]  # plain JSON
    sampled: int = 0  # films drawn beside each target; 0: the whole catalogue is ranked
    seed: int = 0  # of the drawing: one list per user, the same for every model
    draw: Draw | None = None  # counts (I,), taken films, how many, a generator → films (n,)

    def rules_on(self, dataset: Dataset) -> dict[str, Any]:
        """The rules, with what they come to on a data set: the dates between which `time` cuts."""
        return {**self.rules, "dates": cuts(dataset).dates} if self.name == "time" else self.rules

    def candidates(self, counts: np.ndarray, histories: Sequence[np.ndarray], users: np.ndarray) -> np.ndarray:
        """(B, N) films drawn for each user, none from the user's whole history; counts (I,).

        Counts say how often each film was watched in training. A user's list depends on nothing but counts, history,
        user number and seed. Raises ProtocolError.
        """
        assert self.draw is not None, "only sampled protocols draw"
        lists = [
            self.draw(counts, history, self.sampled, np.random.default_rng([self.seed, user]))
            for history, user in zip(histories, users, strict=True)
        ]
        return np.array(lists).reshape(len(lists), self.sampled)


def by_popularity(counts: np.ndarray, taken: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n,) distinct items, drawn one after another in proportion to counts (I,), none of them in `taken`.

    The n smallest of Exponential(1) / count are distributed as such a drawing (Efraimidis and Spirakis, 2006).
    Films that nobody watched are never drawn; raises ProtocolError where fewer than n are left.
    """
    weights = counts.astype(np.float64)
    weights[taken] = 0
    _check(int(np.count_nonzero(weights)), n)
    with np.errstate(divide="ignore", invalid="ignore"):
        keys = rng.standard_exponential(len(weights)) / weights
    return np.argpartition(keys, n - 1)[:n]


def uniformly(counts: np.ndarray, taken: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n,) distinct items, each as likely as any other of the catalogue (I,), none of them in `taken`.

    The time it takes grows with n and `taken`, and not with the catalogue where that has more than 10,000 films.
    Raises ProtocolError where fewer than n are left.
    """
    taken = np.unique(taken)
    _check(left := len(counts) - len(taken), n)
    places = rng.choice(left, n, replace=False, shuffle=False)  # among the films left, in item order
    return places + np.searchsorted(taken - np.arange(len(taken)), places, side="right")  # past those taken


def _check(left: int, n: int) -> None:
    if left < n:
        raise ProtocolError(f"a user leaves only {left} films to draw {n} from; use --protocol full on this data")


FULL = Protocol(
    "full",
    COMMON_RULES
    | {
        "ranked": "the whole catalogue",
        "hidden": "films the user has seen: the training films, and for the test film the validation film too",
    },
)
SAMPLED_RULES = {
    "hidden": "no film of the user's whole history is drawn, later ones included",
    "sampled": 100,
    "seed": 0,
    "lists": "one for each user, the same for every model",
}
POPULARITY_100 = Protocol(
    "popularity-100",
    COMMON_RULES
    | {"ranked": "the target and 100 films drawn without replacement in proportion to their training counts"}
    | SAMPLED_RULES,
    sampled=100,
    draw=by_popularity,
)
UNIFORM_100 = Protocol(
    "uniform-100",
    COMMON_RULES
    | {"ranked": "the target and 100 films drawn without replacement, each of the catalogue as likely as any other"}
    | SAMPLED_RULES,
    sampled=100,
    draw=uniformly,
)
TIME = Protocol(
    "time",
    COMMON_RULES
    | {
        "split": "two midnights (UTC), the same for everybody: what lies before the first trains; a user's first film "
        "between the two is validation, the first after the second is test",
        "cuts": "the last midnight after which at least 10 % of the events lie, and the last before that after which "
        "at least 10 % of the rest lie",
        "filter": "MovieLens: films with fewer than 5 ratings, later ones counted, are dropped; other data is taken "
        "whole",
        "users": "those who watched something before the cut and something after it",
        "history": "everything that the user watched before the cut; films of the same second keep their order",
        "ranked": "the whole catalogue, films that nobody had watched before the cut included",
        "hidden": "films that the user has watched before the cut",
    },
)
PROTOCOLS = {protocol.name: protocol for protocol in (FULL, POPULARITY_100, UNIFORM_100, TIME)}


def get(name: str) -> Protocol:
    """The protocol of that name; raises ProtocolError that lists what there is."""
    if name not in PROTOCOLS:
        raise ProtocolError(f"no protocol is called {name}; there are: {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]
