"""A list to choose from: only these films, or none of them."""

from dataclasses import replace

import pandas as pd
import pytest

from pages.ui.visitor import ListState, VisitorState
from pages.watch import filter_list
from recsys.data.dataset import Catalog
from tests.pages import world
from tests.pages.panel import open_part
from tests.pages.reading import picks, said, titles, watched


def choose(app, text):
    open_part(app, "choice_open").text_area(key="choice_text").set_value(text)
    app.button(key="choice_set").click().run()
    assert not app.exception
    return app


def test_only_the_films_of_the_list_are_recommended(visit):
    app = choose(visit(s="1-2-3"), f"{world.TITLES[5]}\n{world.TITLES[8]}\nNo such film at all")
    assert {*picks(app)} == {*titles(5, 8)}
    assert watched(app) == titles(0, 1, 2)
    assert "Not found: 1 title (No such film at all)." in said(app)
    assert app.query_params["from"] in ("6-9", ["6-9"])


def test_none_of_the_films_of_the_list_is_recommended(visit):
    before = picks(visit(s="1-2-3"))
    app = visit(s="1-2-3", **{"from": "6-9"}, among="none")
    assert not {*titles(5, 8)} & {*picks(app)}
    open_part(app, "choice_open").button(key="choice_clear").click().run()
    assert picks(app) == before
    assert "from" not in app.query_params


def test_undo_brings_the_list_back(visit):
    app = visit(s="1-2-3", **{"from": "6-9"})
    chosen = picks(app)
    open_part(app, "choice_open").button(key="choice_clear").click().run()
    app.button(key="undo").click().run()
    assert picks(app) == chosen


def test_a_list_of_films_with_too_few_ratings_leaves_none_and_the_page_names_its_button(visit):
    app = choose(visit(s="1-2-3"), world.RARE)
    assert "Change one of these: Use a list." in said(app)
    assert app.button(key="reset-here").label == "Stop using the list"


def test_titles_that_were_not_found_are_only_named_with_their_list(visit):
    app = choose(visit(s="1-2-3", **{"from": "6-9"}), f"{world.TITLES[4]}\nNo such film at all")
    assert "No such film at all" in said(app)
    app.button(key="undo").click().run()
    assert "No such film at all" not in said(app)


def test_content_models_recommend_no_infrequent_film_beside_the_list(monkeypatch):
    data = world.build()
    monkeypatch.setattr(filter_list, "visitor", lambda: VisitorState(ListState(filter_list=(5, 8))))
    assert {*range(len(data.catalog.films))} - {*filter_list.excluded_films(data)} == {5, 8}


@pytest.mark.parametrize("rare", [True, False])
@pytest.mark.parametrize("number", ["main", "duplicate"])
def test_a_film_that_is_listed_twice_can_be_chosen_by_both_numbers(monkeypatch, rare, number):
    data = world.build()
    movies = data.catalog.movies
    again = movies.iloc[[5]].assign(movie_id=901)
    tables = (movies, again) if rare else (pd.concat([movies, again], ignore_index=True), data.catalog.infrequent)
    twice = replace(data, catalog=Catalog(*tables))
    duplicate = len(movies)
    assert twice.main_film_by_duplicate == {duplicate: 5}
    film = 5 if number == "main" else duplicate
    monkeypatch.setattr(filter_list, "visitor", lambda: VisitorState(ListState(filter_list=(film,))))
    assert {*range(len(twice.catalog.films))} - {*filter_list.excluded_films(twice)} == {5, duplicate}


def test_titles_that_were_not_found_belong_to_their_data_set(visit):
    world.save(world.build("ml-latest-small", first_id=500))
    app = choose(visit(s="1-2-3"), "No such film at all")
    assert "No such film at all" in said(app)
    app.selectbox(key="chosen_data").set_value("ml-latest-small").run()
    app.session_state.choice_open = True
    assert "No such film at all" not in said(app.run())
