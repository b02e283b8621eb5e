from dataclasses import replace

import numpy as np

from tests import toys

WORLD = toys.dataset([[0, 1, 2], [2, 1]], 3)


def changed(**columns):
    return replace(WORLD, interactions=replace(WORLD.interactions, **columns))


def test_the_fingerprint_is_that_of_the_sequences_alone():
    times, ratings = np.arange(5, dtype=np.int64), np.ones(5, np.float32)
    assert changed(timestamp=times, rating=ratings).fingerprint == WORLD.fingerprint
    assert toys.dataset([[0, 1, 2], [1, 2]], 3).fingerprint != WORLD.fingerprint
    assert toys.dataset([[0, 1], [2, 2, 1]], 3).fingerprint != WORLD.fingerprint


def test_the_fingerprint_of_details_also_covers_times_and_ratings():
    times, ratings = np.arange(5, dtype=np.int64), np.ones(5, np.float32)
    others = [changed(timestamp=times), changed(rating=ratings), toys.dataset([[0, 1, 2], [1, 2]], 3)]
    assert len({WORLD.full_fingerprint, *(other.full_fingerprint for other in others)}) == 4
    assert toys.dataset([[0, 1, 2], [2, 1]], 3).full_fingerprint == WORLD.full_fingerprint


def test_data_sets_are_compared_by_identity():
    assert toys.dataset([[0, 1, 2], [2, 1]], 3) != WORLD
    assert len({WORLD, WORLD, replace(WORLD)}) == 2
