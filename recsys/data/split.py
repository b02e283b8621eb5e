"""Splits into training, validation and test data.

Leave-one-out: the last item of a user is the test target, the second last the validation target. Models can then learn
from events of other users that happened later. The split by time prevents that. "Untied": events of one second are
first put in a random order, which depends on the seed. Shapes: U users, E events.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from weakref import WeakKeyDictionary

import numpy as np

from recsys.data.dataset import DataError, Dataset, HeldOut, Queries, Split
from recsys.data.tie_breaking import shuffle_ties

TEST_SHARE = 0.1  # minimum share of events after a cut
DAY_SECONDS = 86_400


@dataclass(frozen=True)
class Splitting:
    """A split method. Calling it splits a data set. The result is cached for the Dataset object."""

    name: str  # as in folder names
    divide: Callable[[Dataset], Split]  # its description has no name
    reads_times: bool = False  # the training events depend on the times
    unties: bool = False  # ties are shuffled first

    def __call__(self, dataset: Dataset, seed: int = 0) -> Split:
        """Split a data set.

        Args:
            dataset: What to split.
            seed: Seed of the training run. It only affects how ties are shuffled.

        Raises:
            DataError: The data set cannot be split by this method.
        """
        key = self, seed if self.unties else 0
        with _lock:
            splits = _splits.setdefault(dataset, {})
            if key not in splits:
                split = self.divide(shuffle_ties(dataset, seed) if self.unties else dataset)
                splits[key] = replace(split, description={"name": self.name, **split.description})
            return splits[key]


_splits: WeakKeyDictionary[Dataset, dict[tuple[Splitting, int], Split]] = WeakKeyDictionary()
_lock = threading.Lock()


@dataclass(frozen=True)
class Cuts:
    """Midnights in UTC, in seconds since 1970."""

    valid: int  # training ends, validation begins
    test: int  # validation ends, test begins

    @property
    def dates(self) -> dict[str, str]:
        """Return the cuts as dates: {"valid": "2000-12-04", "test": "2000-12-29"}."""
        return {"valid": _date(self.valid), "test": _date(self.test)}


def leave_one_out(dataset: Dataset) -> Split:
    """Split as in the SASRec and BERT4Rec papers. Users with fewer than three items are used for training only.

    Validation queries contain the training items, test queries also the validation item. Raises DataError if no user
    has three items.
    """
    lengths = np.diff(dataset.offsets)
    users = np.flatnonzero(lengths >= 3)
    if not len(users):
        few = f"{dataset.name}: nobody has three {dataset.noun}s, so nothing can be held out"
        raise DataError(f"{few}; choose another data set")
    last = dataset.offsets[1:][users] - 1
    keep = np.ones(len(dataset.interactions), bool)
    keep[last] = keep[last - 1] = False
    train = replace(dataset, interactions=dataset.interactions.select(keep))
    valid, test = (_held_out(dataset, users, lengths[users] - from_end) for from_end in (2, 1))
    return Split(train, valid, test, {})


def by_time(dataset: Dataset) -> Split:
    """Split at two midnights, the same for all users, so that no model learns from later events.

    Events before the first cut are training data. Films have only the tags given before it. A query contains all
    earlier items of its user. The validation target is the first item between the cuts, the test target the first item
    after both. Users without an earlier item or a target are not evaluated. Raises DataError if no user is left.
    """
    if dataset.ties == "rows":
        raise DataError(f"{dataset.name} has no times to cut; choose a protocol that does not go by date")
    limits = cuts(dataset)
    before = dataset.interactions.select(_time(dataset) < limits.valid)
    train = replace(dataset, interactions=before, catalog=dataset.catalog.as_of(limits.valid))
    valid, test = _next(dataset, limits.valid, limits.test), _next(dataset, limits.test, None)
    return Split(train, valid, test, {"dates": limits.dates})


LEAVE_ONE_OUT = Splitting("leave-one-out", leave_one_out)
UNTIED = Splitting("untied", leave_one_out, reads_times=True, unties=True)
BY_TIME = Splitting("time", by_time, reads_times=True)


def cuts(dataset: Dataset) -> Cuts:
    """Choose the latest cuts with TEST_SHARE of all events after the second, and of the others after the first cut."""
    time = _time(dataset)
    if not len(time):
        raise DataError(f"{dataset.name} has no events; choose another data set")
    test = _midnight(time)
    before = time[time < test]
    return Cuts(_midnight(before) if len(before) else test, test)


def _time(dataset: Dataset) -> np.ndarray:
    """Return the times (E,) in seconds since 1970."""
    return np.asarray(dataset.interactions.timestamp)


def _midnight(time: np.ndarray) -> int:
    """Return the latest midnight with at least TEST_SHARE of the events at or after it."""
    from_end = int(np.ceil(TEST_SHARE * len(time)))
    return int(np.partition(time, -from_end)[-from_end] // DAY_SECONDS * DAY_SECONDS)


def _date(time: int) -> str:
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d}"


def _next(dataset: Dataset, cut: int, end: int | None) -> HeldOut:
    """Hold out the first item of each user from `cut` until `end`, for users with an item before `cut`."""
    time = _time(dataset)
    n_before = np.bincount(dataset.interactions.user[time < cut], minlength=dataset.n_users)
    is_target = time >= cut if end is None else (time >= cut) & (time < end)
    n_targets = np.bincount(dataset.interactions.user[is_target], minlength=dataset.n_users)  # (U,)
    users = np.flatnonzero((n_before > 0) & (n_targets > 0))
    if not len(users):
        raise DataError(
            f"{dataset.name}: nobody watched films both before and after {_date(cut)}, so time cannot be cut there; "
            "choose a protocol that does not go by date"
        )
    return _held_out(dataset, users, n_before[users])


def _held_out(dataset: Dataset, users: np.ndarray, positions: np.ndarray) -> HeldOut:
    """Hold out the item at one position (0 = oldest) of the history of each user. The query has the earlier items."""
    pairs = [(dataset.history(user), position) for user, position in zip(users, positions, strict=True)]
    targets = np.array([history[position] for history, position in pairs])
    profiles = None if dataset.user_profiles is None else dataset.user_profiles.iloc[users]
    return HeldOut(Queries([history[:position] for history, position in pairs], users, user_profiles=profiles), targets)
