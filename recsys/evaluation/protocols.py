"""What exactly is measured: the split, which items a target competes with, and the rules in words for result files.

A protocol is one object. Shapes: B queries, I items, N sampled items.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recsys.data.dataset import Dataset, Split, Ties
from recsys.data.split import BY_TIME, LEAVE_ONE_OUT, UNTIED, Splitting
from recsys.errors import RecsysError

Draw = Callable[[np.ndarray, np.ndarray, int, np.random.Generator], np.ndarray]


class ProtocolError(RecsysError):
    """A protocol that does not exist, or that cannot be carried out on this data."""


@dataclass(frozen=True)
class Protocol:
    """How a data set is split, and which items a target is ranked against."""

    name: str  # on the command line and in folder names
    title: str  # for people
    meaning: str  # for people, a few sentences
    rules: dict[str, Any]  # plain JSON, part of every result
    splitting: Splitting = LEAVE_ONE_OUT  # models are kept under its name: protocols that share it share their models
    sampled: int = 0  # items drawn beside each target; 0: the whole catalogue is ranked
    seed: int = 0  # of the drawing: one list per user, the same for every model
    draw: Draw | None = None  # counts (I,), items to leave out, how many, a generator → items (n,)

    def split(self, dataset: Dataset, seed: int = 0) -> Split:
        """The training, validation and test part of a training's seed, as `splitting` gives it. Raises DataError."""
        return self.splitting(dataset, seed)

    def rules_on(self, dataset: Dataset) -> dict[str, Any]:
        """The rules, with what they come to on a data set: its order within one second, the dates of a split by time.

        Raises DataError.
        """
        about = self.split(dataset).description
        order = {} if self.splitting.unties else ORDERS[dataset.ties]
        return self.rules | order | {name: value for name, value in about.items() if name != "name"}

    def candidates(self, counts: np.ndarray, histories: Sequence[np.ndarray], users: np.ndarray) -> np.ndarray:
        """(B, N) items drawn for each user, none from the user's whole history.

        counts (I,): how often each item was watched in training. A user's list depends on nothing but counts, history,
        user number and seed. Raises ProtocolError.
        """
        assert self.draw is not None, "only sampled protocols draw"
        lists = [
            self.draw(counts, history, self.sampled, np.random.default_rng([self.seed, user]))
            for history, user in zip(histories, users, strict=True)
        ]
        return np.array(lists).reshape(len(lists), self.sampled)


def draw_by_popularity(counts: np.ndarray, left_out: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n,) distinct items, drawn one after another in proportion to counts (I,), none of them in `left_out`.

    The n smallest of Exponential(1) / count are distributed like that (Efraimidis and Spirakis, 2006). Items that
    nobody watched are never drawn. Raises ProtocolError where fewer than n are left.
    """
    weights = counts.astype(np.float64)
    weights[left_out] = 0
    _check(int(np.count_nonzero(weights)), n)
    with np.errstate(divide="ignore", invalid="ignore"):
        keys = rng.standard_exponential(len(weights)) / weights
    return np.argpartition(keys, n - 1)[:n]


def draw_uniformly(counts: np.ndarray, left_out: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n,) distinct items, each as likely as any other of the catalogue (I,), none of them in `left_out`.

    The time it takes grows with n and `left_out`, but not with the catalogue once that has more than 10,000 items.
    Raises ProtocolError where fewer than n are left.
    """
    left_out = np.unique(left_out)
    _check(left := len(counts) - len(left_out), n)
    drawn = rng.choice(left, n, replace=False, shuffle=False)  # numbers among the items that are left, in item order
    skipped = np.searchsorted(left_out - np.arange(len(left_out)), drawn, side="right")  # left-out items before each
    return drawn + skipped


def _check(left: int, n: int) -> None:
    if left < n:
        raise ProtocolError(f"a user leaves only {left} films to draw {n} from; use --protocol full on this data")


