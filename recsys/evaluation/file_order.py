"""The order of films that a user rated in the same second, as in the ratings file, and what it reveals.

A stable sort by time, as in most published experiments, keeps this order. Two orders are recognised: ascending film
ids, and the buckets of a Perl hash. Perl before 5.8.1 wrote MovieLens 1M from a hash per user.

Shapes: E events, I items, U users, K hash tables, N pairs of consecutive films of a user, B queries.
"""

from dataclasses import dataclass

import numpy as np

from recsys.data.dataset import Dataset, HeldOut, Queries

MIN_BUCKETS, MAX_BUCKETS = 8, 1 << 16  # of a hash table
MAX_CONTRADICTIONS = 0.01  # share of the tied pairs that may contradict an order
BINS = 40  # of the distance between two films, -1 to 1


@dataclass(frozen=True, eq=False)
class FileOrder:
    """An order that a file may have within a second."""

    name: str  # "hash", "ascending"
    places: np.ndarray  # (K, I) float32, place of each item in a table, in [0, 1)
    table: np.ndarray  # (U,) table of each user, a row of `places`
    sizes: np.ndarray  # (K,) number of places of each table

    def distances(self, user: np.ndarray, item: np.ndarray, following: np.ndarray) -> np.ndarray:
        """Return the place of `following` minus that of `item`, (N,) from -1 to 1, in the table of each user."""
        table = self.table[user]
        return self.places[table, following] - self.places[table, item]


@dataclass(frozen=True, eq=False)
class Neighbours:
    """All pairs of films that a user rated one after the other."""

    user: np.ndarray  # (N,)
    item: np.ndarray  # (N,)
    following: np.ndarray  # (N,)
    same_second: np.ndarray  # (N,) bool
    alone: np.ndarray  # (N,) bool: neither shares its second with another film, so no sort has moved them

    @classmethod
    def from_dataset(cls, dataset: Dataset, without_rating: float | None = None) -> "Neighbours":
        """Return the pairs of a data set, without the pairs in which a film has the rating `without_rating`."""
        events = dataset.interactions
        user, item, time = (np.asarray(column) for column in (events.user, events.item, events.timestamp))
        moment = np.cumsum(np.diff(time, prepend=-1).astype(bool) | np.diff(user, prepend=-1).astype(bool)) - 1  # (E,)
        is_shared = np.bincount(moment)[moment] > 1 if len(time) else np.zeros(0, bool)  # (E,)
        is_counted = np.ones(len(time), bool) if without_rating is None else events.rating != without_rating
        row = np.flatnonzero((user[1:] == user[:-1]) & is_counted[1:] & is_counted[:-1])
        same_second, alone = moment[row] == moment[row + 1], ~is_shared[row] & ~is_shared[row + 1]
        return cls(user[row], item[row], item[row + 1], same_second, alone)


def perl_hash(key: str) -> int:
    """Return the 32-bit hash of a key in Perl 5.8.0 and earlier (hv.h, PERL_HASH). Its last bits are the bucket."""
    value = 0
    for character in key.encode():
        value = (33 * value + character) & 0xFFFFFFFF
    return (value + (value >> 5)) & 0xFFFFFFFF


def ascending(dataset: Dataset) -> FileOrder:
    """Return the order of film ids. Items are numbered in this order."""
    places = np.arange(dataset.n_items, dtype=np.float32)[None] / dataset.n_items
    return FileOrder("ascending", places, np.zeros(dataset.n_users, np.int64), np.array([dataset.n_items]))


def hashed(dataset: Dataset, pairs: Neighbours) -> FileOrder:
    """Return the order of hash buckets, with the table sizes that fit the data (see `table_sizes`)."""
    hashes = np.array([perl_hash(str(movie)) for movie in dataset.catalog.movie_ids], np.int64)  # (I,)
    sizes, table = np.unique(table_sizes(hashes, pairs, dataset.n_users), return_inverse=True)
    places = (hashes & (sizes[:, None] - 1)) / sizes[:, None]
    return FileOrder("hash", places.astype(np.float32), table, sizes)


def table_sizes(hashes: np.ndarray, pairs: Neighbours, n_users: int) -> np.ndarray:
    """Return the number of buckets, a power of two, of each user's hash table, (U,).

    It is the smallest number without a pair of one second in descending order of buckets. It never falls from one user
    to the next, because Perl keeps the buckets of an emptied hash. It stays if no number up to MAX_BUCKETS fits.
    """
    tied = pairs.same_second
    user, before, after = pairs.user[tied], hashes[pairs.item[tied]], hashes[pairs.following[tied]]
    ends = np.searchsorted(user, np.arange(n_users + 1))
    sizes, size = np.empty(n_users, np.int64), MIN_BUCKETS
    for person in range(n_users):
        rows = slice(ends[person], ends[person + 1])
        candidate = size
        while candidate <= MAX_BUCKETS:
            if ((before[rows] & (candidate - 1)) <= (after[rows] & (candidate - 1))).all():
                size = candidate
                break
            candidate *= 2
        sizes[person] = size
    return sizes


def descending_shares(order: FileOrder, pairs: Neighbours) -> tuple[float, float]:
    """Return the share of pairs in descending order: of one second, and of films alone in their second."""
    back = order.distances(pairs.user, pairs.item, pairs.following) < 0
    tied, alone = (float(back[mask].mean()) if mask.any() else 0.0 for mask in (pairs.same_second, pairs.alone))
    return tied, alone


def detect(dataset: Dataset, pairs: Neighbours) -> FileOrder | None:
    """Return the order that the pairs of one second have, or None."""
    if pairs.same_second.any():
        for order in (ascending(dataset), hashed(dataset, pairs)):
            if descending_shares(order, pairs)[0] < MAX_CONTRADICTIONS:
                return order
    return None


@dataclass(frozen=True, eq=False)
class OrderRule:
    """A predictor of the next film that uses only its distance from the last film in the file order."""

    order: FileOrder
    log_ratio: np.ndarray  # (BINS,) log of how much more frequent a distance is for the next film than for others

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
    """Return the share of pairs in each bin of the distance: of one second, and of films alone in their second."""
    bins, shares = _bins(order.distances(pairs.user, pairs.item, pairs.following)), {}
    for name, mask in (("same second", pairs.same_second), ("alone", pairs.alone)):
        counts = np.bincount(bins[mask], minlength=BINS)
        shares[name] = (counts / max(1, counts.sum())).round(5).tolist()
    return shares


def tied_targets(dataset: Dataset, held_out: HeldOut) -> np.ndarray:
    """Return whether the last film of each query's user has the timestamp of the film before, (B,) bool."""
    users = held_out.queries.users
    assert users is not None, "held-out queries have users"
    last, time = dataset.offsets[1:][users] - 1, np.asarray(dataset.interactions.timestamp)
    return time[last] == time[last - 1]
