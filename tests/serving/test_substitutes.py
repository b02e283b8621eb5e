"""Films that training left out: their nearest films stand in for them, and models of descriptions recommend them."""

from dataclasses import replace

import numpy as np
import pytest

from recsys.data.dataset import Catalog, Queries
from recsys.models import common_trait
from recsys.serving import predictor, substitutes
from recsys.serving.filters import Filters
from recsys.serving.recommend import Request, ServingError, recommend, to_queries
from tests import toys
from tests.serving.given import Given
from tests.serving.given import predictor as given_predictor

TITLES = ["Star Ship", "Star Ship II", "Blood House", "Quiet Village", "Old Village", "Heart"]
GENRES = ["Sci-Fi", "Sci-Fi", "Horror", "Drama", "Drama", "Romance"]
UNRATED, TERROR = 6, 7  # numbers of the two films that are left out


def table(titles, genres, first):
    films = toys.catalog(len(titles)).movies
    return films.assign(movie_id=np.arange(len(titles)) + first, title=titles, genres=genres, year=2000)


def world():
    data = toys.dataset([[0, 1, 2, 3], [1, 2, 3, 4], [3, 4, 5], [1, 0, 2]], 6)
    others = table(["Star Ship III", "Blood Village"], ["Sci-Fi", "Horror"], 200)
    return replace(data, catalog=Catalog(table(TITLES, GENRES, 100), others))


class Remembers(Given):
    """Keeps the histories that it was asked about."""

    def score(self, queries: Queries) -> np.ndarray:
        self.asked = [history.tolist() for history in queries.histories]
        return super().score(queries)


def test_a_film_that_is_not_in_english_is_replaced_by_a_film_in_its_language(monkeypatch):
    for languages, substitute in (({}, 1), ({200: "fr", 103: "fr"}, 3), ({200: "fr", 104: "ko"}, 4), ({103: "fr"}, 1)):
        monkeypatch.setattr(substitutes, "original_languages", lambda dataset, table=languages: table)
        assert substitutes.find_item(world(), UNRATED) == substitute


def test_films_without_a_similar_item_are_removed_for_models_that_read_items_if_others_remain(monkeypatch):
    similarities = {UNRATED: substitutes.MIN_SIMILARITY, TERROR: substitutes.MIN_SIMILARITY - 0.01}
    monkeypatch.setattr(
        substitutes, "_most_similar", lambda dataset, number: substitutes.Substitute(number - 5, similarities[number])
    )
    ratings = [np.array([1.0, 2.0, 3.0], np.float32), np.array([4.0], np.float32)]
    queries = Queries([np.array([4, TERROR, UNRATED]), np.array([TERROR])], ratings=ratings)
    items = substitutes.AllDatasetFilms(world()).to_items(queries)
    assert [history.tolist() for history in items.histories] == [[4, UNRATED - 5], [TERROR - 5]]
    assert [stars.tolist() for stars in items.ratings] == [[1, 3], [4]]
    assert substitutes.AllDatasetFilms(world()).to_items(Queries([np.array([3])])).ratings is None
    assert substitutes.are_kept(world(), [4, TERROR]) == [True, False]
    assert substitutes.are_kept(world(), [TERROR, TERROR]) == [True, True]


def test_content_and_traits_of_all_films_include_infrequent_ones(monkeypatch):
    monkeypatch.setattr(common_trait, "FREQUENT_TRAIT_SHARE", 1.0)
    all_films = substitutes.AllDatasetFilms(world())
    scores = all_films.content.score(Queries([np.array([TERROR])]))[0]
    assert scores[:6].argmax() == 2  # Blood House
    trait = all_films.traits.find_common(np.array([TERROR, 2]))
    assert trait.name == "genre/Horror"
    assert all_films.traits.items_with(trait).tolist() == [2, TERROR]


def test_a_duplicate_is_replaced_by_its_main_film_for_a_model_that_reads_infrequent_films():
    others = table(["Blood House", "Blood Village"], ["Horror", "Horror"], 200)
    data = replace(world(), catalog=Catalog(table(TITLES, GENRES, 100), others))
    assert substitutes.replace_duplicates(data, np.array([3, 6, 7])).tolist() == [3, 2, 7]
    reader = Given(())
    reader.reads_infrequent_films = True
    assert to_queries(reader, data, [np.array([6, 7, 1])], [()]).histories[0].tolist() == [2, 7, 1]


def test_the_nearest_film_stands_in():
    data = world()
    assert substitutes.find_item(data, UNRATED) in (0, 1)
    assert substitutes.find_item(data, TERROR) == 2
    assert substitutes.find_item(data, 4) == 4
    assert substitutes.label(data, TERROR) == "Blood House (2000)"
    assert substitutes.label(data, 4) == ""


def test_of_films_as_near_the_better_known_stands_in():
    data = toys.dataset([[0, 1, 2], [1, 2, 3], [1]], 4)
    alike = replace(data, catalog=Catalog(table(["Ship"] * 4, ["War"] * 4, 100), table(["Ship"], ["War"], 200)))
    assert substitutes.find_item(alike, 4) == 1


def test_of_films_as_like_and_as_known_the_one_of_its_time_stands_in():
    data = toys.dataset([[0, 1, 2, 3]], 4)
    movies = table(["Ship"] * 4, ["War"] * 4, 100).assign(year=[1950, 1995, 2005, 2020])
    alike = replace(data, catalog=Catalog(movies, table(["Ship"], ["War"], 200).assign(year=2004)))
    assert substitutes.find_item(alike, 4) == 2


def test_a_model_is_asked_about_films_that_it_knows():
    data, model = world(), Remembers(np.arange(6.0))
    found = recommend(given_predictor(data, model), Request((3, UNRATED), 6))
    assert model.asked == [[3, substitutes.find_item(data, UNRATED)]]
    assert [one.item for one in found] == [5, 4, 2, 1, 0]  # film 3 was seen; those that stand in were not


def test_a_film_that_was_left_out_may_be_unwanted_and_others_do_not_exist():
    ready = given_predictor(world(), Given(np.arange(6.0)))
    assert len(recommend(ready, Request((), 6, unwanted=(UNRATED, 5)))) == 5
    with pytest.raises(ServingError, match="there is no item 8 among 8"):
        recommend(ready, Request((8,)))


@pytest.mark.parametrize("name", ["content-genre", "content-tfidf"])
def test_a_model_of_descriptions_recommends_films_that_nobody_rated(home, name):
    data = world()
    ready = predictor.load(name, data)
    found = recommend(ready, Request((0, 1), 1))
    assert [(one.item, one.film.label) for one in found] == [(UNRATED, "Star Ship III (2000)")]
    assert ready.dataset.catalog.films == data.catalog.films
    after = recommend(ready, Request((UNRATED,), 2))
    assert {one.item for one in after} == {0, 1}
    only = Filters(genres=("Horror",))
    assert {one.item for one in recommend(ready, Request((0,), 5, only))} == {2, TERROR}


def test_the_model_of_descriptions_that_is_measured_knows_the_items_alone(home):
    from recsys import checkpoints

    data = world()
    predictor.load("content-genre", data)
    assert checkpoints.load_or_fit("content-genre", data, reject_stale=True).score(Queries([np.array([0])])).shape == (
        1,
        6,
    )
