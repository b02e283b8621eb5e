from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from recsys.data import datasets, movielens_files
from recsys.data.assemble import TIES_SEED
from recsys.data.dataset import DataError
from recsys.data.split import LEAVE_ONE_OUT, UNTIED
from recsys.data.tie_breaking import shuffle_ties, user_time_order
from tests import toys


def tied(n_users=200, n_items=8, seconds=2):
    """Everybody rates all films within some seconds; the file has those of one second in ascending order."""
    user = np.repeat(np.arange(1, n_users + 1, dtype=np.int32), n_items)
    movie = np.tile(np.arange(1, n_items + 1, dtype=np.int32), n_users)
    films = pd.DataFrame({"movie_id": np.arange(1, n_items + 1)})
    return movielens_files.RawRatings(user, movie, movie.astype(np.float32), movie % seconds + np.int64(7), films)


def assembled(**how):
    return datasets.assemble("toy", tied(), **how)


def test_a_set_untied_later_is_the_one_that_was_drawn_when_it_was_read():
    later, sooner = shuffle_ties(assembled(), TIES_SEED), assembled(ties="drawn")
    toys.same(later, sooner)
    assert later.ties == sooner.ties == "drawn"


def test_ratings_and_times_stay_with_their_films_and_seconds_with_their_order():
    events = shuffle_ties(assembled(), 5).interactions
    assert (events.rating == events.item + 1).all()
    assert (np.diff(events.timestamp.reshape(-1, 8), axis=1) >= 0).all()


def test_what_is_drawn_already_is_not_drawn_again():
    with pytest.raises(DataError, match="already in random order; use --protocol full"):
        shuffle_ties(assembled(ties="drawn"), 0)


def test_every_seed_trains_and_is_measured_on_a_drawing_of_its_own():
    world = assembled()
    splits = [UNTIED(world, seed) for seed in (0, 1)]
    for seed, split in enumerate(splits):
        whole = shuffle_ties(world, seed)
        assert split.test.targets.tolist() == [history[-1] for history in whole.histories]
        assert split.valid.targets.tolist() == [history[-2] for history in whole.histories]
        assert [history.tolist() for history in split.train.histories] == [h[:-2].tolist() for h in whole.histories]
        assert split.description == {"name": "untied"}
    assert (splits[0].test.targets != splits[1].test.targets).any()
    assert UNTIED(world, 1) is splits[1]  # computed once
    assert LEAVE_ONE_OUT(world, 1) is LEAVE_ONE_OUT(world, 0)


def test_what_people_meet_learnt_no_order_that_the_file_leaks():
    leaking = ["ml-1m", "ml-10m", "ml-20m", "ml-25m", "ml-32m"]
    assert [name for name in datasets.PUBLISHED if datasets.serving_splitting(name) is UNTIED] == leaking
    assert datasets.serving_splitting("a set of one's own") is LEAVE_ONE_OUT


def test_drawings_do_not_depend_on_how_people_and_films_are_numbered():
    """Half the people, and one film fewer: the others keep their order."""
    whole = shuffle_ties(assembled(), 3)
    raw = tied()
    few = raw.select(np.flatnonzero((raw.user % 2 == 0) & (raw.movie != 4)))
    part = shuffle_ties(datasets.assemble("toy", few), 3)
    for history, user in zip(part.histories, part.user_ids, strict=True):
        ids = [film + 1 for film in whole.history(user - 1).tolist() if film + 1 != 4]
        assert part.catalog.movie_ids[history].tolist() == ids


def test_a_set_without_ties_stays_as_it_is():
    world = toys.cycle()
    toys.same(shuffle_ties(world, 1), replace(world, ties="drawn"))


def test_times_in_milliseconds_of_millions_of_people_are_sorted_with_the_fast_key(monkeypatch):
    user = np.array([4_000_000, 2, 2, 1], np.int32)
    timestamp = 1_700_000_000_000 + np.array([0, 9, 5, 7])
    monkeypatch.setattr(np, "lexsort", None)
    assert user_time_order(user, timestamp).tolist() == [3, 2, 1, 0]
    assert user_time_order(user[:0], timestamp[:0]).tolist() == []
