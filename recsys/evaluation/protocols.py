"""Evaluation protocols: the split, the items that compete with a target, and the rules as text for result files.

Shapes: B queries, I items, N sampled items.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recsys.data import datasets
from recsys.data.dataset import Dataset, Queries, Split, Ties
from recsys.data.split import BY_TIME, BY_USER, LEAVE_ONE_OUT, ORDERS_PER_USER, UNTIED, Splitting
from recsys.errors import RecsysError

REPEATS = "repeats"  # key in result files: the rule for targets that the user watched before
# Key in result files: the rule that names the excluded items. In texts, "the hidden film" is the held-out item instead.
EXCLUDED = "hidden"

# function that returns n sampled items; arguments: training counts (I,), excluded items, n, random generator
Sampler = Callable[[np.ndarray, np.ndarray, int, np.random.Generator], np.ndarray]


class ProtocolError(RecsysError):
    """The protocol does not exist, or the data set is too small for it."""


@dataclass(frozen=True)
class Protocol:
    """How a data set is split, and which items a target is ranked against.

    To add a protocol, add an object to PROTOCOLS and its name to `jobs.queue.ProtocolName`, and translate its texts in
    the catalogues of assets/locale.
    """

    name: str  # on the command line and in folder names
    title: str  # on pages
    meaning: str  # on pages, a few sentences: which item is the target, and which items compete with it
    rules: dict[str, Any]  # part of every result file, as plain JSON
    splitting: Splitting = LEAVE_ONE_OUT  # protocols with the same splitting share their models
    retraining_reason: str = ""  # on pages: why models of the protocol "full" cannot be used; "" if they are used
    n_newest: int = 0  # number of newest items of a history that the recommender gets; 0: whole histories
    n_given: int = 0  # number of liked items that the recommender gets instead of a history; 0: it gets histories
    n_candidates: int = 0  # N, sampled items that compete with a target; 0: all items that are not excluded compete
    sampling_seed: int = 0
    sampler: Sampler | None = None  # None if n_candidates is 0

    @property
    def uses_favourites(self) -> bool:
        """Whether the recommender gets some of the items that a user liked, in no order, instead of a history."""
        return self.n_given > 0

    @property
    def has_whole_histories(self) -> bool:
        """Whether the recommender gets the whole history of a user."""
        return not (self.n_newest or self.n_given)

    @property
    def is_standard_task(self) -> bool:
        """Whether the recommender gets whole histories and must find one next item among all items."""
        return not (self.n_newest or self.n_given or self.n_candidates)

    def split(self, dataset: Dataset, seed: int = 0) -> Split:
        """Return the split for a training seed. Raises DataError if this splitting does not fit the data set."""
        return self.splitting(dataset, seed)

    def rules_on(self, dataset: Dataset) -> dict[str, Any]:
        """Return `rules`, the order of ties in a data set and, for a split by date, the dates. Raises as `split`.

        If a target is also in its history, the rule REPEATS is added. Sampled protocols do not need it, because they
        always exclude the history. If films of an uploaded data set were removed, the rule "filter" states this.
        """
        split = self.split(dataset)
        # the description also has the name of the splitting, which is not a rule
        description = {name: value for name, value in split.description.items() if name != "name"}
        pairs = zip(split.test.queries.histories, split.test.targets, strict=True)
        has_repeats = not self.n_candidates and any((history == target).any() for history, target in pairs)
        repeats_rule = {REPEATS: REPEATS_RULE} if has_repeats else {}
        is_filtered = len(dataset.catalog.infrequent) > 0 and datasets.min_ratings(dataset.name) > 1
        filter_rule = {"filter": OWN_FILTER_RULE} if is_filtered and dataset.name not in datasets.PUBLISHED else {}
        return {"order": TIE_RULES[dataset.ties]} | self.rules | filter_rule | repeats_rule | description

    def shorten(self, queries: Queries) -> Queries:
        """Return the queries with only the `n_newest` items and without users, like the list of a visitor.

        If `n_newest` is 0, return `queries` as they are.
        """
        if not self.n_newest:
            return queries
        ratings = None if queries.ratings is None else [values[-self.n_newest :] for values in queries.ratings]
        return Queries([history[-self.n_newest :] for history in queries.histories], ratings=ratings)

    def candidates(self, counts: np.ndarray, histories: Sequence[np.ndarray], users: np.ndarray) -> np.ndarray:
        """Return the items (B, N) that compete with the target of each query. The items of `histories` are excluded.

        The sample of a user depends only on the training counts (I,), history, user number and `sampling_seed`.
        Raises ProtocolError if too few items are left.
        """
        assert self.sampler is not None, "only sampled protocols have candidates"
        candidates = np.empty((len(users), self.n_candidates), np.int64)
        for row, (history, user) in enumerate(zip(histories, users, strict=True)):
            rng = np.random.default_rng([self.sampling_seed, user])
            candidates[row] = self.sampler(counts, history, self.n_candidates, rng)
        return candidates


def sample_by_popularity(counts: np.ndarray, excluded: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Sample n distinct items without replacement, in proportion to counts (I,). Items with count 0 are never sampled.

    The n smallest of Exponential(1) / count have this distribution (Efraimidis and Spirakis, 2006).
    """
    weights = counts.astype(np.float64)
    weights[excluded] = 0
    _check_n_allowed(int(np.count_nonzero(weights)), n)
    with np.errstate(divide="ignore", invalid="ignore"):
        keys = rng.standard_exponential(len(weights)) / weights
    return np.argpartition(keys, n - 1)[:n]


