"""`redraw`: films of one second stand in another order in each epoch, where the order had been drawn before."""

from dataclasses import replace

import numpy as np
import pytest

from recsys.models import registry
from recsys.models.side import UNKNOWN
from recsys.training.options import RunOptions
from tests import toys
from tests.models.configs import changed

SECONDS = np.array([0, 0, 0, 0, 5, 6, 6, 6])  # of the eight films of each person


def world(ties="drawn"):
    data = toys.dataset([np.arange(8) + 8 * person for person in range(3)], 24)
    times = np.concatenate([SECONDS + 1000 * person for person in range(3)])
    ratings = (1 + np.arange(24) % 5).astype(np.float32)
    events = replace(data.interactions, timestamp=times, rating=ratings)
    return replace(data, interactions=events, ties=ties)


def task(data, name="sasrec-softmax", **settings):
    variant = registry.get(name)
    model = variant.model(changed(variant.preset(""), redraw=True, length=10, dim=8, **settings))
    model.module = model.build(data.n_items)
    return model._task(data, None, RunOptions(seed=0))


def shown(made, epoch):
    """Person → the films that an epoch shows, oldest first."""
    (batch,) = made.batches(epoch)
    return {int(own[1]) // 8: own[(own < 24).numpy()].tolist() for own in batch.tokens}


def test_only_films_of_one_second_change_places_and_they_do():
    made = task(world())
    epochs = [shown(made, epoch) for epoch in range(6)]
    for person in range(3):
        orders = {tuple(epoch[person]) for epoch in epochs}
        assert len(orders) > 3
        for order in orders:
            seconds = [SECONDS[film - 8 * person] for film in order]
            assert seconds == sorted(seconds)
    assert epochs[0] == shown(task(world()), 0)  # an epoch can be repeated


def test_an_order_that_was_not_drawn_stays():
    made = task(world("file"))
    for epoch in range(3):
        assert shown(made, epoch) == {person: list(range(8 * person, 8 * person + 7)) for person in range(3)}


def test_the_stars_move_with_their_films():
    (batch,) = task(world(), "sasrec-side", stars=True).batches(1)
    known = batch.rating_ids != UNKNOWN
    films = batch.tokens[(batch.tokens < 24) & known]
    stars = batch.rating_ids[(batch.tokens < 24) & known]
    by_stars = {int(film) % 5: int(code) for film, code in zip(films, stars, strict=True)}
    assert len(by_stars) == 5
    assert all(by_stars[int(film) % 5] == code for film, code in zip(films, stars, strict=True))
    assert len(set(by_stars.values())) == 5


@pytest.mark.parametrize("name", ["sasrec-softmax", "bert4rec"])
def test_a_model_that_redraws_learns_from_times(name):
    config = registry.get(name).preset("")
    assert registry.get(name).model(changed(config, redraw=True)).uses_times_or_ratings
    assert not registry.get(name).model(config).uses_times_or_ratings
