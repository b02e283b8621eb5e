from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys.data import statistics
from recsys.data.dataset import Catalog
from recsys.evaluation.file_order import ConsecutivePairs
from tests import toys

DAY = 86_400


def with_times(dataset, *seconds, ratings=None):
    events = replace(dataset.interactions, timestamp=np.array(seconds, np.int64))
    if ratings:
        events = replace(events, rating=np.array(ratings, np.float32))
    return replace(dataset, interactions=events)


def test_the_size_counts_people_films_and_ratings_and_how_full_the_table_of_both_is():
    found = statistics.size(with_times(toys.dataset([[0, 1, 2], [3]], 5), 10, 20, 30, 5))
    assert (found.users, found.films, found.infrequent_films, found.ratings) == (2, 5, 0, 4)
    assert (found.first_time, found.last_time) == (5, 30)
    assert found.density == pytest.approx(4 / 10)


def test_lengths_have_a_median_a_tenth_that_is_longer_and_bins_with_everybody():
    world = toys.dataset([list(range(n)) for n in (1, 2, 3, 4, 100)], 100)
    found = statistics.lengths(world)
    assert (found.median, found.shortest, found.longest) == (3, 1, 100)
    assert found.p90 == pytest.approx(np.percentile([1, 2, 3, 4, 100], 90))
    assert found.table["people"].sum() == 5
    first = found.table.iloc[0]
    assert (first["from"], first["to"], first["people"]) == (1, 1, 1)
    last = found.table.iloc[-1]
    assert last["from"] <= 100 == last["to"]


def test_bins_of_lengths_cover_every_length_once():
    table = statistics.lengths(toys.dataset([list(range(n)) for n in range(5, 60)], 60)).table
    assert table["from"].iloc[0] == 5
    assert table["to"].iloc[-1] == 59
    assert (table["from"].iloc[1:].to_numpy() == table["to"].iloc[:-1].to_numpy() + 1).all()
    assert (table["people"] == table["to"] - table["from"] + 1).all()  # one person of each length


def test_people_who_all_watched_equally_many_are_one_bin():
    table = statistics.lengths(toys.dataset([[0, 1, 2]] * 4, 3)).table
    assert table.to_numpy().tolist() == [[3, 3, 4]]


def test_where_all_films_are_watched_equally_there_is_no_tail():
    found = statistics.long_tail(np.full(100, 7))
    assert found.gini == pytest.approx(0)
    assert found.rating_share_of_top == pytest.approx({0.01: 0.01, 0.10: 0.10, 0.20: 0.20})
    assert found.curve["ratings"].to_numpy() == pytest.approx(found.curve["films"].to_numpy())


def test_where_one_film_has_it_all_the_tail_is_as_long_as_can_be():
    found = statistics.long_tail(np.array([0] * 99 + [50]))
    assert found.gini == pytest.approx(99 / 100)
    assert found.rating_share_of_top[0.01] == 1


def test_the_long_tail_worked_by_hand():
    found = statistics.long_tail(np.array([1, 6, 3]))
    assert found.curve.to_numpy() == pytest.approx(np.array([[0, 0], [1 / 3, 0.6], [2 / 3, 0.9], [1, 1]]))
    assert found.gini == pytest.approx(10 / 30)  # (5 + 2 + 3) / 9, half the mean difference, by 10 / 3


@given(st.lists(st.integers(0, 50), min_size=1, max_size=40).filter(any))
def test_the_gini_is_half_the_mean_difference_of_all_pairs_by_the_mean(counts):
    table = np.array(counts, float)
    expected = np.abs(table[:, None] - table).mean() / 2 / table.mean()
    assert statistics.long_tail(np.array(counts)).gini == pytest.approx(expected)