ORDERS: dict[Ties, dict[str, str]] = {
    "file": {"order": "ratings by user, then timestamp, stable: ties keep the order of the ratings file"},
    "drawn": {
        "order": "ratings by user, then timestamp; films of one second in an order drawn from seed 0, person and film"
    },
    "rows": {"order": "events by user, in the order of the rows: the file has no times"},
}
COMMON_RULES = ORDERS["file"] | {
    "score_ties": "count against the target",
}
LEAVE_ONE_OUT_RULES = COMMON_RULES | {
    "split": "leave one out: a user's last film is test, the last but one validation, the rest trains",
    "filter": "MovieLens but 20M: films with fewer than 5 ratings are dropped; other data is taken whole",
    "users": "those with at least 3 films; the others only train",
}
SAMPLED_RULES = LEAVE_ONE_OUT_RULES | {
    "hidden": "no film of the user's whole history is drawn, later ones included",
    "sampled": 100,
    "seed": 0,
    "lists": "one for each user, the same for every model",
}
FULL = Protocol(
    "full",
    title="All films",
    meaning="The last film that each person watched is hidden and has to be found among all films of the set. Films "
    "already watched do not compete. A tie counts against the recommender.",
    rules=LEAVE_ONE_OUT_RULES
    | {
        "ranked": "the whole catalogue",
        "hidden": "films the user has seen: the training films, and for the test film the validation film too",
    },
)
UNTIED_FULL = Protocol(
    "untied",
    title="All films, drawn order",
    meaning="As with all films, but films rated in the same second stand in an order drawn at random, in training and "
    "in the test. The file has them in an order that has nothing to do with taste, and that a recommender can learn. "
    "Each training (seed) learns from a drawing of its own, and is measured on it.",
    rules=FULL.rules
    | {
        "order": "ratings by user, then timestamp; films of one second in an order drawn from the training's seed, "
        "person and film, in training, validation and test"
    },
    splitting=UNTIED,
)
POPULARITY_100 = Protocol(
    "popularity-100",
    title="100 popular films",
    meaning="The last film that each person watched is hidden and has to be found among 100 others, which are drawn by "
    "popularity and are the same for every recommender. This task, that of the BERT4Rec paper, is easier: its figures "
    "cannot be compared with those over all films. It rewards another order, too: whoever divides each probability by "
    "the film's popularity does best here, and worse among all films.",
    rules=SAMPLED_RULES
    | {"ranked": "the target and 100 films drawn without replacement in proportion to their training counts"},
    sampled=100,
    draw=draw_by_popularity,
)
UNIFORM_100 = Protocol(
    "uniform-100",
    title="100 random films",
    meaning="The last film that each person watched is hidden and has to be found among 100 others, each film being "
    "equally likely to be drawn. This is easier still, because most films are unpopular ones.",
    rules=SAMPLED_RULES
    | {"ranked": "the target and 100 films drawn without replacement, each of the catalogue as likely as any other"},
    sampled=100,
    draw=draw_uniformly,
)
TIME = Protocol(
    "time",
    title="By date",
    meaning="Recommenders learn only from what was watched before a date, and have to find the first film that each "
    "person watched after a later one. Nothing that happened in between or afterwards can be learnt from, but the "
    "settings were tuned on data that includes it.",
    rules=COMMON_RULES
    | {
        "split": "two midnights (UTC), the same for everybody: what lies before the first trains; a user's first film "
        "between the two is validation, the first after the second is test",
        "cuts": "the last midnight after which at least 10 % of the events lie, and the last before that after which "
        "at least 10 % of the rest lie",
        "filter": "MovieLens but 20M: films with fewer than 5 ratings, later ones counted, are dropped; other data is "
        "taken whole",
        "users": "those who watched something before the cut and something after it",
        "history": "everything that the user watched before the cut; films of the same second keep their order",
        "tags": "those given before the first cut; tags without a time are left out",
        "settings": "tuned on leave-one-out validation, so with films that were watched after the cuts",
        "ranked": "the whole catalogue, films that nobody had watched before the cut included",
        "hidden": "films that the user has watched before the cut",
    },
    splitting=BY_TIME,
)
PROTOCOLS = {  # in the order shown
    protocol.name: protocol for protocol in (FULL, UNTIED_FULL, POPULARITY_100, UNIFORM_100, TIME)
}


def get(name: str) -> Protocol:
    """The protocol of that name; raises ProtocolError that lists what there is."""
    if name not in PROTOCOLS:
        raise ProtocolError(f"no protocol is called {name}; there are: {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]


def title(name: str) -> str:
    """A protocol's name for people. Results of a protocol that is no longer there keep the name they were given."""
    return PROTOCOLS[name].title if name in PROTOCOLS else name


def meaning(name: str) -> str:
    """A protocol in words for people; "" for one that is no longer there."""
    return PROTOCOLS[name].meaning if name in PROTOCOLS else ""


def in_order(names: Iterable[str]) -> list[str]:
    """Protocols in the order in which they are shown; those that are no longer there come last, by name."""
    known = list(PROTOCOLS)
    return sorted(names, key=lambda name: (known.index(name) if name in known else len(known), name))


def splitting(name: str) -> Splitting:
    """How a protocol splits a data set; for one that is no longer there, leave-one-out."""
    return PROTOCOLS[name].splitting if name in PROTOCOLS else LEAVE_ONE_OUT


def trains_apart(name: str) -> bool:
    """Whether a protocol measures other models than those trained for leave-one-out."""
    return FULL.name not in sharing_models(name)


def sharing_models(name: str) -> list[str]:
    """The protocols that measure the same trained models as this one: those with the same splitting."""
    if name not in PROTOCOLS:
        return [name]
    return [other.name for other in PROTOCOLS.values() if other.splitting == PROTOCOLS[name].splitting]
