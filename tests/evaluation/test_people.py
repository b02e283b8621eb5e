import numpy as np
import pandas as pd
import pytest

from recsys.data.split import leave_one_out
from recsys.evaluation import people
from recsys.evaluation.results import ResultError
from tests import toys

WORLD = toys.dataset([[0, 1, 2, 3], [4, 3, 2]], n_items=5)
TEST = leave_one_out(WORLD).test
BOARD = pd.DataFrame(
    {
        "variant": ["a", "b", "c"],
        "title": ["A", "B", "C"],
        "family": "F",
        "fingerprint": [WORLD.fingerprint] * 2 + ["x"],
    }
)


def test_a_person_is_what_was_watched_before_and_what_came_next():
    somebody = people.person(WORLD, TEST, 1)
    assert somebody.history.tolist() == [4, 3]
    assert somebody.target == 2
    assert somebody.user_id == WORLD.user_ids[1]


@pytest.mark.parametrize("row", [-1, 2])
def test_a_person_who_does_not_exist_is_refused_in_a_sentence(row):
    with pytest.raises(ResultError, match="choose a number from 1 to 2"):
        people.person(WORLD, TEST, row)


def test_ranks_of_other_people_are_not_compared():
    ranks = {"a": np.ones((1, 2)), "b": np.ones((1, 3)), "c": np.ones((1, 2))}
    assert people.comparable(BOARD, ranks, WORLD, TEST) == ["a"]


def test_ranks_are_medians_over_seeds_the_best_first():
    ranks = {"a": np.array([[7, 50], [1, 11], [2, 9]]), "b": np.array([[7, 10]])}
    table = people.ranks_of(BOARD, ranks, ["a", "b"], 1)
    assert table[["variant", "rank", "low", "high", "found"]].values.tolist() == [
        ["b", 10.0, 10, 10, True],
        ["a", 11.0, 9, 50, False],
    ]
