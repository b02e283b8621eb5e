from dataclasses import replace

import numpy as np
import pytest

from recsys.data.dataset import Catalog
from recsys.serving import stand_ins
from recsys.serving.ratings import queries
from recsys.serving.recommend import Request, recommend
from tests import toys
from tests.serving.given import Given, Pulls, predictor, pulls

WORLD = toys.cycle(n_items=6)
RATED = ((0, 5.0), (1, 2.0))


def asked(history, ratings=(), read=True, world=WORLD):
    return queries(world, [np.array(history)], [ratings], read)


def test_a_model_that_reads_ratings_is_told_them_film_by_film():
    made = asked([1, 3, 0], RATED)
    assert made.histories[0].tolist() == [1, 3, 0]
    assert made.ratings[0] == pytest.approx([2, np.nan, 5], nan_ok=True)


def test_without_ratings_nothing_is_told():
    assert asked([1, 3, 0]).ratings is None


def test_a_model_that_reads_none_is_not_told_of_films_that_were_not_liked():
    made = asked([1, 3, 0], RATED, read=False)
    assert made.histories[0].tolist() == [3, 0]
    assert made.ratings is None


def test_everybody_has_their_own_ratings():
    made = queries(WORLD, [np.array([0, 1]), np.array([0, 1])], [RATED, ()], False)
    assert [history.tolist() for history in made.histories] == [[0], [0, 1]]


def test_films_that_stand_in_for_another_have_its_rating(monkeypatch):
    left_out = replace(WORLD, catalog=Catalog(WORLD.catalog.movies, toys.catalog(1).movies))
    monkeypatch.setattr(stand_ins, "nearest", lambda dataset, number: (2, 4))
    made = asked([6, 0], ((6, 4.0),), world=left_out)
    assert made.histories[0].tolist() == [2, 4, 0]
    assert made.ratings[0] == pytest.approx([4, 4, np.nan], nan_ok=True)


class Reads(Given):
    uses_query_ratings = True

    def score(self, queries):
        return np.array([np.append(stars, 0)[:1].repeat(6) * np.arange(6) for stars in queries.ratings])


def test_ratings_of_a_request_reach_the_model():
    shown = recommend(predictor(WORLD, Reads([0] * 6)), Request((1, 0), 1, ratings=RATED))
    assert shown[0].score == pytest.approx(2.0 * 5)


def test_a_film_that_was_not_liked_moves_nothing_and_stays_hidden():
    ready = predictor(WORLD, Pulls(pulls(f0_2=3.0, f1_4=9.0)))
    assert [film.item for film in recommend(ready, Request((0, 1), 1))] == [4]
    shown = recommend(ready, Request((0, 1), 6, ratings=RATED))
    assert shown[0].item == 2
    assert 1 not in [film.item for film in shown]
