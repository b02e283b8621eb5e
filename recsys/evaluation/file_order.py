"""The order of films that a user rated in the same second, and how much of a metric comes from this order.

Two events of a user are *tied* if they have equal timestamps. A stable sort by time, as in most published experiments,
keeps tied events in the order of the ratings file, which has nothing to do with taste. Two orders are recognised:
ascending film ids, and the buckets of a hash table. Perl before 5.8.1 wrote MovieLens 1M from a hash table per user.

The results are the document `results/ties/<dataset>.json` in the home folder or, if it has none, in assets/.

Shapes: E events, I items, U users, K hash tables of different sizes, N pairs of consecutive films of a user, B queries.
"""

from collections.abc import Sequence
from contextlib import suppress
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
from recsys.models import registry
from recsys.models.base import Model
from recsys.progress import ProgressCallback, no_progress
from recsys.ranking.metrics import ndcg, target_ranks, user_values

RULE_RECOMMENDERS = ("popular", "markov")  # recommenders whose scores are combined with the scores of `OrderRule`
RULE_WEIGHTS = (0.0, 0.1, 0.2, 0.5, 1.0)  # tested weights of the scores of `OrderRule`
BATCH_SIZE = 256  # queries that are scored together
LOG_EPSILON = 1e-6  # added to a score before its logarithm, because the score can be 0
TABLE_SIZES = [2**bits for bits in range(3, 17)]  # numbers of buckets that a hash table may have
MAX_DESCENDING_SHARE = 0.01  # if fewer of the tied pairs are in descending order, the file has the order
SHIFT_BINS = 40  # bins of the range of `FileOrder.shifts`, -1 to 1


@dataclass(frozen=True, eq=False)
class FileOrder:
    """An order that a file may have for tied events. The order "ascending" counts as one table for all users."""

    name: str  # "hash" or "ascending"
    positions: np.ndarray  # (K, I) float32, position of each item in each table, from 0 (first) to below 1
    user_table: np.ndarray  # (U,) table of each user, a row of `positions`
    table_sizes: np.ndarray  # (K,) number of positions of each table: its buckets, or all items if "ascending"

    def shifts(self, user: np.ndarray, item: np.ndarray, next_item: np.ndarray) -> np.ndarray:
        """Return the position of `next_item` minus the position of `item`, (N,) from -1 to 1."""
        table = self.user_table[user]
        return self.positions[table, next_item] - self.positions[table, item]


@dataclass(frozen=True, eq=False)
class ConsecutivePairs:
    """All pairs of films that a user rated one after the other, in file order if tied."""

    user: np.ndarray  # (N,)
    item: np.ndarray  # (N,) the first film
    next_item: np.ndarray  # (N,) the second film
    is_tied: np.ndarray  # (N,) bool: the two films are tied with each other
    are_both_untied: np.ndarray  # (N,) bool: neither film is tied with any film, so timestamps give their order

    @classmethod
    def from_dataset(cls, dataset: Dataset, without_rating: float | None = None) -> "ConsecutivePairs":
        """Return the pairs of a data set, without the pairs in which a film has the rating `without_rating`."""
        events = dataset.interactions
        user, item, time = (np.asarray(column) for column in (events.user, events.item, events.timestamp))
        is_same_user = user[1:] == user[:-1]  # (E - 1,)
        is_tied_pair = is_same_user & (time[1:] == time[:-1])
        is_tied_event = np.zeros(len(time), bool)  # (E,)
        is_tied_event[1:] |= is_tied_pair
        is_tied_event[:-1] |= is_tied_pair
        is_counted = np.ones(len(time), bool) if without_rating is None else events.rating != without_rating
        row = np.flatnonzero(is_same_user & is_counted[1:] & is_counted[:-1])
        are_both_untied = ~is_tied_event[row] & ~is_tied_event[row + 1]
        return cls(user[row], item[row], item[row + 1], is_tied_pair[row], are_both_untied)

    @property
    def masks(self) -> dict[str, np.ndarray]:
        """The masks by their names in documents. "alone" means that both films are untied."""
        return {"same second": self.is_tied, "alone": self.are_both_untied}


