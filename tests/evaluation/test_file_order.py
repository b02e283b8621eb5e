from dataclasses import replace

import numpy as np
import pytest

from recsys.data.dataset import Queries
from recsys.data.split import LEAVE_ONE_OUT
from recsys.data.tie_breaking import shuffle_ties
from recsys.evaluation.file_order import (
    SHIFT_BINS,
    ConsecutivePairs,
    OrderRule,
    ascending_order,
    descending_shares,
    detect_order,
    fit_table_sizes,
    hash_order,
    histogram,
    is_target_tied,
    perl_hash,
)
from tests import toys

FILMS = 60


def world(key, n_users=80, films=20, per_second=4, seed=0):
    """Everybody rates some films, four a second; those of a second stand in ascending order of `key(user, items)`."""
    rng = np.random.default_rng(seed)
    histories = []
    for user in range(n_users):
        seconds = rng.permutation(FILMS)[:films].reshape(-1, per_second)
        histories.append(np.concatenate([one[np.argsort(key(user, one), kind="stable")] for one in seconds]))
    dataset = toys.dataset(histories, FILMS)
    time = 1_000_000_000 + np.arange(len(dataset.interactions)) // per_second * 60
    return replace(dataset, interactions=replace(dataset.interactions, timestamp=time))


def bucket(items, size):
    """Film i has the id 100 + i."""
    return np.array([perl_hash(str(100 + item)) & (size - 1) for item in items])


def size_of(user):
    """The tables of this world: they grow from 16 to 128 buckets, and never shrink."""
    return 16 if user < 20 else 64 if user < 50 else 128


def by_hash(user, items):
    return bucket(items, size_of(user))


def by_id(user, items):
    return items


def at_random(user, items):
    return np.random.default_rng([user, *items]).random(len(items))


def test_perls_hash_is_that_of_its_source():
    """hv.h of Perl 5.8.0: hash = hash * 33 + c over the characters, then hash + (hash >> 5)."""
    assert perl_hash("") == 0
    assert perl_hash("1") == 49 + (49 >> 5)
    before = 49 * 33 + 50
    assert perl_hash("12") == before + (before >> 5)
    assert 0 <= perl_hash("movie 3952" * 9) < 1 << 32


@pytest.mark.parametrize(("key", "name"), [(by_hash, "hash"), (by_id, "ascending"), (at_random, None)])
def test_the_order_of_a_file_is_recognised(key, name):
    dataset = world(key)
    order = detect_order(dataset, ConsecutivePairs.from_dataset(dataset))
    assert (order.name if order else None) == name


def test_once_drawn_no_order_is_left():
    dataset = shuffle_ties(world(by_hash), 0)
    assert detect_order(dataset, ConsecutivePairs.from_dataset(dataset)) is None


def test_without_ties_there_is_no_order_to_speak_of():
    dataset = toys.cycle()
    assert detect_order(dataset, ConsecutivePairs.from_dataset(dataset)) is None


def test_the_sizes_of_the_tables_follow_from_the_films():
    dataset = world(by_hash, films=40)
    order = hash_order(dataset, ConsecutivePairs.from_dataset(dataset))
    assert [order.table_sizes[table] for table in order.user_table] == [
        size_of(user) for user in range(dataset.n_users)
    ]


def test_where_no_table_explains_a_person_its_size_stays():
    dataset = world(at_random)
    hashes = np.array([perl_hash(str(movie)) for movie in dataset.catalog.movie_ids])
    assert (fit_table_sizes(hashes, ConsecutivePairs.from_dataset(dataset), dataset.n_users) == 8).all()


def test_neighbours_are_of_one_person_and_know_whether_they_share_a_second():
    dataset = toys.dataset([[0, 1, 2, 3, 4], [5, 6]], n_items=7)
    time = np.array([1, 1, 2, 3, 4, 4, 4])  # the second person begins in the second in which the first one ends
    pairs = ConsecutivePairs.from_dataset(replace(dataset, interactions=replace(dataset.interactions, timestamp=time)))
    assert pairs.item.tolist() == [0, 1, 2, 3, 5]
    assert pairs.next_item.tolist() == [1, 2, 3, 4, 6]
    assert pairs.is_tied.tolist() == [True, False, False, False, True]
    assert pairs.are_both_untied.tolist() == [False, False, True, True, False]


def test_pairs_with_some_rating_can_be_left_out():
    dataset = toys.dataset([[0, 1, 2, 3]], n_items=4)
    dataset = replace(dataset, interactions=replace(dataset.interactions, rating=np.array([4, 3, 4, 4], np.float32)))
    pairs = ConsecutivePairs.from_dataset(dataset, without_rating=3)
    assert list(zip(pairs.item, pairs.next_item, strict=True)) == [(2, 3)]  # 0 and 2 are no neighbours


def test_films_of_one_second_never_go_back_and_the_others_do_as_often_as_not():
    dataset = world(by_id, n_users=400)
    same = descending_shares(ascending_order(dataset), ConsecutivePairs.from_dataset(dataset))["same second"]
    assert same == 0
    single = world(by_id, n_users=400, per_second=1)
    alone = descending_shares(ascending_order(single), ConsecutivePairs.from_dataset(single))["alone"]
    assert alone == pytest.approx(0.5, abs=0.03)
    shares = histogram(ascending_order(dataset), ConsecutivePairs.from_dataset(dataset))
    assert sum(shares["same second"]) == pytest.approx(1, abs=1e-3)
    assert sum(shares["same second"][: SHIFT_BINS // 2]) == 0
    assert shares["alone"] == [0.0] * SHIFT_BINS


def test_the_rule_prefers_films_a_little_further_on_and_says_nothing_once_the_order_is_drawn():
    dataset = world(by_id, n_users=2000, films=12)
    order, ask = ascending_order(dataset), Queries([np.array([20])], np.array([0]))
    scores = OrderRule.learn(order, LEAVE_ONE_OUT(dataset).train).score(ask)[0]
    assert scores.shape == (FILMS,)
    assert scores[25] > 0 > scores[15]  # in a second one only goes forwards
    drawn = OrderRule.learn(order, shuffle_ties(dataset, 0)).score(ask)[0]
    assert np.abs(drawn[[10, 15, 25, 30]]).max() < 0.15 < scores[25]


def test_a_hidden_film_is_tied_where_it_shares_its_second_with_the_film_before():
    dataset = toys.dataset([[0, 1, 2], [3, 4, 5]], n_items=6)
    dataset = replace(dataset, interactions=replace(dataset.interactions, timestamp=np.array([1, 2, 2, 1, 1, 2])))
    assert is_target_tied(dataset, LEAVE_ONE_OUT(dataset).test).tolist() == [True, False]
