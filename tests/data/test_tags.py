import numpy as np

from recsys.data.tags import Tags
from tests import toys

GIVEN = [
    (100, "Dark", 5),
    (101, "slow", 1),
    (100, " dark  ", 9),
    (100, "blue  note", 2),
    (100, "   ", 1),
    (999, "x", 1),
]


def test_upper_case_and_blanks_make_no_other_tag_and_empty_ones_are_none():
    tags = Tags.from_rows(GIVEN)
    assert tags.texts == ("blue note", "dark", "slow", "x")
    assert [tags.texts[tag] for tag in tags.tag_index] == ["dark", "slow", "dark", "blue note", "x"]
    assert tags.timestamp.tolist() == [5, 1, 9, 2, 1]
    assert len(tags) == 5


def test_the_most_frequent_tag_comes_first_and_ties_are_alphabetical():
    assert Tags.from_rows(GIVEN).most_frequent() == {100: "dark, blue note", 101: "slow", 999: "x"}
    assert Tags.from_rows([(1, "b", 0), (1, "a", 0)]).most_frequent() == {1: "a, b"}


def test_only_tags_given_before_a_time_count():
    assert Tags.from_rows(GIVEN).before(9).most_frequent()[100] == "blue note, dark"
    assert Tags.from_rows(GIVEN).before(2).most_frequent() == {101: "slow", 999: "x"}
    assert Tags.from_rows(GIVEN).before(1).most_frequent() == {}


def test_a_catalogue_as_of_a_time_has_the_tags_given_before_and_else_the_same_films():
    tagged = toys.tagged(toys.catalog(3), Tags.from_rows(GIVEN))
    assert tagged.movies["tags"].tolist() == ["dark, blue note", "slow", ""]
    earlier = tagged.as_of(5)
    assert earlier.movies["tags"].tolist() == ["blue note", "slow", ""]
    assert earlier.movies["tags"].dtype == tagged.movies["tags"].dtype == "str"
    assert earlier.movies.drop(columns="tags").equals(tagged.movies.drop(columns="tags"))
    assert earlier.fingerprint == tagged.fingerprint
    assert np.array_equal(earlier.as_of(2).tags.timestamp, [1, 1])


def test_tags_without_times_are_not_known_to_be_earlier():
    films = toys.catalog(2)
    films.movies["tags"] = ["old or new", ""]
    assert films.as_of(2**40).movies["tags"].tolist() == ["", ""]
