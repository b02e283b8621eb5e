"""How a data set is divided into training, validation and test: leave-one-out, or a cut through time.

Leave-one-out: the last film of a user is test, the last but one validation, the rest trains. It lets a model learn from
what others watched later; the cut does not. Shapes: U users, E events.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from recsys.data.schema import DataError, Dataset, HeldOut, Queries, Split

AFTER = 0.1  # share of the events, at least, that lie after a cut
DAY = 86_400  # seconds


@dataclass(frozen=True)
class Cuts:
    """Midnights in UTC, in seconds since 1970."""

    valid: int  # training ends, validation begins
    test: int  # validation ends, test begins

    @property
    def dates(self) -> dict[str, str]:
        """Both as dates: {"valid": "2000-12-04", "test": "2000-12-29"}."""
        return {name: f"{datetime.fromtimestamp(cut, UTC):%Y-%m-%d}" for name, cut in vars(self).items()}


def split(dataset: Dataset, protocol: str = "full") -> Split:
    """The split that an evaluation protocol measures by: `time` has its own, all others share leave-one-out."""
    return by_time(dataset) if protocol == "time" else leave_one_out(dataset)


def leave_one_out(dataset: Dataset) -> Split:
    """Split as in the SASRec and BERT4Rec papers. Users with fewer than three films only train.

    Validation queries hold the training films; test queries hold those and the validation film.
    Raises DataError when no user has three films.
    """
    lengths = np.diff(dataset.offsets)
    users = np.flatnonzero(lengths >= 3)
    if not len(users):
        raise DataError(f"{dataset.name}: nobody has three films, so nothing can be held out; choose another data set")
    last = dataset.offsets[1:][users] - 1
    keep = np.ones(len(dataset.interactions), bool)
    keep[last] = keep[last - 1] = False
    train = replace(dataset, interactions=dataset.interactions.where(keep))
    return Split(train, _held_out(dataset, users, lengths[users] - 2), _held_out(dataset, users, lengths[users] - 1))


def by_time(dataset: Dataset) -> Split:
    """Split at two midnights, the same for everybody: nothing that happened later can be learnt from.

    What lies before the first cut trains. Validation asks for the first film that a user watched between the cuts, test
    for the first after the second; a query holds everything that its user watched before that cut. Users who watched
    nothing before a cut, or nothing after it, are not asked for. Raises DataError when nobody is left.
    """
    chosen = cuts(dataset)
    train = replace(dataset, interactions=dataset.interactions.where(_time(dataset) < chosen.valid))
    return Split(train, _next(dataset, chosen.valid, chosen.test), _next(dataset, chosen.test, None))


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
    latest = np.partition(time, -(place := int(np.ceil(AFTER * len(time)))))[-place]
    return int(latest // DAY * DAY)


def _next(dataset: Dataset, cut: int, end: int | None) -> HeldOut:
    """Each user's first film at or after `cut`, and before `end`; asked of those who watched something before."""
    time = _time(dataset)
    watched = np.bincount(dataset.interactions.user[time < cut], minlength=dataset.n_users)  # (U,) films before the cut
    due = time >= cut if end is None else (time >= cut) & (time < end)
    follows = np.bincount(dataset.interactions.user[due], minlength=dataset.n_users)  # (U,)
    users = np.flatnonzero((watched > 0) & (follows > 0))
    if not len(users):
        date = f"{datetime.fromtimestamp(cut, UTC):%Y-%m-%d}"
        raise DataError(
            f"{dataset.name}: nobody watched films both before and after {date}, so time cannot be cut there; "
            "use --protocol full on this data"
        )
    return _held_out(dataset, users, watched[users])


def _held_out(dataset: Dataset, users: np.ndarray, places: np.ndarray) -> HeldOut:
    """The film at a place of each user's history (0 = oldest), after the films before it."""
    histories = [dataset.history(user) for user in users]
    targets = np.array([history[place] for history, place in zip(histories, places, strict=True)])
    before = [history[:place] for history, place in zip(histories, places, strict=True)]
    return HeldOut(Queries(before, users), targets)
