import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys.data.schema import DataError
from recsys.data.split import leave_one_out
from tests import toys


def test_the_last_film_is_test_and_the_last_but_one_validation():
    split = leave_one_out(toys.dataset([[0, 1, 2, 3], [4, 3, 2]], n_items=5))
    assert split.test.targets.tolist() == [3, 2]
    assert [history.tolist() for history in split.test.queries.histories] == [[0, 1, 2], [4, 3]]
    assert split.valid.targets.tolist() == [2, 3]
    assert [history.tolist() for history in split.valid.queries.histories] == [[0, 1], [4]]
    assert [history.tolist() for history in split.train.histories] == [[0, 1], [4]]


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
