import gc
import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recsys.data import split as splits
from recsys.data.dataset import DataError
from recsys.data.split import (
    BY_TIME,
    BY_USER,
    LEAVE_ONE_OUT,
    ORDERS_PER_USER,
    UNTIED,
    Cuts,
    Splitting,
    by_time,
    by_user,
    latest_cuts,
    leave_one_out,
)
from recsys.data.tags import Tags
from tests import toys


def test_the_last_film_is_test_and_the_last_but_one_validation():
    split = leave_one_out(toys.dataset([[0, 1, 2, 3], [4, 3, 2]], n_items=5))
    assert split.test.targets.tolist() == [3, 2]
    assert [history.tolist() for history in split.test.queries.histories] == [[0, 1, 2], [4, 3]]
    assert split.valid.targets.tolist() == [2, 3]
    assert [history.tolist() for history in split.valid.queries.histories] == [[0, 1], [4]]
    assert [history.tolist() for history in split.train.histories] == [[0, 1], [4]]
    assert split.valid.queries.are_whole
    assert split.test.queries[:1].are_whole


def test_users_with_fewer_than_three_films_only_train():
    split = leave_one_out(toys.dataset([[0, 1], [0, 1, 2], [3]], n_items=4))
    assert split.test.queries.users.tolist() == split.valid.queries.users.tolist() == [1]
    assert [history.tolist() for history in split.train.histories] == [[0, 1], [0], [3]]


def test_when_nobody_has_three_films_the_data_set_is_refused():
    with pytest.raises(DataError, match="toy: nobody has three films"):
        leave_one_out(toys.dataset([[0, 1], [2]], n_items=3))


def test_ratings_and_times_go_with_their_films_into_training():
    whole = toys.dataset([[0, 1, 2, 3]], n_items=4)
    train = leave_one_out(whole).train
    assert train.interactions.timestamp.tolist() == whole.interactions.timestamp[:2].tolist()
    assert train.catalog is whole.catalog
    assert train.n_users == whole.n_users


@settings(deadline=None)  # a busy machine is no failure
@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=9), min_size=1, max_size=9))
def test_training_validation_and_test_put_together_are_the_whole(histories):
    dataset = toys.dataset(histories, n_items=10)
    if max(map(len, histories)) < 3:
        return
    split = leave_one_out(dataset)
    rebuilt = [history.tolist() for history in split.train.histories]
    for held_out in (split.valid, split.test):
        for user, history, target in zip(
            held_out.queries.users, held_out.queries.histories, held_out.targets, strict=True
        ):
            assert rebuilt[user] == history.tolist()  # a query holds everything before its target, nothing after
            rebuilt[user].append(int(target))
    assert rebuilt == histories


def test_the_whole_is_not_changed_by_splitting_it():
    dataset = toys.cycle()
    before = dataset.interactions.item.copy()
    leave_one_out(dataset)
    assert np.array_equal(dataset.interactions.item, before)


DAY_0 = 999_993_600  # 2001-09-09
SPANNING = [  # (film, day); of 20 events two lie on day 18 or later, and of the 18 before, two on day 16 or 17
    [(0, 0), (1, 1), (2, 2), (3, 16), (4, 18)],  # in all three parts
    [(5, 0), (6, 3), (7, 4), (8, 17)],  # trains, and is measured in validation
    [(9, 0), (10, 5), (11, 19)],  # trains, and is measured in test
    [(12, 1), (13, 2), (14, 3), (15, 4), (16, 5), (17, 6), (18, 7), (19, 8)],  # only trains
]


def test_time_is_cut_at_the_last_midnights_with_a_tenth_after_them():
    world = toys.over_days(SPANNING)
    assert latest_cuts(world) == Cuts(valid=DAY_0 + 16 * 86_400, test=DAY_0 + 18 * 86_400)
    assert latest_cuts(world).dates == {"valid": "2001-09-25", "test": "2001-09-27"}


