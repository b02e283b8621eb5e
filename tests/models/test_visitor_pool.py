"""The default recommender: weights for short lists, and networks without their count memories."""

import numpy as np

from recsys.data.schema import HeldOut, Queries
from recsys.models import pool
from recsys.models.hybrid import VisitorPool, VisitorPoolConfig
from tests.models.test_hybrid import TRAIN, Table, drawn, table

EDGES = (2, 3, 5)  # ranges 1, 2, 3–4, ≥ 5


def held_out(lengths, n_items=40):
    rng = np.random.default_rng(0)
    histories = [rng.permutation(n_items)[:length] for length in lengths]
    return HeldOut(Queries(histories), np.arange(len(lengths)))


def test_every_history_is_cut_to_each_range_that_it_is_long_enough_for():
    valid = held_out([1, 4, 20, 30])
    examples = pool.cut_to_each_range(valid, EDGES, np.random.default_rng(0))
    lengths = [len(history) for history in examples.queries.histories]
    assert sorted(lengths[:4]) == [1, 1, 1, 1]
    assert sorted(lengths[4:7]) == [2, 2, 2]
    assert all(length in (3, 4) for length in lengths[7:10])
    assert sorted(lengths[10:]) == [20, 30]  # whole


def test_a_cut_query_has_the_newest_items_and_excludes_the_whole_history():
    valid = held_out([9, 12])
    examples = pool.cut_to_each_range(valid, EDGES, np.random.default_rng(0))
    for history, target, excluded in zip(examples.queries.histories, examples.targets, examples.excluded, strict=True):
        whole = valid.queries.histories[target]
        np.testing.assert_array_equal(history, whole[-len(history) :])
        np.testing.assert_array_equal(excluded, whole)


def test_a_member_that_knows_short_lists_has_the_weight_of_short_lists():
    class ReadsLong(Table):
        def score(self, queries):
            short = np.array([len(history) < 5 for history in queries.histories])
            return np.where(short[:, None], table(9).table[0].astype(np.float32), super().score(queries))

    members = {"order": table(2, softmax=True), "whole": ReadsLong(table(1).table, softmax=True)}
    model = VisitorPool(VisitorPoolConfig(tuple(members), EDGES))
    model.set_members(members)
    weights = model.fit(TRAIN, drawn(800, members, (0.5, 1.0), (8, 20))).pool.weights
    assert (weights[:3, 1] < 0.2).all()  # 1 to 4 items
    assert weights[3, 1] > 0.8


def test_members_take_part_without_their_count_memories():
    class Remembers(Table):
        remembers: bool = True

        def drop_memory(self):
            self.remembers = False

    members = {"network": Remembers(table(1).table)}
    VisitorPool(VisitorPoolConfig(tuple(members), EDGES)).set_members(members)
    assert not members["network"].remembers
