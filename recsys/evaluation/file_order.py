"""In which order a ratings file has the films that one person rated in the same second, and what that order gives away.

A stable sort by time, as in nearly all published experiments, leaves films of one second in the order of the file. Two
orders are looked for: ascending film ids, and that of a hash table of Perl before 5.8.1, which MovieLens 1M was written
from, each person's films bucket by bucket.

Shapes: E events, I items, U users, K hash tables, N pairs of neighbours, B queries.
"""

from dataclasses import dataclass

import numpy as np

from recsys.data.dataset import Dataset, HeldOut, Queries

LARGEST = 1 << 16  # buckets of a hash table, far more than anybody has films
SMALLEST = 8  # buckets of an empty one
KEPT = 0.01  # share of the pairs of one second that may contradict an order which the file is said to have
BINS = 40  # of the distance between two films, -1 to 1


@dataclass(frozen=True, eq=False)
class FileOrder:
    """An order that a file may have within a second."""

    name: str  # "hash", "ascending"
    places: np.ndarray  # (K, I) float32, where each item stands in a table, from 0 to below 1
    table: np.ndarray  # (U,) the table of each person, a row of `places`
    sizes: np.ndarray  # (K,) how many places each table has

    def distances(self, user: np.ndarray, item: np.ndarray, following: np.ndarray) -> np.ndarray:
        """(N,) how much further on `following` (N,) stands than `item` (N,), -1 to 1, for each `user` (N,)."""
        table = self.table[user]
        return self.places[table, following] - self.places[table, item]


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Every two films that one person rated one after the other."""

    user: np.ndarray  # (N,)
    item: np.ndarray  # (N,)
    following: np.ndarray  # (N,)
    same_second: np.ndarray  # (N,) bool
    alone: np.ndarray  # (N,) bool: each of the two has its second for itself, so no sorting has touched them

    @classmethod
    def of(cls, dataset: Dataset, without_rating: float | None = None) -> "Neighbours":
        """Those of a data set, in its order; without_rating: pairs in which a film has that rating are left out."""
        events = dataset.interactions
        user, item, time = (np.asarray(column) for column in (events.user, events.item, events.timestamp))
        moment = np.cumsum(np.diff(time, prepend=-1).astype(bool) | np.diff(user, prepend=-1).astype(bool)) - 1  # (E,)
        shared = np.bincount(moment)[moment] > 1 if len(time) else np.zeros(0, bool)  # (E,)
        counted = np.ones(len(time), bool) if without_rating is None else events.rating != without_rating
        first = np.flatnonzero((user[1:] == user[:-1]) & counted[1:] & counted[:-1])
        same, alone = moment[first] == moment[first + 1], ~shared[first] & ~shared[first + 1]
        return cls(user[first], item[first], item[first + 1], same, alone)


def perl_hash(key: str) -> int:
    """The 32-bit hash of a key in Perl 5.8.0 and earlier (hv.h, PERL_HASH); its last bits are the bucket."""
    found = 0
    for character in key.encode():
        found = (33 * found + character) & 0xFFFFFFFF
    return (found + (found >> 5)) & 0xFFFFFFFF


def ascending(dataset: Dataset) -> FileOrder:
    """The order of film ids: items are numbered by them."""
    places = np.arange(dataset.n_items, dtype=np.float32)[None] / dataset.n_items
    return FileOrder("ascending", places, np.zeros(dataset.n_users, np.int64), np.array([dataset.n_items]))


def hashed(dataset: Dataset, pairs: Neighbours) -> FileOrder:
    """The order of buckets. The sizes of the tables follow from the data, see `table_sizes`."""
    hashes = np.array([perl_hash(str(movie)) for movie in dataset.catalog.movie_ids], np.int64)  # (I,)
    sizes = table_sizes(hashes, pairs, dataset.n_users)
    distinct, table = np.unique(sizes, return_inverse=True)
    places = (hashes & (distinct[:, None] - 1)) / distinct[:, None]
    return FileOrder("hash", places.astype(np.float32), table, distinct)


def table_sizes(hashes: np.ndarray, pairs: Neighbours, n_users: int) -> np.ndarray:
    """(U,) the number of buckets, a power of two, of the table that each person's films were in.

    Perl keeps the buckets of a hash that is emptied, so the number never falls from one person to the next; it is the
    smallest by which no bucket of a second comes after a higher one. Where no number up to LARGEST does that, it stays.
    """
    tied = pairs.same_second
    user, before, after = pairs.user[tied], hashes[pairs.item[tied]], hashes[pairs.following[tied]]
    ends = np.searchsorted(user, np.arange(n_users + 1))
    sizes, size = np.empty(n_users, np.int64), SMALLEST
    for person in range(n_users):
        own = slice(ends[person], ends[person + 1])
        size = _smallest(before[own], after[own], size)
        sizes[person] = size
    return sizes


def _smallest(before: np.ndarray, after: np.ndarray, size: int) -> int:
    """The smallest number of buckets, from `size` on, by which `before` (N,) is never in a later one than `after`."""
    tried = size
    while tried <= LARGEST:
        if ((before & (tried - 1)) <= (after & (tried - 1))).all():
            return tried
        tried *= 2
    return size


def lower(order: FileOrder, pairs: Neighbours) -> tuple[float, float]:
    """The share of the pairs in which the second film stands before the first: of one second, and of those alone."""
    back = order.distances(pairs.user, pairs.item, pairs.following) < 0
    return _mean(back[pairs.same_second]), _mean(back[pairs.alone])


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else 0.0


def of_file(dataset: Dataset, pairs: Neighbours) -> FileOrder | None:
    """The order that a data set with these neighbours keeps within a second; None where it is neither of the two."""
    if pairs.same_second.any():
        for order in (ascending(dataset), hashed(dataset, pairs)):
            if lower(order, pairs)[0] < KEPT:
                return order
    return None


@dataclass(frozen=True, eq=False)
class OrderRule:
    """What the order alone says of the next film: how far on from the last one it stands, nothing of either film."""

    order: FileOrder
    log_ratio: np.ndarray  # (BINS,) log of how much more often the next film stands so far on than any other would

    @classmethod
    def learn(cls, order: FileOrder, train: Dataset) -> "OrderRule":
        """From the pairs of neighbours of a training part, against the same pairs with their second films shuffled."""
        pairs = Neighbours.of(train)
        shuffled = np.random.default_rng(0).permutation(pairs.following)
        counts = [
            np.bincount(_bins(order.distances(pairs.user, pairs.item, following)), minlength=BINS) + 1.0
            for following in (pairs.following, shuffled)
        ]
        return cls(order, np.log(counts[0] / counts[1]))

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) log of how much more probable each item is as the next one, by the order alone."""
        assert queries.users is not None, "held-out queries know their users"
        last = np.array([history[-1] for history in queries.histories])
        places = self.order.places[self.order.table[queries.users]]  # (B, I)
        return self.log_ratio[_bins(places - places[np.arange(len(last)), last][:, None])]


def _bins(distance: np.ndarray) -> np.ndarray:
    """Distances -1 to 1 → bins from 0 to BINS - 1."""
    return np.clip(((distance + 1) / 2 * BINS).astype(np.int64), 0, BINS - 1)


def histogram(order: FileOrder, pairs: Neighbours) -> dict[str, list[float]]:
    """The share of the pairs at each distance, BINS of them from -1 to 1: of one second, and of films alone."""
    found = {}
    bins = _bins(order.distances(pairs.user, pairs.item, pairs.following))
    for name, mine in (("same second", pairs.same_second), ("alone", pairs.alone)):
        counts = np.bincount(bins[mine], minlength=BINS)
        found[name] = (counts / max(1, counts.sum())).round(5).tolist()
    return found


def tied_targets(dataset: Dataset, held_out: HeldOut) -> np.ndarray:
    """(B,) whether the last film of each query's user was rated in the second of the one before: the test part's."""
    users = held_out.queries.users
    assert users is not None, "held-out queries know their users"
    last, time = dataset.offsets[1:][users] - 1, np.asarray(dataset.interactions.timestamp)
    return time[last] == time[last - 1]
