"""Grades of recommended films, and weights that fit them."""

import json

import numpy as np
import pytest

from benchmarks import graded_lists
from benchmarks.graded_lists import GradedList
from recsys.models.favourites import GRADED_WEIGHTS
from recsys.models.pool import PoolConfig
from recsys.models.visitor_pool import VisitorPool
from tests.models.score_tables import ITEMS, TRAIN, score_table

LISTS = [GradedList(np.array([0]), {1: 3, 2: 2, 3: 0}), GradedList(np.array([4, 5]), {6: 1})]


def test_films_without_a_grade_count_as_unrelated():
    good, unrelated, ndcg, low, high = graded_lists.summary(LISTS, [[1, 2, 3, 9], [8, 6, 9, 10]])
    assert (good, unrelated) == (1, 2.5)  # 2 and 0 good films, 2 and 3 unrelated ones
    assert ndcg == pytest.approx((1 + 1 / np.log2(3)) / 2, abs=1e-4)  # film 6 is second instead of first
    assert low < ndcg < high


def test_favourites_are_not_recommended():
    table = score_table(1).table
    top = next(graded_lists.top_films(lambda queries: table[[0]].copy(), [GradedList(np.array([3, 7]), {})], ITEMS))
    assert len(top) == graded_lists.N_RECOMMENDATIONS
    assert not {3, 7} & set(top)
    assert top[0] == max(set(range(ITEMS)) - {3, 7}, key=lambda item: table[0, item])


def test_a_member_whose_best_films_have_the_best_grades_gets_the_highest_weight():
    members = {name: score_table(seed, softmax=True) for seed, name in enumerate(GRADED_WEIGHTS)}
    pool = VisitorPool(PoolConfig(members=tuple(members), edges=()))
    pool.set_members(members)
    pool.fit(TRAIN)
    useful = members["markov-both"].table
    lists = []
    for film in range(ITEMS):
        ranks = np.argsort(np.argsort(-useful[film]))
        lists.append(GradedList(np.array([film]), {item: int(3 * (ranks[item] < 5)) for item in range(0, ITEMS, 2)}))
    weights = graded_lists.fit_weights(pool, TRAIN, lists)
    assert max(weights, key=weights.get) == "markov-both"
    assert weights["markov-both"] > 2 * max(weights[name] for name in GRADED_WEIGHTS if name != "markov-both")


@pytest.mark.slow
def test_the_graded_films_are_in_the_built_in_set(home):
    from recsys.data import datasets

    dataset = datasets.ensure(datasets.DEFAULT_DATASET)
    parts = {part: graded_lists.read_lists(dataset, part) for part in ("fit", "test")}
    assert {part: len(lists) for part, lists in parts.items()} == {"fit": 655, "test": 100}
    assert not any(row.grades.keys() & set(row.favourites.tolist()) for lists in parts.values() for row in lists)
    fit, test = ({tuple(row.favourites.tolist()) for row in lists} for lists in parts.values())
    assert not fit & test
    texts = json.loads(graded_lists.GRADES_FILE.read_text("utf-8"))["scale"]
    assert set(texts) == {"0", "1", "2", "3"}
