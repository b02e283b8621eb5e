"""How a data set is divided into training, validation and test: leave-one-out, untied or not, or a cut through time.

Leave-one-out: the last item of a user is test, the last but one validation, the rest trains. It lets a model learn from
what others watched later; the cut does not. Untied: films of one second are put in a drawn order first, another for
each seed. Shapes: U users, E events.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from weakref import WeakKeyDictionary

import numpy as np

from recsys.data.dataset import DataError, Dataset, HeldOut, Queries, Split
from recsys.data.tie_breaking import shuffle_ties

TEST_SHARE = 0.1  # proportion of the events, at least, that lie after a cut
DAY = 86_400  # seconds


@dataclass(frozen=True)
class Splitting:
    """A way to divide a data set. Calling it gives the same Split for the same Dataset object, computed once."""

    name: str  # as in folder names
    divide: Callable[[Dataset], Split]  # its `about` needs no name
    reads_times: bool = False  # with other times, other events train
    unties: bool = False  # films of one second are first put in an order drawn from the seed

    def __call__(self, dataset: Dataset, seed: int = 0) -> Split:
        """The training, validation and test part; raises DataError when the data cannot be divided like this.

        seed: that of a training; it matters only where an order is drawn, which it then learns from and is measured on.
        """
        drawing = seed if self.unties else 0
        with _computing:
            known = _splits.setdefault(dataset, {})
            if (self, drawing) not in known:
                found = self.divide(shuffle_ties(dataset, drawing) if self.unties else dataset)
                known[self, drawing] = replace(found, description={"name": self.name, **found.description})
            return known[self, drawing]


_splits: WeakKeyDictionary[Dataset, dict[tuple[Splitting, int], Split]] = WeakKeyDictionary()  # as long as the data set
_computing = threading.Lock()


@dataclass(frozen=True)
class Cuts:
    """Midnights in UTC, in seconds since 1970."""

    valid: int  # training ends, validation begins
    test: int  # validation ends, test begins

    @property
    def dates(self) -> dict[str, str]:
        """Both as dates: {"valid": "2000-12-04", "test": "2000-12-29"}."""
        return {"valid": _date(self.valid), "test": _date(self.test)}


def leave_one_out(dataset: Dataset) -> Split:
    """Split as in the SASRec and BERT4Rec papers. Users with fewer than three items only train.

    Validation queries hold the training items; test queries hold those and the validation item.
    Raises DataError when no user has three items.
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
    """Split at two midnights, the same for everybody: nothing that happened later can be learnt from.

    What lies before the first cut trains, and films have the tags that they had by then. The validation target is the
    first item that a user watched between the cuts, the test target the first after the second; a query holds
    everything that its user watched before that cut. Users who watched nothing before a cut, or nothing after it, are
    not measured. Raises DataError when nobody is left.
    """
    if dataset.ties == "rows":
        raise DataError(f"{dataset.name} has no times to cut; choose a protocol that does not go by date")
    chosen = cuts(dataset)
    before = dataset.interactions.select(_time(dataset) < chosen.valid)
    train = replace(dataset, interactions=before, catalog=dataset.catalog.as_of(chosen.valid))
    valid, test = _next(dataset, chosen.valid, chosen.test), _next(dataset, chosen.test, None)
    return Split(train, valid, test, {"dates": chosen.dates})


LEAVE_ONE_OUT = Splitting("leave-one-out", leave_one_out)
UNTIED = Splitting("untied", leave_one_out, reads_times=True, unties=True)
BY_TIME = Splitting("time", by_time, reads_times=True)


def cuts(dataset: Dataset) -> Cuts:
    """The last midnights after which a tenth of the events lie, and before that a tenth of the rest."""
    time = _time(dataset)
    if not len(time):
        raise DataError(f"{dataset.name} has no events; choose another data set")
    test = _midnight(time)
    before = time[time < test]
    return Cuts(_midnight(before) if len(before) else test, test)


def _time(dataset: Dataset) -> np.ndarray:
    """(E,) seconds since 1970."""
    return np.asarray(dataset.interactions.timestamp)


def _midnight(time: np.ndarray) -> int:
    """The last midnight with at least AFTER of the events at it or later."""
    from_end = int(np.ceil(TEST_SHARE * len(time)))
    return int(np.partition(time, -from_end)[-from_end] // DAY * DAY)


def _date(time: int) -> str:
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d}"


def _next(dataset: Dataset, cut: int, end: int | None) -> HeldOut:
    """Each user's first item at or after `cut`, and before `end`, for those who watched something before `cut`."""
    time = _time(dataset)
    watched = np.bincount(dataset.interactions.user[time < cut], minlength=dataset.n_users)  # (U,) items before the cut
    due = time >= cut if end is None else (time >= cut) & (time < end)
    follows = np.bincount(dataset.interactions.user[due], minlength=dataset.n_users)  # (U,)
    users = np.flatnonzero((watched > 0) & (follows > 0))
    if not len(users):
        raise DataError(
            f"{dataset.name}: nobody watched films both before and after {_date(cut)}, so time cannot be cut there; "
            "choose a protocol that does not go by date"
        )
    return _held_out(dataset, users, watched[users])


def _held_out(dataset: Dataset, users: np.ndarray, positions: np.ndarray) -> HeldOut:
    """The item at a position of each user's history (0 = oldest), after the items before it."""
    pairs = [(dataset.history(user), position) for user, position in zip(users, positions, strict=True)]
    targets = np.array([history[position] for history, position in pairs])
    people = None if dataset.user_profiles is None else dataset.user_profiles.iloc[users]
    return HeldOut(Queries([history[:position] for history, position in pairs], users, user_profiles=people), targets)