def test_across_a_cut_each_users_first_film_after_it_is_the_target():
    parts = by_time(toys.over_days(SPANNING))
    assert [history.tolist() for history in parts.train.histories] == [[0, 1, 2], [5, 6, 7], [9, 10], [*range(12, 20)]]
    assert parts.valid.queries.users.tolist() == [0, 1]
    assert parts.valid.targets.tolist() == [3, 8]
    assert [history.tolist() for history in parts.valid.queries.histories] == [[0, 1, 2], [5, 6, 7]]
    assert parts.test.queries.users.tolist() == [0, 2]
    assert parts.test.targets.tolist() == [4, 11]
    assert [history.tolist() for history in parts.test.queries.histories] == [[0, 1, 2, 3], [9, 10]]


@settings(deadline=None)  # a busy machine is no failure
@given(st.integers(0, 2**32))
def test_nothing_after_a_cut_reaches_training_or_a_history(seed):
    rng = np.random.default_rng(seed)
    histories = [
        [
            (int(film), int(day))
            for film, day in zip(rng.permutation(30)[:9], np.sort(rng.integers(40, size=9)), strict=True)
        ]
        for _ in range(12)
    ]
    world = toys.over_days(histories)
    try:
        parts = by_time(world)
    except DataError:
        return
    days = [(cut - DAY_0) // 86_400 for cut in (latest_cuts(world).valid, latest_cuts(world).test)]
    assert [history.tolist() for history in parts.train.histories] == [
        [film for film, day in history if day < days[0]] for history in histories
    ]
    for held_out, cut in zip((parts.valid, parts.test), days, strict=True):
        for user, history, target in zip(
            held_out.queries.users, held_out.queries.histories, held_out.targets, strict=True
        ):
            assert history.tolist() == [film for film, day in histories[user] if day < cut]
            assert target == next(film for film, day in histories[user] if day >= cut)


def test_a_film_that_nobody_had_watched_before_the_cut_can_be_the_right_one():
    parts = by_time(toys.over_days(SPANNING))
    assert parts.train.n_items == 30
    assert parts.train.counts[11] == 0
    assert 11 in parts.test.targets


@pytest.mark.parametrize("histories", [[[(0, 1)], [(1, 30)], [(2, 60)]], [[(0, 1), (1, 1)]] * 9])
def test_where_nobody_watched_before_and_after_the_cut_the_data_is_refused(histories):
    with pytest.raises(DataError, match=r"before and after 2001-.* choose another protocol"):
        by_time(toys.over_days(histories))


def test_tags_given_after_the_cut_do_not_reach_training():
    world = toys.over_days(SPANNING)
    cut = latest_cuts(world).valid
    given = [(100, "before", cut - 1), (100, "after", cut), (101, "after", cut + 1)]
    tagged = replace(world, catalog=toys.tagged(world.catalog, Tags.from_rows(given)))
    assert tagged.catalog.movies["tags"].tolist()[:2] == ["after, before", "after"]
    train = by_time(tagged).train
    assert train.catalog.movies["tags"].tolist()[:2] == ["before", ""]
    assert len(train.catalog.tags) == 1
    assert leave_one_out(tagged).train.catalog is tagged.catalog


# A splitting


def test_what_is_known_of_people_goes_with_them_into_training():
    world = toys.over_days(SPANNING)
    world = toys.described(world, *[("F", "56+", f"work {user}") for user in range(world.n_users)])
    for splitting in (LEAVE_ONE_OUT, UNTIED, BY_TIME):
        assert splitting(world).train.user_profiles is world.user_profiles


def test_a_split_says_how_it_was_made():
    world = toys.over_days(SPANNING)
    assert LEAVE_ONE_OUT(world).description == {"name": "leave-one-out"}
    assert BY_TIME(world).description == {"name": "time", "dates": {"valid": "2001-09-25", "test": "2001-09-27"}}
    assert (LEAVE_ONE_OUT.name, BY_TIME.name) == ("leave-one-out", "time")  # folders of what they trained
    assert len(LEAVE_ONE_OUT(world).test) == 4
    assert len(BY_TIME(world).test) == 2


def test_a_data_set_is_split_once_in_each_way_however_many_threads_need_it():
    calls = []

    def divide(dataset, seed):
        calls.append(dataset)
        return leave_one_out(dataset)

    world, equal = toys.cycle(), toys.cycle()
    counted, other = Splitting("counted", divide, "full"), Splitting("other", divide, "full")
    threads = [threading.Thread(target=counted, args=[world]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert counted(world) is counted(world)
    assert counted(equal) is not counted(world)
    assert other(world) is not counted(world)
    assert len(calls) == 3


def test_a_split_is_forgotten_with_its_data_set():
    gc.collect()
    before = len(splits._splits)
    world = toys.cycle()
    LEAVE_ONE_OUT(world)
    assert len(splits._splits) == before + 1
    del world
    gc.collect()
    assert len(splits._splits) == before


def test_data_that_cannot_be_divided_is_refused_each_time():
    few = toys.dataset([[0, 1], [2]], n_items=3)
    for _ in range(2):
        with pytest.raises(DataError, match="nobody has three films"):
            LEAVE_ONE_OUT(few)


def test_a_split_by_user_holds_out_whole_users_and_asks_for_their_liked_films_in_random_order():
    whole = toys.cycle(n_items=30, n_users=100, length=24)
    stars = np.where(whole.interactions.item % 2, 5.0, 3.5).astype(np.float32)  # odd films are liked
    whole = replace(whole, interactions=replace(whole.interactions, rating=stars))
    split = by_user(whole)
    held_out = np.flatnonzero([not len(history) for history in split.train.histories])
    assert 5 < len(held_out) < 40  # a fifth
    assert all(np.array_equal(split.train.history(user), whole.history(user)) for user in set(range(100)) - {*held_out})
    orders = [
        [*queries, target]
        for part in (split.valid, split.test)
        for queries, target in zip(part.queries.histories, part.targets, strict=True)
    ]
    assert len(orders) == ORDERS_PER_USER * len(held_out)
    liked = [sorted(film for film in whole.history(user) if film % 2) for user in held_out]
    assert sorted(map(sorted, orders)) == sorted(ORDERS_PER_USER * liked)
    assert len({tuple(order) for order in orders}) == len(orders)  # the drawings differ
    assert split.test.queries.users is None


@pytest.mark.parametrize(("disliked", "liked"), [(3.5, 5), (7.5, 10), (0, 1), (70, 100)])
def test_liked_films_have_at_least_four_fifths_of_the_highest_rating(disliked, liked):
    whole = toys.cycle(n_items=30, n_users=100, length=24)
    ratings = np.where(whole.interactions.item % 2, liked, disliked).astype(np.float32)
    split = by_user(replace(whole, interactions=replace(whole.interactions, rating=ratings)))
    assert {*np.concatenate(split.test.queries.histories) % 2} == {1}
    assert ("highest rating" in split.description.get("users", "")) == (liked != 5)


def test_without_different_stars_all_films_are_liked_and_too_few_of_them_are_an_error():
    whole = toys.cycle(n_items=30, n_users=60, length=24)
    assert {len(history) for history in by_user(whole).test.queries.histories} == {23}
    negative = replace(whole.interactions, rating=np.full_like(whole.interactions.rating, -2))
    assert {len(history) for history in by_user(replace(whole, interactions=negative)).test.queries.histories} == {23}
    with pytest.raises(DataError, match="no held-out person likes at least 11 films"):
        by_user(toys.cycle(n_users=60, length=8))
    assert BY_USER(whole) is BY_USER(whole, 7)  # cached: the split does not depend on a seed
