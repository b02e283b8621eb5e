"""The lifts of pairs of films by the distance of their release years."""

from dataclasses import replace

import numpy as np
import pytest

from recsys.models import release_years
from recsys.models.release_years import ReleaseYears
from tests import toys

N_YEARS = 40  # with 5 films each; film i is of the year 1980 + i // 5


def dataset(histories):
    """A data set in which each film has a year."""
    world = toys.dataset(histories, N_YEARS * 5)
    years = 1980 + np.arange(N_YEARS * 5) // 5
    return replace(world, catalog=replace(world.catalog, movies=world.catalog.movies.assign(year=years)))


def test_films_of_the_same_year_are_discounted_if_users_watch_the_films_of_a_year_together():
    """Each user watches all films of one year and some films of any year."""
    rng = np.random.default_rng(0)
    histories = []
    for user in range(400):
        year = user % N_YEARS
        of_year = 5 * year + np.arange(5)
        histories.append(rng.permutation(np.union1d(of_year, rng.choice(N_YEARS * 5, 10, replace=False))))
    table = ReleaseYears.from_dataset(dataset(histories))
    assert (table.log_lifts[5:-5, 0] > 0.7).all()  # more than twice as often
    assert (table.log_lifts[5:-5, 1:] < 0.3).all()
    means = table.mean_log_lifts(np.array([100]))
    assert means[[101, 104]] == pytest.approx(table.log_lifts[20, 0])
    assert means[[0, 199]] == pytest.approx(0)
    both = table.mean_log_lifts(np.array([100, 0]))
    assert both[101] == pytest.approx(table.log_lifts[20, 0] / 2)


def test_a_preference_for_an_era_is_no_reason_for_a_discount():
    """Each user watches films of a random era of 20 years."""
    rng = np.random.default_rng(0)
    starts = rng.integers(0, (N_YEARS - 20) * 5, 600)
    table = ReleaseYears.from_dataset(dataset([start + rng.choice(100, 15, replace=False) for start in starts]))
    assert (table.log_lifts[10:-10] < 0.25).all()


def test_without_years_nothing_is_discounted():
    world = dataset([np.arange(10)] * 5)
    world = replace(world, catalog=replace(world.catalog, movies=world.catalog.movies.assign(year=np.nan)))
    assert not ReleaseYears.from_dataset(world).mean_log_lifts(np.array([1, 2])).any()
    one_year = replace(
        world, catalog=replace(world.catalog, movies=world.catalog.movies.assign(year=[1999] + [np.nan] * 199))
    )
    assert ReleaseYears.from_dataset(one_year).log_lifts.shape == (1, release_years.N_DISTANCES)


def test_the_stored_table_is_the_same():
    table = ReleaseYears.from_dataset(dataset([np.arange(20), np.arange(10, 60)]))
    copy = ReleaseYears.from_state(table.state(), N_YEARS * 5)
    np.testing.assert_array_equal(copy.mean_log_lifts(np.array([12])), table.mean_log_lifts(np.array([12])))
    assert not ReleaseYears.from_state({}, 3).mean_log_lifts(np.array([1])).any()  # of an older version
