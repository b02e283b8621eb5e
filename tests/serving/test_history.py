import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys.serving.history import (
    MAX_FILMS,
    MAX_ID_CHARS,
    MAX_SAMPLE_LISTS,
    UnknownTitleError,
    available_sample_lists,
    count_films_in_link,
    from_url_params,
    newest_that_fit,
    parse_titles,
    sample_lists,
    sample_user,
    to_url_params,
)
from recsys.serving.search.search import split_year
from tests import toys
from tests.serving.search.test_search import FILMS, film_table, make_index

INDEX = make_index(FILMS, [("The Unseen", 1980)])
CATALOG = toys.Catalog(toys.catalog(5).movies, film_table([("The Unseen", 1980)], 1001))  # films 100 to 104


def test_titles_become_items_in_the_order_given():
    items, notes = parse_titles(INDEX, ["Matrix, The (1999)", "toy story", "Seven (1995)", "toy story"])
    assert [FILMS[item][0] for item in items] == ["The Matrix", "Toy Story", "Seven (a.k.a. Se7en)", "Toy Story"]
    assert notes == []


def test_no_titles_are_an_empty_history():
    assert parse_titles(INDEX, []) == ([], [])


def test_a_link_has_the_newest_films_that_fit_and_says_how_many_do_not():
    catalog = toys.catalog(3_000)
    link = to_url_params("toy", catalog, range(3_000))["s"]
    assert len(link) <= MAX_ID_CHARS + len("e3000-")
    items, notices = from_url_params({"s": link}, catalog)
    assert items == list(range(3_000 - len(items), 3_000))
    assert len(items) == count_films_in_link(catalog, range(3_000)) > MAX_ID_CHARS // 6
    earlier = 3_000 - len(items)
    assert [str(notice) for notice in notices] == [
        f"The link had room for the latest {len(items):,} films, not for the {earlier:,} before them."
    ]
    assert count_films_in_link(catalog, range(5)) == 5
    assert newest_that_fit(["1", "22", "333"], 6) == ["22", "333"]
    assert newest_that_fit(["1", "22", "333"], 5) == ["333"]


def test_a_title_of_several_films_is_the_most_popular_one_and_says_so():
    items, notes = parse_titles(INDEX, ["heat"])
    assert FILMS[items[0]] == ("Heat", 1995, 400)
    assert notes == ["“heat” was read as Heat (1995); other films with this title: The Heat (2013), Heat (1986)"]


def test_an_unknown_title_is_refused_with_the_nearest_ones():
    with pytest.raises(UnknownTitleError) as error:
        parse_titles(INDEX, ["Toy Stroy (1995)"])
    assert str(error.value) == "no film is called “Toy Stroy (1995)”; did you mean Toy Story (1995)?"
    with pytest.raises(UnknownTitleError, match=r"did you mean Toy Story \(1995\)"):
        parse_titles(INDEX, ["Toy Story (1911)"])


@pytest.mark.parametrize("title", ["", "?", "qqqqqqqq", "<script>", "x" * 10_000])
def test_a_title_like_no_other_is_refused_in_one_short_line(title):
    with pytest.raises(UnknownTitleError, match=r"^no film is called .*check the spelling") as error:
        parse_titles(INDEX, [title])
    assert len(str(error.value)) < 200


def test_a_film_left_out_of_training_is_taken_and_said_so():
    items, notes = parse_titles(INDEX, ["unseen"])
    assert items == [len(FILMS)]
    assert notes == ["The Unseen (1980) has too few ratings to learn from, so the most similar film is used instead"]


def test_a_link_holds_movielens_ids_and_gives_the_sequence_back():
    link = to_url_params("toy", CATALOG, [3, 0, 4])
    assert link == {"data": "toy", "s": "103-100-104"}
    assert from_url_params(link, CATALOG) == ([3, 0, 4], [])


def test_the_link_of_an_empty_sequence_is_short():
    assert to_url_params("toy", CATALOG, []) == {"data": "toy"}
    assert from_url_params({"data": "toy"}, CATALOG) == ([], [])