def test_decades_count_films_and_how_often_they_were_watched():
    world = toys.dataset([[0, 1, 2, 3], [0, 0, 2]], 5)
    movies = world.catalog.movies.assign(year=pd.array([1979, 1995, 1999, None, 1971], dtype="Int64"))
    table = statistics.decades(replace(world, catalog=Catalog(movies, movies.iloc[:0])))
    assert table.to_numpy().tolist() == [[1970, 2, 3], [1980, 0, 0], [1990, 2, 3]]


def test_a_film_counts_for_each_of_its_genres():
    world = with_times(toys.dataset([[0, 1, 2], [0]], 4), 0, 0, 0, 0, ratings=[5, 3, 1, 4])
    movies = world.catalog.movies.assign(genres=["Comedy|Drama", "Drama", "", "War"])
    table = statistics.genres(replace(world, catalog=Catalog(movies, movies.iloc[:0]))).set_index("genre")
    assert table.index.tolist() == ["Drama", "Comedy", "War"]
    assert table["films"].tolist() == [0.5, 0.25, 0.25]
    assert table["ratings"].tolist() == [0.75, 0.5, 0]
    assert table["rating"].tolist() == pytest.approx([4, 4.5, np.nan], nan_ok=True)


def test_ratings_over_a_few_years_are_counted_by_month_and_over_many_by_year():
    world = toys.dataset([[0, 1], [2, 3]], 4)
    months = statistics.over_time(with_times(world, 0, 31 * DAY, 1, 2))
    assert months.to_numpy().tolist() == [["1970-01", 3, 2], ["1970-02", 1, 1]]
    years = statistics.over_time(with_times(world, 0, 10 * 366 * DAY, 1, 2))
    assert years["when"].tolist() == [str(year) for year in range(1970, 1981)]
    assert years["ratings"].tolist() == [3, *[0] * 9, 1]


def test_stars_are_shares_of_all_ratings():
    world = with_times(toys.dataset([[0, 1, 2, 3]], 4), 0, 0, 0, 0, ratings=[5, 0.5, 5, 3])
    assert statistics.stars(world).to_numpy().tolist() == [[0.5, 0.25], [3, 0.25], [5, 0.5]]


def test_a_set_whose_ratings_are_all_one_has_none():
    assert statistics.stars(with_times(toys.dataset([[0, 1]], 2), 0, 0, ratings=[1, 1])).empty


def test_gaps_are_between_neighbours_of_one_person_alone():
    world = toys.dataset([[0, 1, 2, 3, 4], [0, 1]], 5)
    table = statistics.gaps(with_times(world, 0, 0, 59, 120, 2 * DAY, 2 * DAY, 2 * DAY + 3600))
    assert dict(table.to_numpy().tolist()) == pytest.approx(
        {"the same second": 1 / 5, "under a minute": 1 / 5, "under an hour": 1 / 5, "under a day": 1 / 5}
        | {"a day or more": 1 / 5}
    )


def test_the_share_of_one_second_is_that_of_the_evaluation():
    rng = np.random.default_rng(0)
    world = toys.dataset([range(30)] * 5, 30)
    world = with_times(world, *np.sort(rng.integers(0, 40, (5, 30)), axis=1).ravel())
    assert statistics.gaps(world)["share"].iloc[0] == pytest.approx(ConsecutivePairs.from_dataset(world).is_tied.mean())


def test_a_set_without_years_and_genres_has_empty_tables():
    world = toys.dataset([[0, 1]], 2)
    movies = world.catalog.movies.assign(year=pd.array([None, None], dtype="Int64"), genres="")
    blank = replace(world, catalog=Catalog(movies, movies.iloc[:0]))
    for table in (statistics.decades, statistics.genres):
        assert table(blank).empty


def test_where_rows_stand_for_times_nothing_is_said_of_times():
    rows = replace(toys.dataset([[0, 1, 2]], 3), ties="rows")
    assert (statistics.size(rows).first_time, statistics.size(rows).last_time) == (0, 0)
    assert statistics.over_time(rows).empty
    assert statistics.gaps(rows).empty