def perl_hash(key: str) -> int:
    """Return the 32-bit hash of a key in Perl 5.8.0 and earlier (hv.h, PERL_HASH). Its lowest bits are the bucket."""
    value = 0
    for character in key.encode():
        value = (33 * value + character) & 0xFFFFFFFF
    return (value + (value >> 5)) & 0xFFFFFFFF


def ascending_order(dataset: Dataset) -> FileOrder:
    """Return the order of film ids, in which items are also numbered."""
    positions = np.arange(dataset.n_items, dtype=np.float32)[None] / dataset.n_items  # one table for all users
    return FileOrder("ascending", positions, np.zeros(dataset.n_users, np.int64), np.array([dataset.n_items]))


def hash_order(dataset: Dataset, pairs: ConsecutivePairs) -> FileOrder:
    """Return the order of hash buckets. `fit_table_sizes` gives the number of buckets of each user."""
    hashes = np.array([perl_hash(str(movie)) for movie in dataset.catalog.movie_ids], np.int64)  # (I,)
    sizes, user_table = np.unique(fit_table_sizes(hashes, pairs, dataset.n_users), return_inverse=True)
    buckets = hashes % sizes[:, None]  # (K, I)
    return FileOrder("hash", (buckets / sizes[:, None]).astype(np.float32), user_table, sizes)


def fit_table_sizes(hashes: np.ndarray, pairs: ConsecutivePairs, n_users: int) -> np.ndarray:
    """Return the number of buckets, a power of two, of each user's hash table, (U,).

    It is the smallest number for which no tied pair of the user is in descending order of buckets. It never decreases
    from one user to the next, because Perl keeps the buckets of an emptied hash. If no number in TABLE_SIZES fits, the
    user gets the number of the previous user.
    """
    hash_pairs = hashes[np.stack([pairs.item, pairs.next_item], 1)[pairs.is_tied]]  # a row per tied pair
    starts = np.searchsorted(pairs.user[pairs.is_tied], np.arange(n_users + 1))  # first row of each user
    sizes, size = np.empty(n_users, np.int64), TABLE_SIZES[0]
    for user in range(n_users):
        hashes_before, hashes_after = hash_pairs[starts[user] : starts[user + 1]].T
        candidates = [n for n in TABLE_SIZES if n >= size and (hashes_before % n <= hashes_after % n).all()]
        size = min(candidates, default=size)
        sizes[user] = size
    return sizes


def descending_shares(order: FileOrder, pairs: ConsecutivePairs) -> dict[str, float]:
    """Return the share of pairs in descending order, for each of `pairs.masks`."""
    is_descending = order.shifts(pairs.user, pairs.item, pairs.next_item) < 0
    return {name: float(is_descending[mask].mean()) if mask.any() else 0.0 for name, mask in pairs.masks.items()}


def detect_order(dataset: Dataset, pairs: ConsecutivePairs) -> FileOrder | None:
    """Return the order of the tied pairs, or None if no order fits or there are no tied pairs."""
    if pairs.is_tied.any():
        for order in (ascending_order(dataset), hash_order(dataset, pairs)):
            if descending_shares(order, pairs)["same second"] < MAX_DESCENDING_SHARE:
                return order
    return None


@dataclass(frozen=True, eq=False)
class OrderRule:
    """A predictor of the next film that uses only the shift from the last to the next film in the file order."""

    order: FileOrder
    log_ratio: np.ndarray  # (SHIFT_BINS,) log(frequency among the next films / frequency among random films)

    @classmethod
    def learn(cls, order: FileOrder, train: Dataset) -> "OrderRule":
        """Return the rule that distinguishes the pairs of a training part from pairs with shuffled second films."""
        pairs = ConsecutivePairs.from_dataset(train)
        shuffled = np.random.default_rng(0).permutation(pairs.next_item)
        shifts = [order.shifts(pairs.user, pairs.item, next_item) for next_item in (pairs.next_item, shuffled)]
        counts, random_counts = (_bin_counts(shift) + 1.0 for shift in shifts)  # + 1, so that no count is 0
        return cls(order, np.log(counts / random_counts))

    def score(self, queries: Queries) -> np.ndarray:
        """Return the log ratio of each item, (B, I)."""
        assert queries.users is not None, "held-out queries have users"
        last_items = np.array([history[-1] for history in queries.histories])
        positions = self.order.positions[self.order.user_table[queries.users]]  # (B, I)
        last_positions = np.take_along_axis(positions, last_items[:, None], 1)  # (B, 1)
        return self.log_ratio[_bin_indexes(positions - last_positions)]