@pytest.mark.parametrize(
    ("link", "items", "notice"),
    [
        ("103-7-100", [3, 0], "Skipped 1 film in the link: not in this data set."),
        ("103-7-8", [3], "Skipped 2 films in the link: not in this data set."),
        ("103-100-103", [3, 0], "Films that are in the link more than once are added only once."),
        ("103--100", [3], "Part of the link could not be read and was skipped."),
        ("-103", [], "Part of the link could not be read and was skipped."),
        ("NaN-103", [3], "Part of the link could not be read and was skipped."),
        ("../../etc/passwd", [], "Part of the link could not be read and was skipped."),
        ("<script>-103", [3], "Part of the link could not be read and was skipped."),
        ("1e2-103", [3], "Part of the link could not be read and was skipped."),
        ("١٠٣-103", [3], "Part of the link could not be read and was skipped."),
        ("9" * 10_000, [], "Part of the link could not be read and was skipped."),
        ("-".join(["103"] * 2_500), [3], "Films that are in the link more than once are added only once."),
    ],
)
def test_what_a_link_cannot_mean_is_skipped_with_one_sentence(link, items, notice):
    found, notices = from_url_params({"s": link}, CATALOG)
    assert (found, [str(notice) for notice in notices]) == (items, [notice])


def test_each_kind_of_part_that_is_skipped_is_named_once():
    items, notices = from_url_params({"s": "7-103-x-8-103-y"}, CATALOG)
    assert items == [3]
    assert len(notices) == len(set(notices)) == 3


def test_a_link_may_hold_films_that_training_left_out():
    assert from_url_params({"s": "1001-103"}, CATALOG) == ([5, 3], [])
    assert to_url_params("toy", CATALOG, [5, 3]) == {"data": "toy", "s": "1001-103"}


def test_a_very_long_link_keeps_its_newest_films():
    catalog = toys.catalog(MAX_FILMS + 5)
    items, notices = from_url_params({"s": "-".join(str(movie) for movie in catalog.movie_ids)}, catalog)
    assert items == list(range(5, MAX_FILMS + 5))
    assert [str(notice) for notice in notices] == ["The link has too many films; only the latest 1,000 are used."]


@given(st.text() | st.text("0123456789-", max_size=40))
def test_no_link_raises(text):
    items, notices = from_url_params({"s": text}, CATALOG)
    assert set(items) <= set(range(5))
    assert all(str(notice).endswith(".") for notice in notices)


def world_with(*names):
    """A title index over the films of some examples."""
    titles = [split_year(title) for name in names for title in sample_lists()[name][1]]
    return make_index([(title, year, 1) for title, year in titles], [])


def test_examples_keep_the_films_that_the_data_set_has():
    index = world_with("The great classics", "Nineties crime films")
    lists = available_sample_lists(index)
    assert [sample.name for sample in lists] == ["The great classics", "Nineties crime films"]
    assert [len(sample.items) for sample in lists] == [6, 6]


def test_an_example_of_which_too_few_films_are_there_is_not_offered():
    assert available_sample_lists(INDEX) == []  # it has Seven and Heat, but no GoodFellas
    assert available_sample_lists(make_index([("Nothing", 2000, 1)], [])) == []


def test_films_of_today_come_first_and_older_lists_stand_in_where_they_are_missing():
    names = list(sample_lists())
    assert [sample.name for sample in available_sample_lists(world_with(*names))] == names[:MAX_SAMPLE_LISTS]
    newest = [max(split_year(title)[1] for title in titles) for _, titles in sample_lists().values()]
    assert min(newest[:4]) >= 2017
    assert all(
        max(split_year(title)[1] for title in sample_lists()[name][1]) <= 1997 for name in list(sample_lists())[-3:]
    )


def test_a_random_viewer_is_somebody_of_the_data_with_their_newest_films():
    world = toys.dataset([[], [0, 1, 2, 3, 4], [4, 3, 2, 1, 0]], n_items=5)
    drawn = [sample_user(world, np.random.default_rng(seed), n_newest=3) for seed in range(20)]
    assert {viewer.items for viewer in drawn} == {(2, 3, 4), (2, 1, 0)}
    assert {viewer.n_watched for viewer in drawn} == {5}
    assert drawn[7] == sample_user(world, np.random.default_rng(7), n_newest=3)


def test_a_film_that_a_viewer_watched_twice_counts_once_at_its_last_place():
    viewer = sample_user(toys.dataset([[1, 0, 2, 1]], n_items=3), np.random.default_rng(0))
    assert (viewer.items, viewer.n_watched) == ((0, 2, 1), 3)


def test_among_people_who_watched_nothing_there_is_no_viewer():
    assert sample_user(toys.dataset([[], []], n_items=3), np.random.default_rng(0)) is None
