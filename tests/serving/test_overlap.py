from recsys.serving import overlap

LISTS = {"a": [1, 2, 3], "b": [3, 2, 9], "c": [7, 8, 3]}


def test_films_are_counted_once_per_list():
    assert overlap.appearances({"a": [1, 1, 2], "b": [2]}) == {1: 1, 2: 2}


def test_the_table_holds_what_each_two_lists_share():
    table = overlap.shared(LISTS)
    assert table.loc["a", "b"] == table.loc["b", "a"] == 2
    assert table.loc["a", "c"] == 1
    assert table.loc["c", "c"] == 3


def test_the_closest_two_lists_share_the_most():
    assert overlap.closest(LISTS) == ("a", "b", 2)
    assert overlap.closest({"alone": [1]}) is None
