from recsys.data.dataset import Film
from recsys.serving.insight import overlap
from recsys.serving.recommend import Recommendation

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


def test_a_film_of_one_list_alone_is_named_there():
    assert overlap.only(LISTS) == {"a": [1], "b": [9], "c": [7, 8]}


def test_the_table_for_a_file_counts_the_lists_of_each_film():
    def pick(rank, item):
        return Recommendation(rank, item, Film(item + 100, f"Film {item}", None, ""), 0.0, None)

    table = overlap.table({"a": [pick(1, 5), pick(2, 6)], "b": [pick(1, 6)]})
    assert table[["recommender", "rank", "movie_id", "lists"]].to_numpy().tolist() == [
        ["a", 1, 105, 1],
        ["a", 2, 106, 2],
        ["b", 1, 106, 2],
    ]
