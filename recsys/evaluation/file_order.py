"""The order of films that a user rated in the same second, and how much of a metric comes from this order.

A stable sort by time, as in most published experiments, keeps the order of the ratings file. Two orders are recognised:
ascending film ids, and the buckets of a Perl hash. Perl before 5.8.1 wrote MovieLens 1M from a hash per user. The order
has nothing to do with taste. Two events of a user are tied if they have equal timestamps.

The results are the document `results/ties/<dataset>.json` in the home folder or, if it has none, in assets/.

Shapes: E events, I items, U users, K hash tables, N pairs of consecutive films of a user, B queries.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from recsys import checkpoints, machine, paths, storage
from recsys.data.dataset import DataError, Dataset, HeldOut, Queries
from recsys.errors import recsys_command
from recsys.evaluation import results
from recsys.evaluation.protocols import FULL, UNTIED_FULL
from recsys.models.base import Model
from recsys.progress import ProgressCallback, no_progress
from recsys.ranking.metrics import ndcg, target_ranks, values

RULE_RECOMMENDERS = ("popular", "markov")  # recommenders whose scores are combined with the rule
RULE_WEIGHTS = (0.0, 0.1, 0.2, 0.5, 1.0)
BATCH_SIZE = 256  # queries
MIN_SCORE = 1e-6  # added to a score before its logarithm, because counts can be 0
TABLE_SIZES = [2**bits for bits in range(3, 17)]  # numbers of buckets that a hash table may have
MAX_CONTRADICTIONS = 0.01  # maximum share of tied pairs in descending order
BINS = 40  # of a histogram of distances, -1 to 1


@dataclass(frozen=True, eq=False)
class FileOrder:
    """An order that a file may have for tied events."""

    name: str  # "hash", "ascending"
    places: np.ndarray  # (K, I) float32, place of each item in a table, in [0, 1)
    table: np.ndarray  # (U,) table of each user, a row of `places`
    sizes: np.ndarray  # (K,) number of places of each table

    def distances(self, user: np.ndarray, item: np.ndarray, following: np.ndarray) -> np.ndarray:
        """Return the place of `following` minus the place of `item` in the table of each user, (N,) from -1 to 1."""
        table = self.table[user]
        return self.places[table, following] - self.places[table, item]


@dataclass(frozen=True, eq=False)
class Neighbours:
    """All pairs of films that a user rated one after the other."""

    user: np.ndarray  # (N,)
    item: np.ndarray  # (N,)
    following: np.ndarray  # (N,)
    same_second: np.ndarray  # (N,) bool: tied with each other
    alone: np.ndarray  # (N,) bool: not tied with any film, so a sort by time cannot move them

    @classmethod
    def from_dataset(cls, dataset: Dataset, without_rating: float | None = None) -> "Neighbours":
        """Return the pairs of a data set, without the pairs in which a film has the rating `without_rating`."""
        events = dataset.interactions
        user, item, time = (np.asarray(column) for column in (events.user, events.item, events.timestamp))
        same_user = user[1:] == user[:-1]
        tied_with_previous = np.append(False, same_user & (time[1:] == time[:-1]))[: len(time)]  # (E,)
        tied_with_next = np.append(tied_with_previous[1:], False)[: len(time)]
        is_tied = tied_with_previous | tied_with_next
        is_counted = np.ones(len(time), bool) if without_rating is None else events.rating != without_rating
        row = np.flatnonzero(same_user & is_counted[1:] & is_counted[:-1])
        return cls(user[row], item[row], item[row + 1], tied_with_next[row], ~is_tied[row] & ~is_tied[row + 1])


def perl_hash(key: str) -> int:
    """Return the 32-bit hash of a key in Perl 5.8.0 and earlier (hv.h, PERL_HASH). Its last bits are the bucket."""
    value = 0
    for character in key.encode():
        value = (33 * value + character) & 0xFFFFFFFF
    return (value + (value >> 5)) & 0xFFFFFFFF


def ascending_order(dataset: Dataset) -> FileOrder:
    """Return the order of film ids. Items are numbered in this order."""
    places = np.arange(dataset.n_items, dtype=np.float32)[None] / dataset.n_items
    return FileOrder("ascending", places, np.zeros(dataset.n_users, np.int64), np.array([dataset.n_items]))


def hash_order(dataset: Dataset, pairs: Neighbours) -> FileOrder:
    """Return the order of hash buckets, with the table sizes that fit the data (see `table_sizes`)."""
    hashes = np.array([perl_hash(str(movie)) for movie in dataset.catalog.movie_ids], np.int64)  # (I,)
    sizes, table = np.unique(table_sizes(hashes, pairs, dataset.n_users), return_inverse=True)
    places = (hashes & (sizes[:, None] - 1)) / sizes[:, None]
    return FileOrder("hash", places.astype(np.float32), table, sizes)


def table_sizes(hashes: np.ndarray, pairs: Neighbours, n_users: int) -> np.ndarray:
    """Return the number of buckets, a power of two, of each user's hash table, (U,).

    It is the smallest number for which no tied pair is in descending order of buckets. It never decreases from one user
    to the next, because Perl keeps the buckets of an emptied hash. It stays if no number in TABLE_SIZES fits.
    """
    tied = pairs.same_second
    user, before, after = pairs.user[tied], hashes[pairs.item[tied]], hashes[pairs.following[tied]]
    ends = np.searchsorted(user, np.arange(n_users + 1))
    sizes, size = np.empty(n_users, np.int64), TABLE_SIZES[0]
    for row in range(n_users):
        left, right = (hashes_of_pairs[ends[row] : ends[row + 1]] for hashes_of_pairs in (before, after))
        candidates = [n for n in TABLE_SIZES if n >= size and ((left & (n - 1)) <= (right & (n - 1))).all()]
        size = min(candidates, default=size)
        sizes[row] = size
    return sizes


def descending_shares(order: FileOrder, pairs: Neighbours) -> tuple[float, float]:
    """Return the share of pairs in descending order, among the tied pairs and among the pairs of untied films."""
    is_descending = order.distances(pairs.user, pairs.item, pairs.following) < 0
    masks = (pairs.same_second, pairs.alone)
    tied, alone = (float(is_descending[mask].mean()) if mask.any() else 0.0 for mask in masks)
    return tied, alone


def detect(dataset: Dataset, pairs: Neighbours) -> FileOrder | None:
    """Return the order of the tied pairs, or None."""
    if pairs.same_second.any():
        for order in (ascending_order(dataset), hash_order(dataset, pairs)):
            if descending_shares(order, pairs)[0] < MAX_CONTRADICTIONS:
                return order
    return None


@dataclass(frozen=True, eq=False)
class OrderRule:
    """A predictor of the next film that uses only its distance from the last film in the file order."""

    order: FileOrder
    log_ratio: np.ndarray  # (BINS,) log of the frequency of a distance to the next film / to a random film

    @classmethod
    def learn(cls, order: FileOrder, train: Dataset) -> "OrderRule":
        """Compare the pairs of a training part with the same pairs after shuffling their second films."""
        pairs = Neighbours.from_dataset(train)
        shuffled = np.random.default_rng(0).permutation(pairs.following)
        counts = [
            np.bincount(_bins(order.distances(pairs.user, pairs.item, following)), minlength=BINS) + 1.0
            for following in (pairs.following, shuffled)
        ]
        return cls(order, np.log(counts[0] / counts[1]))

    def score(self, queries: Queries) -> np.ndarray:
        """Return the log ratio of each item, (B, I)."""
        assert queries.users is not None, "held-out queries have users"
        last = np.array([history[-1] for history in queries.histories])
        places = self.order.places[self.order.table[queries.users]]  # (B, I)
        return self.log_ratio[_bins(places - places[np.arange(len(last)), last][:, None])]


def _bins(distance: np.ndarray) -> np.ndarray:
    """Return the bin, 0 to BINS - 1, of distances from -1 to 1."""
    return np.clip(((distance + 1) / 2 * BINS).astype(np.int64), 0, BINS - 1)


def histogram(order: FileOrder, pairs: Neighbours) -> dict[str, list[float]]:
    """Return the share of pairs in each bin of the distance, for tied pairs and for pairs of untied films."""
    bins, shares = _bins(order.distances(pairs.user, pairs.item, pairs.following)), {}
    for name, mask in (("same second", pairs.same_second), ("alone", pairs.alone)):
        counts = np.bincount(bins[mask], minlength=BINS)
        shares[name] = (counts / max(1, counts.sum())).round(5).tolist()
    return shares


def tied_targets(dataset: Dataset, leave_one_out_test: HeldOut) -> np.ndarray:
    """Return whether the target, the last film of its user, is tied with the film before, (B,) bool."""
    users = leave_one_out_test.queries.users
    assert users is not None, "held-out queries have users"
    last, time = dataset.offsets[1:][users] - 1, np.asarray(dataset.interactions.timestamp)
    return time[last] == time[last - 1]


def measure(
    dataset: Dataset, without_rating: float | None = None, report: ProgressCallback = no_progress
) -> dict[str, Any]:
    """Measure the file order of a data set, and return the document.

    With `without_rating`, pairs with a film of this rating are not counted. "same second" are the tied pairs, "alone"
    the pairs of untied films. Raises DataError if tied events have a random order already.
    """
    if dataset.ties == "drawn":
        text = "{name}: films of one second are in a drawn order already; choose another data set"
        raise DataError(text, name=dataset.name)
    all_pairs = Neighbours.from_dataset(dataset)
    pairs = Neighbours.from_dataset(dataset, without_rating)
    order = detect(dataset, all_pairs)
    reference_order = order or hash_order(dataset, all_pairs)
    n_pairs = {"same second": int(pairs.same_second.sum()), "alone": int(pairs.alone.sum())}
    shares = (round(share, 5) for share in descending_shares(reference_order, pairs))
    return {
        "dataset": dataset.name,
        "fingerprint": dataset.fingerprint,
        "people": dataset.n_users,
        "films": dataset.n_items,
        "order": order.name if order else None,  # "hash", "ascending"
        "tables": _first_user_of_table(order, dataset),
        "pairs": n_pairs,
        "lower": dict(zip(n_pairs, shares, strict=True)),  # share of the pairs in descending order
        "distances": histogram(reference_order, pairs),
        "without_rating": without_rating,
        **_tie_shares(dataset, all_pairs),
        "rules": _rules(dataset, order, report) if order else [],
        "recommenders": _recommenders(dataset),
        "run": machine.describe(),
    }


def write(document: dict[str, Any], ship: bool = False) -> Path:
    """Write a document to the home folder and, if `ship`, to assets/. Return the path in the home folder."""
    for root in (paths.home(), paths.ASSETS) if ship else (paths.home(),):
        storage.write_document(paths.ties(root, document["dataset"]), document)
    return paths.ties(paths.home(), document["dataset"])


def read(dataset: str, warn: results.WarningCallback) -> dict[str, Any] | None:
    """Return the document of a data set, or None. `warn` is called with an error for a damaged file."""
    for path in (paths.ties(root, dataset) for root in (paths.home(), paths.ASSETS)):
        if path.exists():
            try:
                return storage.read_document(path)
            except (OSError, storage.DamagedFileError):
                command = recsys_command("experiment", "ties", "--dataset", dataset)
                warn(storage.DamagedFileError("{path} is damaged", command, path=path))
    return None


def _first_user_of_table(order: FileOrder | None, dataset: Dataset) -> dict[str, int]:
    """Return table size → original id of the first user with it, {} if the order is not "hash"."""
    if order is None or order.name != "hash":
        return {}
    _, users = np.unique(order.table, return_index=True)
    return {str(size): int(dataset.user_ids[user]) for size, user in zip(order.sizes, users, strict=True)}


def _tie_shares(dataset: Dataset, pairs: Neighbours) -> dict[str, Any]:
    """Return the share of tied pairs and of test targets that are tied, and percentiles over users and by year."""
    user, time = np.asarray(dataset.interactions.user), np.asarray(dataset.interactions.timestamp)
    by_user = pd.Series(pairs.same_second).groupby(pairs.user).mean()
    year = pd.to_datetime(time[:-1][user[1:] == user[:-1]], unit="s").year
    by_year = pd.Series(pairs.same_second).groupby(np.asarray(year)).agg(["size", "mean"])
    return {
        "share": round(float(pairs.same_second.mean()), 5),
        "targets": round(float(tied_targets(dataset, FULL.split(dataset).test).mean()), 5),
        "people_quantiles": {str(q): round(float(np.percentile(by_user, q)), 4) for q in (10, 50, 90)},
        "years": [
            {"year": int(year), "pairs": int(size), "share": round(float(mean), 4)}
            for year, (size, mean) in zip(by_year.index, by_year.to_numpy(), strict=True)
        ],
    }


def _rules(dataset: Dataset, order: FileOrder, report: ProgressCallback) -> list[dict[str, Any]]:
    """Return test NDCG@10 of RULE_RECOMMENDERS, alone and with the rule. Its weight is chosen on validation items."""
    rows = []
    for protocol in (FULL, UNTIED_FULL):
        split = protocol.split(dataset)
        rule = OrderRule.learn(order, split.train)
        for name in RULE_RECOMMENDERS:
            model = checkpoints.load_or_fit(name, dataset, 0, report, splitting=protocol.splitting, measuring=True)
            valid = _ranks_with_rule(model, rule, split.valid, RULE_WEIGHTS)
            weight = RULE_WEIGHTS[int(np.argmax([ndcg(ranks, 10) for ranks in valid]))]
            test = _ranks_with_rule(model, rule, split.test, (0.0, weight))
            alone, with_rule = (round(ndcg(ranks, 10), 5) for ranks in test)
            figures = {"alone": alone, "with the order": with_rule, "weight": weight}
            rows.append({"title": model.title, "protocol": protocol.name, **figures})
    return rows


def _ranks_with_rule(model: Model, rule: OrderRule, held_out: HeldOut, weights: Sequence[float]) -> list[np.ndarray]:
    """Return ranks (B,) by log score + weight · log ratio of the rule, for each weight."""
    ranks: list[list[np.ndarray]] = [[] for _ in weights]
    for start in range(0, len(held_out), BATCH_SIZE):
        rows = slice(start, start + BATCH_SIZE)
        queries, targets = held_out.queries[rows], held_out.targets[rows]
        scores, rule_scores = np.log(model.score(queries).astype(np.float64) + MIN_SCORE), rule.score(queries)
        for batches, weight in zip(ranks, weights, strict=True):
            batches.append(target_ranks(scores + weight * rule_scores, targets, queries.histories))
    return [np.concatenate(batches) for batches in ranks]


def _recommenders(dataset: Dataset) -> list[dict[str, Any]]:
    """Return test NDCG@10 of the recommenders with results under both protocols, the best first.

    "full tied" is the mean over the users whose target is tied with the film before it, "full other" over all others.
    """
    tied = tied_targets(dataset, FULL.split(dataset).test)
    rows = []
    for document in results.documents(dataset.name, UNTIED_FULL.name):
        row = {name: document[name] for name in ("variant", "title", "family")} | {"seeds": len(document["seeds"])}
        for protocol in (FULL.name, UNTIED_FULL.name):
            try:
                ranks = results.ranks(dataset.name, protocol, document["variant"])  # (S, B)
            except results.ResultError:
                break  # no result under this protocol
            user_values = values(ranks, "ndcg@10").mean(0)
            parts = {"": user_values, " tied": user_values[tied], " other": user_values[~tied]}
            row |= {f"{protocol}{part}": round(float(ndcgs.mean()), 5) for part, ndcgs in parts.items() if len(ndcgs)}
        else:
            rows.append(row)
    return sorted(rows, key=lambda row: -row["full"])