def _bin_indexes(shifts: np.ndarray) -> np.ndarray:
    """Return the index, 0 to SHIFT_BINS - 1, of the bin of each shift from -1 to 1."""
    return np.clip(((shifts + 1) / 2 * SHIFT_BINS).astype(np.int64), 0, SHIFT_BINS - 1)


def _bin_counts(shifts: np.ndarray) -> np.ndarray:
    """Return the number of shifts in each bin, (SHIFT_BINS,)."""
    return np.bincount(_bin_indexes(shifts), minlength=SHIFT_BINS)


def histogram(order: FileOrder, pairs: ConsecutivePairs) -> dict[str, list[float]]:
    """Return the share of pairs in each bin of the shift, for each of `pairs.masks`."""
    shifts = order.shifts(pairs.user, pairs.item, pairs.next_item)
    counts = {name: _bin_counts(shifts[mask]) for name, mask in pairs.masks.items()}
    return {name: (numbers / max(1, numbers.sum())).round(5).tolist() for name, numbers in counts.items()}


def is_target_tied(dataset: Dataset, leave_one_out_test: HeldOut) -> np.ndarray:
    """Return whether the target, the last film of its user, is tied with the film before it, (B,) bool."""
    users = leave_one_out_test.queries.users
    assert users is not None, "held-out queries have users"
    last_rows = dataset.offsets[1:][users] - 1
    time = np.asarray(dataset.interactions.timestamp)
    return time[last_rows] == time[last_rows - 1]


