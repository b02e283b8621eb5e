"""What a first visitor meets: the set and the weights that come with the project, on recent films."""

import pytest

from recsys.data import datasets
from recsys.serving import predictor
from recsys.serving.history import parse_titles
from recsys.serving.recommend import Request, recommend
from recsys.serving.search.search import TitleIndex
from tests.artifacts import available_names


@pytest.fixture(scope="module")
def first_set(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECSYS_HOME", str(tmp_path_factory.mktemp("home")))
        yield datasets.ensure(datasets.DEFAULT_DATASET)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bert4rec", "sasrec-softmax", "gru4rec-ce"])
@pytest.mark.parametrize("watched", [("Inception (2010)", "Interstellar (2014)"), ("Dunkirk (2017)", "Tenet (2020)")])
def test_recent_films_are_answered_with_recent_films_of_their_genres(first_set, name, watched):
    history, _ = parse_titles(TitleIndex(first_set.catalog, first_set.counts), watched)
    genres = {genre for item in history for genre in first_set.catalog.films[item].genres.split("|")}
    found = [one.film for one in recommend(predictor.load(name, first_set), Request(tuple(history)))]
    alike = [film for film in found if (film.year or 0) >= 2000 and genres & set(film.genres.split("|"))]
    assert len(alike) >= 3, [film.label for film in found]


def test_the_networks_that_come_with_the_set_belong_to_it(first_set):
    shipped = set(available_names(first_set.name))
    assert {"bert4rec", "sasrec-softmax", "gsasrec", "gru4rec-ce"} <= shipped
    for name in shipped:
        from recsys import checkpoints

        assert checkpoints.load_or_fit(name, first_set, reject_stale=True).config is not None
