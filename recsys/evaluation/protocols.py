"""What exactly is measured: the rules of each protocol, in words that go into every result file.

Shapes: B queries, I items, N sampled films.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


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

    def candidates(self, counts: np.ndarray, histories: Sequence[np.ndarray], users: np.ndarray) -> np.ndarray:
        """(B, N) films drawn for each user, by training counts (I,), none from the user's whole history.

        A user's list depends on nothing but counts, history, user number and seed. Raises ProtocolError.
        """
        lists = [
            draw(counts, history, self.sampled, np.random.default_rng([self.seed, user]))
            for history, user in zip(histories, users, strict=True)
        ]
        return np.array(lists).reshape(len(lists), self.sampled)


def draw(counts: np.ndarray, taken: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n,) distinct items, drawn one after another in proportion to counts (I,), none of them in `taken`.

    The n smallest of Exponential(1) / count are distributed as such a drawing (Efraimidis and Spirakis, 2006).
    Films that nobody watched are never drawn; raises ProtocolError where fewer than n are left.
    """
    weights = counts.astype(np.float64)
    weights[taken] = 0
    if (left := np.count_nonzero(weights)) < n:
        raise ProtocolError(f"a user leaves only {left} films to draw {n} from; use --protocol full on this data")
    with np.errstate(divide="ignore", invalid="ignore"):
        keys = rng.standard_exponential(len(weights)) / weights
    return np.argpartition(keys, n - 1)[:n]


FULL = Protocol(
    "full",
    COMMON_RULES
    | {
        "ranked": "the whole catalogue",
        "hidden": "films the user has seen: the training films, and for the test film the validation film too",
    },
)
POPULARITY_100 = Protocol(
    "popularity-100",
    COMMON_RULES
    | {
        "ranked": "the target and 100 films drawn without replacement in proportion to their training counts",
        "hidden": "no film of the user's whole history is drawn, later ones included",
        "sampled": 100,
        "seed": 0,
        "lists": "one for each user, the same for every model",
    },
    sampled=100,
)
PROTOCOLS = {protocol.name: protocol for protocol in (FULL, POPULARITY_100)}


def get(name: str) -> Protocol:
    """The protocol of that name; raises ProtocolError that lists what there is."""
    if name not in PROTOCOLS:
        raise ProtocolError(f"no protocol is called {name}; there are: {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]