def sample_uniformly(counts: np.ndarray, excluded: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Sample n distinct items (n,) of the catalogue, each with the same probability.

    `Generator.choice` samples positions in the list of allowed items, which itself is never made. If n is small,
    `choice` uses Floyd's algorithm, whose time does not depend on the number of items.
    """
    excluded = np.unique(excluded)
    n_allowed = len(counts) - len(excluded)
    _check_n_allowed(n_allowed, n)
    positions = rng.choice(n_allowed, n, replace=False, shuffle=False)  # (n,) in the list of allowed items
    n_allowed_before = excluded - np.arange(len(excluded))  # number of allowed items before each excluded item
    n_excluded_before = np.searchsorted(n_allowed_before, positions, side="right")  # (n,) before each sampled item
    return positions + n_excluded_before


def _check_n_allowed(n_allowed: int, n: int) -> None:
    """Raise ProtocolError if fewer than n items are allowed in a sample."""
    if n_allowed < n:
        text = "for one person, only {n_left} films are left to sample {n} from; use --protocol full for this data"
        raise ProtocolError(text, n_left=n_allowed, n=n)


# `Dataset.ties` → the rule "order" in result files
TIE_RULES: dict[Ties, str] = {
    "file": "ratings sorted by person, then time; ratings with the same time keep the order of the ratings file",
    "drawn": (
        "ratings sorted by person, then time; films rated in the same second are in a random order that depends on "
        "seed 0, the person and the film"
    ),
    "rows": "events sorted by person, in the order of the rows, because the file has no times",
}
REPEATS_RULE = "if the person has watched the hidden film before, all films compete with it, and none is excluded"
OWN_FILTER_RULE = "films with fewer ratings than the minimum that was set for this data set are removed"
COMMON_RULES = {"score_ties": "films with the same score rank above the hidden film"}
LEAVE_ONE_OUT_RULES = COMMON_RULES | {
    "split": (
        "leave-one-out: the last film of each person is hidden in the test, the film before it is hidden in "
        "validation, and all others are training data"
    ),
    # "MovieLens except 20M": all MovieLens data sets except ML-20M
    "filter": "MovieLens except 20M: films with fewer than 5 ratings are removed; other data sets keep all films",
    "users": "people with at least 3 films; the others are only used for training",
}
SAMPLED_RULES = LEAVE_ONE_OUT_RULES | {
    EXCLUDED: "films in the person's whole history, including films watched after the hidden film, are not sampled",
    "sampled": 100,
    "seed": 0,
    "lists": "one sample per person, the same for every recommender",
}
FULL = Protocol(
    "full",
    title="All films",
    meaning="The last film of each person is hidden, and recommenders must find it among all films in the data set. "
    "Films already watched are excluded. Among films with equal scores, the hidden film comes last.",
    rules=LEAVE_ONE_OUT_RULES
    | {
        "ranked": "all films of the data set",
        EXCLUDED: "films that the person has watched: the training films and, in the test, also the validation film",
    },
)
UNTIED_FULL = Protocol(
    "untied",
    title="All films, random order",
    meaning="As in “All films”, but films rated in the same second are in random order, for training and for the "
    "test. Their order in the file has nothing to do with taste, but recommenders can learn it. Each "
    "training seed has its own random order.",
    rules=FULL.rules
    | {
        "order": "ratings sorted by person, then time; films rated in the same second are in a random order that "
        "depends on the training seed, the person and the film, in training, validation and test"
    },
    splitting=UNTIED,
    retraining_reason="This protocol needs recommenders whose training data had films rated in the same second in "
    "random order. Recommenders trained for other protocols have learned the order of the file.",
)
POPULARITY_100 = Protocol(
    "popularity-100",
    title="100 popular films",
    meaning="The last film of each person is hidden, and recommenders must find it among 100 other films. Popular "
    "films are sampled more often, and the sample is the same for all recommenders. This is the task of the BERT4Rec "
    "paper. It is easier, so its metrics cannot be compared with metrics over all films. It also rewards a "
    "different order: probabilities divided by the film's popularity do best here, but worse among all films.",
    rules=SAMPLED_RULES
    | {"ranked": "the hidden film and 100 films sampled without replacement, in proportion to their training counts"},
    n_candidates=100,
    sampler=sample_by_popularity,
)
UNIFORM_100 = Protocol(
    "uniform-100",
    title="100 random films",
    meaning="The last film of each person is hidden, and recommenders must find it among 100 other films. All films "
    "are sampled with the same probability. This is even easier than “100 popular films”, because most films "
    "are not popular.",
    rules=SAMPLED_RULES
    | {
        "ranked": (
            "the hidden film and 100 films sampled from all films of the data set without replacement, all with the "
            "same probability"
        )
    },
    n_candidates=100,
    sampler=sample_uniformly,
)
TIME = Protocol(
    "time",
    title="By date",
    meaning="Recommenders learn only from films watched before a date. They must find the first film that each person "
    "watched after a later date. They learn nothing from the films in between or afterwards. Only the settings "
    "were tuned on data that includes these films.",
    rules=COMMON_RULES
    | {
        "split": "two midnights (UTC), the same for all people: films before the first are training data; a person's "
        "first film between the two is hidden in validation, and the first film after the second is hidden in the "
        "test",
        "cuts": "the test cut is the last midnight with at least 10% of the events after it; the validation cut is "
        "the last midnight with at least 10% of the remaining events after it",
        "filter": "MovieLens except 20M: films with fewer than 5 ratings, counting ratings after the cuts too, are "
        "removed; other data sets keep all films",
        # "the cut" of a target: the first cut for validation, the second for test
        "users": "people who watched films before and after the cut (the validation cut or the test cut)",
        "history": "all films that the person watched before the cut; films rated in the same second keep their order",
        "tags": "tags given before the first cut; tags without a time are not used",
        "settings": "tuned with leave-one-out validation, which includes films watched after the cuts",
        "ranked": "all films of the data set, including films that nobody had watched before the cut",
        EXCLUDED: "films that the person watched before the cut",
    },
    splitting=BY_TIME,
    retraining_reason="This protocol needs recommenders that were trained only on films watched before the earlier of "
    "its two dates. Recommenders trained for other protocols have learned from all films except the last ones.",
)


LATEST_FILM_MEANING = (
    "As in “All films”, but recommenders get only the latest film of each person, as if a visitor had typed it. The "
    "person's earlier films are excluded from the ranking, too."
)
LATEST_FILMS_MEANING = (
    "As in “All films”, but recommenders get only the latest films of each person, as if a visitor had typed them. The "
    "person's earlier films are excluded from the ranking, too."
)


def _latest_films_protocol(n: int) -> Protocol:
    """Return the protocol in which a recommender gets only the n newest items of each history."""
    return Protocol(
        f"short-{n}",
        title="Latest film only" if n == 1 else f"Latest {n} films",
        meaning=LATEST_FILM_MEANING if n == 1 else LATEST_FILMS_MEANING,
        rules=FULL.rules
        | {
            "history": "only the latest film of the person" if n == 1 else "only the latest films of the person",
            "newest": n,
            EXCLUDED: "all films of the person's history before the hidden film",
        },
        n_newest=n,
    )


LATEST_FILMS = tuple(_latest_films_protocol(n) for n in (1, 2, 3, 5, 10))


FAVOURITE_MEANING = (
    "A fifth of the people are not in the training data, and half of these are tested. Recommenders get one film that "
    "such a person likes, as if a visitor had typed it. They must find the other films that the person likes. Here, HR "
    "is the number of these other films at the top of the list, divided by the highest possible number. NDCG also "
    "takes their ranks into account."
)
FAVOURITES_MEANING = (
    "A fifth of the people are not in the training data, and half of these are tested. Recommenders get a few films "
    "that such a person likes, in random order, as if a visitor had typed them. They must find the other films that "
    "the person likes. Here, HR is the number of these other films at the top of the list, divided by the highest "
    "possible number. NDCG also takes their ranks into account."
)


def _favourites_protocol(n: int) -> Protocol:
    """Return the protocol in which n liked items of a new user are given, and all other liked items are targets."""
    return Protocol(
        f"favourites-{n}",
        title="1 favourite" if n == 1 else f"{n} favourites",
        meaning=FAVOURITE_MEANING if n == 1 else FAVOURITES_MEANING,
        rules=COMMON_RULES
        | {
            "split": "by a hash of the person's ID: a tenth of the people are for the test, another tenth for "
            "validation, and the others for training",
            "filter": LEAVE_ONE_OUT_RULES["filter"],
            "users": (
                "people in the test or validation part who gave at least 11 films four stars or more; without "
                "stars, all films count as liked"
            ),
            "history": (
                "one liked film; the same film for every recommender"
                if n == 1
                else "liked films in random order; the same films for every recommender"
            ),
            "liked": n,
            "drawings": ORDERS_PER_USER,  # random orders of the liked films of a person
            "targets": "all other liked films",
            "metrics": "HR@k is recall: the number of hidden films among the first k, divided by the highest possible "
            "number. NDCG@k is divided by its highest possible value. MRR uses the best-ranked hidden "
            "film. All are means over the random lists of a person",
            "tags": "all tags of the data set, including tags by people in the test",
            "settings": "tuned with leave-one-out validation, which includes histories of people in the test",
            "ranked": "all films of the data set",
            EXCLUDED: "the liked films that are given",
        },
        splitting=BY_USER,
        retraining_reason="This protocol needs recommenders that were trained without a fifth of the people. "
        "Recommenders trained for other protocols have learned from all people.",
        n_given=n,
    )


FAVOURITES = tuple(_favourites_protocol(n) for n in (1, 2, 3, 5, 10))


# name → protocol, in the order of menus
PROTOCOLS = {
    protocol.name: protocol
    for protocol in (FULL, UNTIED_FULL, *LATEST_FILMS, *FAVOURITES, POPULARITY_100, UNIFORM_100, TIME)
}


def get(name: str) -> Protocol:
    """Return the protocol with this name. Raises ProtocolError if there is none."""
    if name not in PROTOCOLS:
        text = "no protocol is called {name}; choose one of: {protocols}"
        raise ProtocolError(text, name=name, protocols=", ".join(PROTOCOLS))
    return PROTOCOLS[name]


def get_current_or_former(name: str) -> Protocol:
    """Return the protocol with this name, or a protocol without texts for a former name, which old results have."""
    return PROTOCOLS.get(name) or Protocol(name, title=name, meaning="", rules={})


def title(name: str) -> str:
    """Return the title of a protocol, or the name of a former protocol."""
    return get_current_or_former(name).title


def menu_position(name: str) -> tuple[int, str]:
    """Return a sort key for the order of menus. Former protocols come last, by name."""
    return list(PROTOCOLS).index(name) if name in PROTOCOLS else len(PROTOCOLS), name


def sort_names(names: Iterable[str]) -> list[str]:
    """Sort names of protocols in the order of menus."""
    return sorted(names, key=menu_position)
