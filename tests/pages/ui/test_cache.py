from contextlib import nullcontext
from dataclasses import replace

import pytest

from pages.library.filters import load_library
from pages.ui import cache
from pages.watch.import_review import matcher
from recsys import checkpoints
from recsys.data import film_details
from recsys.data.split import LEAVE_ONE_OUT
from recsys.models import registry
from recsys.serving.predictor import all_recommenders
from recsys.serving.recommend import Request, recommend
from tests import toys
from tests.models.configs import changed
from tests.pages import world
from tests.pages.reading import picks

SET = "ml-latest-sample"
LAST = len(world.TITLES) - 1  # of the films that models know


def train_otherwise():
    """Another checkpoint under the same name: everybody watches the films backwards."""
    forwards = world.build()
    backwards = replace(
        toys.dataset([history[::-1] for history in forwards.histories], forwards.n_items, forwards.name),
        catalog=forwards.catalog,
    )
    model = registry.get("bert4rec").model(changed(world.SIZES, epochs=3)).fit(LEAVE_ONE_OUT(backwards).train)
    checkpoints.save("bert4rec", model, forwards, seed=0)


def test_a_recommender_that_was_trained_again_predicts_otherwise_in_the_next_run(visit):
    app = visit(s="1-2-3")
    before = picks(app)
    app.run()
    assert picks(app) == before
    train_otherwise()
    app.run()
    assert not app.exception
    assert picks(app) != before


def test_a_predictor_is_kept_until_its_checkpoint_changes(home):
    first = cache.load_predictor("bert4rec", "ml-latest-sample")
    assert cache.load_predictor("bert4rec", "ml-latest-sample") is first
    train_otherwise()
    second = cache.load_predictor("bert4rec", "ml-latest-sample")
    assert second is not first
    assert second.key != first.key
    request = Request((0, 1, 2))
    assert [pick.item for pick in recommend(second, request)] != [pick.item for pick in recommend(first, request)]


def test_what_is_known_of_films_is_there_in_the_next_run(home):
    before = cache.load_predictor("bert4rec", SET)
    index = cache.title_index(SET)
    assert cache.dataset(SET) is cache.dataset(SET)
    film_details.write(SET, {1: {"titles": ["Зоряні війни"]}})
    assert cache.dataset(SET).catalog.details.get(1).titles == ("Зоряні війни",)
    assert cache.dataset(SET) is cache.dataset(SET)
    assert index.search("зоряні") == []
    assert cache.title_index(SET).search("зоряні")[0].number == 0
    after = cache.load_predictor("bert4rec", SET)
    assert after is not before
    assert after.key != before.key
    assert cache.load_predictor("bert4rec", SET) is after


def test_nothing_of_a_set_that_was_replaced_is_kept(home):
    made = (cache.dataset, cache.title_index, cache.catalog_index, matcher, load_library)
    before = [make(SET) for make in made]
    assert [make(SET) for make in made] == before
    popular = cache.load_predictor("popular", SET)
    world.save(world.build(SET, [*world.TITLES[:-1], "Amadeus (1984)"]))
    assert not any(new is old for new, old in zip([make(SET) for make in made], before, strict=True))
    assert cache.title_index(SET).find_exact("Amadeus (1984)")
    assert cache.load_predictor("popular", SET).dataset.catalog.films[LAST].label == "Amadeus (1984)"
    assert popular.dataset.catalog.films[LAST].label == world.TITLES[-1]


def test_only_the_first_to_wait_is_told_so(home, monkeypatch):
    told = []
    monkeypatch.setattr(cache, "_loaded", set())
    monkeypatch.setattr(cache.st, "spinner", lambda sentence: told.append(sentence) or nullcontext())
    for _ in range(3):
        cache.all_recommenders()
        cache.load_predictor("popular", SET)
    assert told == ["Loading recommenders", "Loading the recommender. The first time takes a moment."]


def test_what_is_made_of_one_set_is_not_taken_for_something_else(home):
    world.save(world.build("ml-latest-small", world.TITLES[:20]))
    assert cache.dataset("ml-latest-small").name == "ml-latest-small"
    assert (len(cache.title_index(SET)), len(cache.title_index("ml-latest-small"))) == (len(world.TITLES) + 1, 21)


@pytest.mark.parametrize("sets", [3])
def test_the_cache_holds_all_recommenders_of_three_data_sets(sets):
    assert sets * len(all_recommenders()) <= cache.MAX_PREDICTORS
