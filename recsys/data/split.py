"""Split a data set into training, validation and test part, by one of four rules.

"leave-one-out": a user's last item is the test item, the item before it the validation item, and all earlier items are
training items. "untied": the same after ties are shuffled. With both rules, a model learns from events that are later
than the test items of other users. "time", a split at two dates, prevents this. "favourites", a split by user, has no
training data about the test users (strong generalisation, Marlin 2004). Shapes: U users, E events.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from weakref import WeakKeyDictionary

import numpy as np

from recsys.data.dataset import DataError, Dataset, HeldOut, Queries, Split
from recsys.data.tie_breaking import random_sort_keys, shuffle_ties
from recsys.errors import N_

TEST_SHARE = 0.1  # minimum share of the events at or after a cut of `by_time`
LIKED_SHARE = 0.8  # of the highest rating of a data set: the lowest rating of a liked item, 4 of 5 stars
MIN_LIKED = 11  # liked items of a test user: up to 10 are given, and 1 is left as a target
ORDERS_PER_USER = 3  # random orders of the liked items of each test user
HIGHEST_STARS = 5  # of the scale of MovieLens
OTHER_SCALE_RULE = N_(  # `Split.description["users"]` of data sets whose highest rating is not HIGHEST_STARS
    "people in the test or validation part who rated at least 11 films with 80% of the highest rating or more"
)
FORMER_OTHER_SCALE_RULE = OTHER_SCALE_RULE.replace("people in", "people of")  # the text in older result files
SECONDS_PER_DAY = 86_400


@dataclass(frozen=True)
class Splitting:
    """A rule that splits data sets. Results are cached per data set."""

    name: str  # also the name of the folder of the checkpoints
    divide: Callable[[Dataset, int], Split]  # data set, seed → split
    protocol: str  # value of `train --protocol` for this splitting
    reads_times: bool = False  # whether the training part depends on timestamps, not only on the order
    is_seeded: bool = False  # whether the split depends on the seed

    def __call__(self, dataset: Dataset, seed: int = 0) -> Split:
        """Return the split for a training seed. Raises DataError if the data set cannot be split by this rule."""
        split_seed = seed if self.is_seeded else 0
        key = (self, split_seed)
        with _lock:
            splits = _splits.setdefault(dataset, {})
            if key not in splits:
                split = self.divide(dataset, split_seed)
                splits[key] = replace(split, description={"name": self.name, **split.description})
            return splits[key]


_Splits = dict[tuple[Splitting, int], Split]  # by splitting and seed
_splits: WeakKeyDictionary[Dataset, _Splits] = WeakKeyDictionary()  # entries are freed with their data sets
_lock = threading.Lock()


@dataclass(frozen=True)
class Cuts:
    """The two times at which `by_time` splits: midnights in UTC, in seconds since 1970."""

    valid: int  # start of the validation part
    test: int  # start of the test part

    @property
    def dates(self) -> dict[str, str]:
        """The cuts as dates: {"valid": "2000-12-04", "test": "2000-12-29"}."""
        return {"valid": _date(self.valid), "test": _date(self.test)}


def leave_one_out(dataset: Dataset, seed: int = 0) -> Split:
    """Split as in the SASRec and BERT4Rec papers. `seed` is not used.

    Users with fewer than three items are only training data. Validation queries have the training items, and test
    queries have the validation item, too. Raises DataError if no user has three items.
    """
    lengths = np.diff(dataset.offsets)
    users = np.flatnonzero(lengths >= 3)  # a training, a validation and a test item
    if not len(users):
        if dataset.noun == "film":
            text = "{name}: nobody has three films, so nothing can be held out; choose another data set"
        else:
            text = "{name}: nobody has three items, so nothing can be held out; choose another data set"
        raise DataError(text, name=dataset.name)
    last = dataset.offsets[1:][users] - 1
    is_training = np.ones(len(dataset.interactions), bool)
    is_training[last] = is_training[last - 1] = False
    train = replace(dataset, interactions=dataset.interactions.select(is_training))
    valid = _hold_out_positions(dataset, users, lengths[users] - 2)
    test = _hold_out_positions(dataset, users, lengths[users] - 1)
    return Split(train, valid, test, {})


def untied(dataset: Dataset, seed: int = 0) -> Split:
    """Shuffle the items of a user with equal timestamps, and then split by `leave_one_out`."""
    return leave_one_out(shuffle_ties(dataset, seed))


def by_time(dataset: Dataset, seed: int = 0) -> Split:
    """Split at two midnights, the same for all users. `seed` is not used.

    Events before the first cut are training data, with the tags that were given before it. The validation target of a
    user is the first item between the cuts, and its query has the items before the first cut. The test target is the
    first item after the second cut, and its query has the items before the second cut. Users without a target or with
    an empty query are not evaluated. Raises DataError if no user is left.
    """
    if not dataset.has_times:
        text = "{name} has no times, so it cannot be split by date; choose another protocol"
        raise DataError(text, name=dataset.name)
    cuts = latest_cuts(dataset)
    events_before = dataset.interactions.select(np.asarray(dataset.interactions.timestamp) < cuts.valid)
    train = replace(dataset, interactions=events_before, catalog=dataset.catalog.as_of(cuts.valid))
    valid, test = _hold_out_next(dataset, cuts.valid, cuts.test), _hold_out_next(dataset, cuts.test)
    return Split(train, valid, test, {"dates": cuts.dates})


def by_user(dataset: Dataset, seed: int = 0) -> Split:
    """Hold out a tenth of the users for test and a tenth for validation, by a hash of their id. `seed` is not used.

    The training part has none of their events. A user likes an item if the rating is at least LIKED_SHARE of the
    highest rating of the data set. If all ratings are equal, all items are liked. A held-out user with at least
    MIN_LIKED liked items gets ORDERS_PER_USER queries. A query has the liked items in random order, without the last
    item, the target. `Protocol.n_given` shortens the query, and the removed items are then targets too. Raises
    DataError if no test user, or no validation user, has enough liked items.
    """
    hashes = random_sort_keys(dataset.user_ids, np.zeros(dataset.n_users), 0)  # of the user ids
    group = hashes % np.uint64(10)  # (U,) each group from 0 to 9 has a tenth of the users
    is_test, is_valid = group == 0, group == 1
    events = dataset.interactions
    train = replace(dataset, interactions=events.select(~(is_test | is_valid)[events.user]))
    valid, test = (_hold_out_liked(dataset, np.flatnonzero(part)) for part in (is_valid, is_test))
    lowest, highest = events.rating.min(), events.rating.max()
    has_other_scale = lowest < highest and highest != HIGHEST_STARS
    return Split(train, valid, test, {"users": OTHER_SCALE_RULE} if has_other_scale else {})


LEAVE_ONE_OUT = Splitting("leave-one-out", leave_one_out, "full")
UNTIED = Splitting("untied", untied, "untied", reads_times=True, is_seeded=True)
BY_TIME = Splitting("time", by_time, "time", reads_times=True)
# all protocols favourites-N share this splitting; favourites-3 stands for it in `train --protocol`
BY_USER = Splitting("favourites", by_user, "favourites-3")
SPLITTINGS = {splitting.name: splitting for splitting in (LEAVE_ONE_OUT, UNTIED, BY_TIME, BY_USER)}


def latest_cuts(dataset: Dataset) -> Cuts:
    """Return the latest possible cuts. Raises DataError if the data set has no events.

    At least TEST_SHARE of all events are at or after the second cut. At least TEST_SHARE of the events before it are at
    or after the first cut.
    """
    time = np.asarray(dataset.interactions.timestamp)  # (E,) seconds since 1970
    if not len(time):
        raise DataError("{name} has no events; choose another data set", name=dataset.name)
    test = _latest_cut(time)
    before_test = time[time < test]
    return Cuts(_latest_cut(before_test) if len(before_test) else test, test)


def _latest_cut(time: np.ndarray) -> int:
    """Return the last midnight with at least TEST_SHARE of the events at or after it."""
    n_test = int(np.ceil(TEST_SHARE * len(time)))
    first_test_time = np.partition(time, -n_test)[-n_test]
    return int(first_test_time // SECONDS_PER_DAY * SECONDS_PER_DAY)


def _date(time: int) -> str:
    """Return the date of a time: "2000-12-04"."""
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d}"


def _hold_out_next(dataset: Dataset, cut: int, end: float = np.inf) -> HeldOut:
    """Hold out the first item in [cut, end) of each user who has an item before `cut`."""
    time = np.asarray(dataset.interactions.timestamp)  # (E,) seconds since 1970
    n_before = np.bincount(dataset.interactions.user[time < cut], minlength=dataset.n_users)  # (U,)
    n_after = np.bincount(dataset.interactions.user[(time >= cut) & (time < end)], minlength=dataset.n_users)  # (U,)
    users = np.flatnonzero((n_before > 0) & (n_after > 0))
    if not len(users):
        text = (
            "{name}: nobody watched films both before and after {cut}, so it cannot be split at that "
            "date; choose another protocol"
        )
        raise DataError(text, name=dataset.name, cut=_date(cut))
    return _hold_out_positions(dataset, users, n_before[users])


def _hold_out_positions(dataset: Dataset, users: np.ndarray, positions: np.ndarray) -> HeldOut:
    """Hold out the item at a position (0 = oldest) of each user's history. The query has the items before it."""
    pairs = [(dataset.history(user), position) for user, position in zip(users, positions, strict=True)]
    queries = [history[:position] for history, position in pairs]
    targets = np.array([history[position] for history, position in pairs])
    profiles = None if dataset.user_profiles is None else dataset.user_profiles.iloc[users]
    return HeldOut(Queries(queries, users, user_profiles=profiles, are_whole=True), targets)


def _hold_out_liked(dataset: Dataset, users: np.ndarray) -> HeldOut:
    """Hold out items of these users as in `by_user`. The queries of a user are consecutive."""
    ratings = np.asarray(dataset.interactions.rating)
    orders = []  # the liked items of a user in random order
    highest = float(ratings.max()) if len(ratings) else 0.0
    is_liked = ratings >= min(LIKED_SHARE * highest, highest)  # `highest` can be negative
    for user in users:
        events = slice(dataset.offsets[user], dataset.offsets[user + 1])
        liked = np.unique(dataset.interactions.item[events][is_liked[events]])
        if len(liked) >= MIN_LIKED:
            user_ids, movie_ids = np.full(len(liked), dataset.user_ids[user]), dataset.catalog.movie_ids[liked]
            for seed in range(ORDERS_PER_USER):
                keys = random_sort_keys(user_ids, movie_ids, seed)
                orders.append(liked[np.argsort(keys, kind="stable")])
    if not orders:
        text = "{name}: no held-out person likes at least {n} films; choose another protocol"
        raise DataError(text, name=dataset.name, n=MIN_LIKED)
    return HeldOut(Queries([order[:-1] for order in orders]), np.array([order[-1] for order in orders]))
