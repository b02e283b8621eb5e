"""People of another set learn along, but nobody who is in both."""

import numpy as np
import pytest

from recsys import paths
from recsys.data import datasets, movielens_files
from recsys.data.assemble import MIN_SHARED_RATINGS, add_users_from, shared_users
from recsys.data.dataset import DataError, Interactions
from recsys.data.split import leave_one_out
from tests import toys
from tests.data import archives

FILMS, LENGTH = 12, 8


def world(histories, start=1_000_000_000, name="toy"):
    """People with these histories; person u watched film i of theirs at start + 1,000 u + i."""
    made = toys.dataset(histories, FILMS, name)
    places = np.concatenate([np.arange(len(history)) for history in histories])
    events = made.interactions
    times = start + 1_000 * events.user.astype(np.int64) + places
    return toys.replace(made, interactions=Interactions(events.user, events.item, events.rating, times))


def shifted(dataset, user, by):
    """The same set with another time for all films of one person."""
    events = dataset.interactions
    times = np.where(events.user == user, events.timestamp + by, events.timestamp)
    return toys.replace(dataset, interactions=Interactions(events.user, events.item, events.rating, times))


HERE = world([[0, 1, 2, 3, 4, 5], [6, 7, 8, 9]])


def test_whoever_shares_five_ratings_to_the_second_is_in_both():
    assert MIN_SHARED_RATINGS == 5
    other = world([[0, 1, 2, 3, 4, 11], [6, 7, 8, 9]])  # the first shares five ratings, the second four
    assert shared_users(HERE, other).tolist() == [0]
    assert shared_users(HERE, shifted(other, 0, by=1)).tolist() == []


def test_five_ratings_shared_with_five_people_are_no_person():
    here = world([[film] for film in range(6)])
    times = np.array([here.interactions.timestamp[film] for film in range(6)])
    other = toys.dataset([list(range(6))], FILMS)
    events = other.interactions
    other = toys.replace(other, interactions=Interactions(events.user, events.item, events.rating, times))
    assert shared_users(here, other).tolist() == []


def test_the_others_come_after_ones_own_and_whoever_is_in_both_does_not():
    train = leave_one_out(HERE).train
    other = world([[0, 1, 2, 3, 4, 11], [9, 8, 7], [5, 4]])
    joined = add_users_from(other, train, HERE)
    assert [history.tolist() for history in joined.histories] == [[0, 1, 2, 3], [6, 7], [9, 8, 7], [5, 4]]
    assert joined.user_ids.tolist() == [1, 2, -3, -4]
    assert joined.catalog is train.catalog
    assert shared_users(HERE, other).tolist() == [0]


def test_people_are_described_by_whichever_set_describes_its_own():
    train = leave_one_out(HERE).train
    other = world([[0, 1, 2, 3, 4, 11], [9, 8, 7], [5, 4]])
    own, more = [["F", "18-24", "artist"], ["M", "56+", ""]], [["M", "", "x"], ["F", "", "y"], ["M", "", "z"]]
    known, others = toys.described(train, *own), toys.described(other, *more)
    assert add_users_from(other, train, HERE).user_profiles is None
    assert add_users_from(other, known, HERE).user_profiles.values.tolist() == [*own, ["", "", ""], ["", "", ""]]
    assert add_users_from(others, known, HERE).user_profiles.values.tolist() == [*own, *more[1:]]
    assert add_users_from(others, train, HERE).user_profiles.values.tolist() == [["", "", ""], ["", "", ""], *more[1:]]


def test_films_that_this_set_does_not_have_are_dropped_and_others_keep_their_ids():
    few = toys.replace(HERE.catalog, movies=HERE.catalog.movies.iloc[[0, 2, 5]].reset_index(drop=True))
    small = toys.replace(toys.dataset([[0, 1, 2]], 3), catalog=few)
    joined = add_users_from(shifted(world([[5, 4, 0]]), 0, by=50), small, small)
    assert joined.histories[1].tolist() == [2, 0]


def test_nothing_is_learnt_from_after_the_training_part_ends():
    other = shifted(world([[9, 8, 7]]), 0, by=10)
    until = int(other.interactions.timestamp[1])
    assert add_users_from(other, HERE, HERE, until).histories[2].tolist() == [9, 8]
    with pytest.raises(DataError, match="can be added to"):
        add_users_from(other, HERE, HERE, until=0)


def test_films_of_one_second_are_put_in_a_drawn_order():
    people = 40
    other = toys.dataset([[9, 8, 7]] * people, FILMS)
    events = other.interactions
    still = Interactions(events.user, events.item, events.rating, np.full(3 * people, 5))
    joined = add_users_from(toys.replace(other, interactions=still), HERE, HERE)
    assert len({tuple(history.tolist()) for history in joined.histories[2:]}) == 6


def test_nobody_of_the_set_that_comes_with_the_project_is_left_in_one_that_holds_half_of_them(tmp_path):
    """On the real data: every second person copied into another set, with all they rated; none is taken from there."""
    path = paths.ASSETS / "data" / f"{datasets.DEFAULT_DATASET}.zip"
    with movielens_files.open_archive(path, "the sample", is_verified=True) as archive:
        raw = movielens_files.parse_csv(archive)
    here = datasets.assemble(datasets.DEFAULT_DATASET, raw, ties="drawn")
    rows = np.flatnonzero(raw.user % 2 == 0)
    copied = movielens_files.RawRatings(
        raw.user[rows] + 10_000, raw.movie[rows], raw.rating[rows], raw.timestamp[rows], raw.films
    )
    other = datasets.assemble("other", copied)
    found = set(shared_users(here, other).tolist())
    lengths = np.diff(other.offsets)
    assert all(user in found or length < MIN_SHARED_RATINGS for user, length in enumerate(lengths.tolist()))
    joined = add_users_from(other, leave_one_out(here).train, here)
    added = joined.interactions.select(joined.interactions.user >= here.n_users)
    left = toys.replace(joined, interactions=added)
    assert shared_users(here, left).tolist() == []


def test_the_archives_worlds_share_people(tmp_path):
    """Two layouts of one world hold the same people."""
    sets = []
    for number, (files, parse) in enumerate(
        ((archives.comma(), movielens_files.parse_csv), (archives.double_colon(), movielens_files.parse_dat))
    ):
        with movielens_files.open_archive(archives.write(tmp_path, files, f"{number}.zip"), "a test") as archive:
            sets.append(datasets.assemble("toy", parse(archive)))
    assert shared_users(*sets).tolist() == [0, 1, 2, 3, 4]