def measure(
    dataset: Dataset, without_rating: float | None = None, report: ProgressCallback = no_progress
) -> dict[str, Any]:
    """Measure the file order of a data set, and return the document.

    "lower" has the `descending_shares`, and "distances" the `histogram` of the shifts. These two and "pairs" leave out
    pairs in which a film has the rating `without_rating`. In some copies of MovieLens 1M, the events with one value of
    the rating lack their original times. Raises DataError if tied events are already in random order.
    """
    if dataset.ties == "drawn":  # in random order
        text = "{name}: films rated in the same second are already in random order; choose another data set"
        raise DataError(text, name=dataset.name)
    all_pairs = ConsecutivePairs.from_dataset(dataset)
    pairs = ConsecutivePairs.from_dataset(dataset, without_rating)
    order = detect_order(dataset, all_pairs)
    reference_order = order or hash_order(dataset, all_pairs)  # a file without an order is compared with the hash order
    return {
        "dataset": dataset.name,
        "fingerprint": dataset.fingerprint,
        "people": dataset.n_users,
        "films": dataset.n_items,
        "order": order.name if order else None,
        "tables": _first_user_of_table(order, dataset),
        "pairs": {name: int(mask.sum()) for name, mask in pairs.masks.items()},
        "lower": {name: round(share, 5) for name, share in descending_shares(reference_order, pairs).items()},
        "distances": histogram(reference_order, pairs),
        "without_rating": without_rating,
        **_tie_shares(dataset, all_pairs),
        "rules": _rule_rows(dataset, order, report) if order else [],
        "recommenders": _recommender_rows(dataset),
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
                document = storage.read_document(path)
                recommenders = [registry.with_current_names(row) for row in document["recommenders"]]
                return document | {"recommenders": recommenders}
            except (OSError, storage.DamagedFileError):
                command = recsys_command("experiment", "ties", "--dataset", dataset)
                warn(storage.DamagedFileError("{path} is damaged", command, path=path))
    return None


def _first_user_of_table(order: FileOrder | None, dataset: Dataset) -> dict[str, int]:
    """Return hash table size → id of the first user with this size, {} if the order is not "hash"."""
    if order is None or order.name != "hash":
        return {}
    _, users = np.unique(order.user_table, return_index=True)
    return {str(size): int(dataset.user_ids[user]) for size, user in zip(order.table_sizes, users, strict=True)}


def _tie_shares(dataset: Dataset, pairs: ConsecutivePairs) -> dict[str, Any]:
    """Return the shares of tied pairs and of tied test targets, and the share of tied pairs by user and by year."""
    user, time = np.asarray(dataset.interactions.user), np.asarray(dataset.interactions.timestamp)
    pair_times = time[:-1][user[1:] == user[:-1]]  # (N,) of the earlier film
    by_user = pd.Series(pairs.is_tied).groupby(pairs.user).mean()
    by_year = pd.Series(pairs.is_tied).groupby(np.asarray(pd.to_datetime(pair_times, unit="s").year))
    return {
        "share": round(float(pairs.is_tied.mean()), 5),
        "targets": round(float(is_target_tied(dataset, FULL.split(dataset).test).mean()), 5),
        "people_quantiles": {str(q): round(float(np.percentile(by_user, q)), 4) for q in (10, 50, 90)},
        "years": [
            {"year": int(year), "pairs": int(size), "share": round(float(mean), 4)}
            for year, size, mean in by_year.agg(["size", "mean"]).itertuples()
        ],
    }


def _rule_rows(dataset: Dataset, order: FileOrder, report: ProgressCallback) -> list[dict[str, Any]]:
    """Return test NDCG@10 of RULE_RECOMMENDERS, without `OrderRule` ("alone") and with it ("with the order").

    "weight" is the weight of the scores of `OrderRule` that is best in validation.
    """
    rows = []
    for protocol in (FULL, UNTIED_FULL):
        split = protocol.split(dataset)
        rule = OrderRule.learn(order, split.train)
        for name in RULE_RECOMMENDERS:
            model = checkpoints.load_or_fit(name, dataset, 0, report, splitting=protocol.splitting, reject_stale=True)
            valid_ranks = _ranks_with_rule(model, rule, split.valid, RULE_WEIGHTS)
            weight = RULE_WEIGHTS[int(np.argmax([ndcg(ranks, 10) for ranks in valid_ranks]))]
            test_ranks = _ranks_with_rule(model, rule, split.test, (0.0, weight))
            without_rule, with_rule = (round(ndcg(ranks, 10), 5) for ranks in test_ranks)
            figures = {"alone": without_rule, "with the order": with_rule, "weight": weight}
            rows.append({"title": model.title, "protocol": protocol.name, **figures})
    return rows


def _ranks_with_rule(model: Model, rule: OrderRule, held_out: HeldOut, weights: Sequence[float]) -> list[np.ndarray]:
    """Return the ranks (B,) of the targets by log score + weight · `rule.score`, for each weight."""
    ranks = np.empty((len(weights), len(held_out)), np.int64)
    for start in range(0, len(held_out), BATCH_SIZE):
        rows = slice(start, start + BATCH_SIZE)
        queries, targets = held_out.queries[rows], held_out.targets[rows]
        scores = np.log(model.score(queries).astype(np.float64) + LOG_EPSILON)
        rule_scores = rule.score(queries)
        for index, weight in enumerate(weights):
            ranks[index, rows] = target_ranks(scores + weight * rule_scores, targets, queries.histories)
    return list(ranks)


def _recommender_rows(dataset: Dataset) -> list[dict[str, Any]]:
    """Return test NDCG@10 of the recommenders with results under both protocols, the best first.

    "full tied" is the mean over the users whose target is tied with the film before it, "full other" over all others.
    "untied tied" and "untied other" are the same under the other protocol.
    """
    is_tied = is_target_tied(dataset, FULL.split(dataset).test)
    rows = []
    for document in results.documents(dataset.name, UNTIED_FULL.name):
        row = {name: document[name] for name in ("variant", "title", "family")} | {"seeds": len(document["seeds"])}
        with suppress(results.ResultError):  # no result under one of the protocols
            for protocol in (FULL.name, UNTIED_FULL.name):
                ranks = results.ranks(dataset.name, protocol, document["variant"])  # (S, B)
                ndcgs = user_values(ranks, "ndcg@10").mean(0)  # (B,)
                groups = {"": ndcgs, " tied": ndcgs[is_tied], " other": ndcgs[~is_tied]}
                for group, values in groups.items():
                    if len(values):
                        row[f"{protocol}{group}"] = round(float(values.mean()), 5)
            rows.append(row)
    return sorted(rows, key=lambda row: -row["full"])
