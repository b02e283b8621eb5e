from dataclasses import replace
from datetime import datetime
from html import unescape

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import recommenders
from pages.ui.visitor import ListState
from pages.watch import my_list
from recsys.data import film_tables
from recsys.data.dataset import Catalog
from recsys.data.download import DownloadError
from recsys.serving import history, substitutes, themes
from recsys.serving.history_review import WatchedFilm
from recsys.text import encoder
from tests.pages import world
from tests.pages.panel import open_part
from tests.pages.reading import keys, picks, said, watched

RARE = len(world.TITLES) + 1  # the id of the film that training left out


def test_a_film_that_few_people_rated_names_those_that_stand_in_for_it(visit):
    app = visit(s=f"1-{RARE}")
    assert not app.exception
    assert watched(app)[1] == world.RARE[:-7]
    note = unescape(app.container(key="sequence").html[1].value)
    assert substitutes.label(world.build(), len(world.TITLES)) in note
    assert "\\" not in note
    assert "Too few ratings" not in app.container(key="sequence").html[0].value
    assert len(picks(app)) == 10


def test_a_model_that_reads_descriptions_needs_nobody_to_stand_in(visit, monkeypatch):
    monkeypatch.setattr(recommenders, "MAX_WAIT_SECONDS", 60)  # the fit takes seconds on a busy machine
    app = visit(s=f"1-{RARE}")
    app.selectbox(key="model").set_value("content-tfidf").run()
    assert not app.exception
    assert "Too few ratings" not in app.container(key="sequence").html[1].value


def test_the_note_says_which_films_only_have_their_description_read(monkeypatch):
    frequent, (first, second) = 0, (len(world.TITLES), len(world.TITLES) + 1)
    infrequent = world.films([world.RARE, "Rarer Bird (1998)"], RARE)
    data = replace(world.build(), catalog=Catalog(world.build().catalog.movies, infrequent))
    unlike = substitutes.Substitute(frequent, substitutes.MIN_SIMILARITY - 0.01)
    monkeypatch.setattr(substitutes, "_most_similar", lambda dataset, number: unlike)
    instead = f"Too few ratings, so {world.TITLES[frequent]} is used instead."
    described = "Too few ratings, so only its genres, tags and themes are used."
    for films, reads_descriptions, notes in (
        ((frequent, first), True, ["", described]),
        ((frequent, first), False, ["", instead]),
        ((first,), True, [instead]),
        ((first, second), True, [instead, instead]),  # no film has a similar item, so all are replaced
    ):
        assert my_list.substitute_notes(data, films, reads_descriptions) == notes


def test_the_die_has_a_name_and_asks_before_it_replaces_films(visit):
    app = visit()
    assert app.button(key="surprise").label == "A random person's films"
    app.button(key="surprise").click().run()
    drawn = watched(app)
    assert drawn
    assert "surprise" not in keys(app)
    open_part(app, "surprise-open")
    assert f"This replaces the {len(app.session_state.visitor.current.films)} films in your list" in said(app)
    assert watched(app) == drawn
    alone = visit(s="1")
    alone.session_state["surprise-open"] = True
    assert "This replaces the film in your list" in said(alone.run())


def test_the_date_of_an_import_is_shown(visit):
    app = visit(s="1")
    dates = {world.TITLES[0]: WatchedFilm(0, datetime(2024, 1, 2), True, 1, None)}
    app.session_state.visitor.current = ListState(films=(0,), watched_by_key=dates)
    assert "Watched on 2 January 2024." in app.run().container(key="sequence").html[0].value


def test_a_random_user_has_no_watch_dates_of_an_imported_history_and_undo_restores_them(visit):
    app = visit(s="1")
    dates = {title: WatchedFilm(0, datetime(2024, 1, 2), True, 1, None) for title in world.TITLES}
    app.session_state.visitor.current = ListState(films=(0,), watched_by_key=dates)
    open_part(app, "surprise-open").button(key="surprise").click().run()
    assert app.session_state.visitor.current.watched_by_key == {}
    app.button(key="undo").click().run()
    assert app.session_state.visitor.current.watched_by_key == dates


def test_the_films_of_a_person_are_taken_by_number_and_undo_brings_ones_own_back(visit):
    app = visit(s="1")
    app.session_state["person-open"] = True
    before = watched(app.run())
    data = world.build()
    person = int(data.user_ids[3])
    app.number_input(key="person").set_value(person).run()
    app.button(key="take-person").click().run()
    assert not app.exception
    assert app.session_state.visitor.current.films == history.user_history(data, 3).items
    app.button(key="undo").click().run()
    assert watched(app) == before


def test_filters_ratings_and_sharing_work_with_a_film_that_few_people_rated(visit):
    app = visit(s=f"1-{RARE}", older="true", genres="Horror")
    app.session_state.filters_open = app.session_state.share = True
    app.run()
    assert not app.exception
    app.button(key=f"dislike-{RARE}").click().run()
    assert not app.exception
    assert "Too few ratings" in app.container(key="sequence").html[1].value


def clicked_twice(action, number, *arguments):
    """A button of the list of films 0 to 3 whose second click comes before the page has run again."""
    import streamlit as st

    from pages.ui import cache, session
    from pages.watch import my_list

    def click_twice():
        for _ in range(2):
            getattr(my_list if action.startswith("_") else session, action)(number, *arguments)

    session.load()
    session.convert_pending(cache.dataset("ml-latest-sample"))
    st.button("Twice", on_click=click_twice)


@pytest.mark.parametrize(
    ("click", "films"),
    [
        (("add_film", 7), (0, 1, 2, 3, 7)),
        (("_remove", 1), (0, 2, 3)),
        (("_remove", 3), (0, 1, 2)),
        (("_move", 3, -1), (0, 3, 1, 2)),
        (("_move", 1, -1), (1, 0, 2, 3)),
        (("_move", 2, 1), (0, 1, 3, 2)),
    ],
)
def test_a_double_click_changes_only_the_film_of_the_button(click, films):
    app = AppTest.from_function(clicked_twice, args=click, default_timeout=60)
    app.query_params["s"] = "1-2-3-4"
    app.run().button[0].click().run()
    assert not app.exception
    assert app.session_state.visitor.current.films == films


@pytest.mark.parametrize(("action", "marks"), [("mark_film", (9, 7)), ("unmark_film", ())])
def test_a_double_click_on_a_mark_is_one_step(action, marks):
    app = AppTest.from_function(clicked_twice, args=(action, 9 if action == "unmark_film" else 7, "later"))
    app.query_params.update({"s": "1-2-3-4", "later": "10"})
    app.run(timeout=60).button[0].click().run(timeout=60)
    assert not app.exception
    assert app.session_state.visitor.current.later == marks
    assert len(app.session_state.visitor.undo_stack) == 1


def test_the_films_of_a_new_list_lose_their_marks(visit):
    app = visit(later="-".join(str(number + 1) for number in range(len(world.TITLES))))
    app.button(key="take-Animated family films").click().run()
    current = app.session_state.visitor.current
    assert current.films
    assert {*current.later} == {*range(len(world.TITLES))} - {*current.films}
    app.button(key="undo").click().run()
    assert len(app.session_state.visitor.current.later) == len(world.TITLES)


def test_another_film_leaves_the_marks_of_films_in_the_list(visit):
    app = visit(s="1-2-3", later="2", **{"not": "1"})
    app.button(key="remove-3").click().run()
    current = app.session_state.visitor.current
    assert (current.films, current.later, current.excluded) == ((0, 1), (1,), (0,))


def test_several_titles_in_the_search_box_lead_to_the_box_for_them(visit):
    app = visit()
    hint = "To add several films at once, click “Import your history” and paste their titles."
    app.text_input(key="search").set_value("Heat, Alien, Fargo").run()
    assert hint in said(app)
    app.text_input(key="search").set_value("No such film").run()
    assert hint not in said(app)


def test_a_link_leads_to_the_recommendations_below_a_list(visit):
    link = "[See the recommendations](#recommendations)"
    app = visit(s="1-2")
    assert link in said(app)
    assert [heading.proto.anchor for heading in app.header if heading.value == "What comes next"] == ["recommendations"]
    assert link not in said(visit())


def test_only_a_history_has_a_latest_film(visit):
    app = visit(s="1-2")
    assert "latest" not in app.container(key="sequence").html[1].value
    app.toggle(key="in_watch_order").set_value(True).run()
    assert "latest" not in app.container(key="sequence").html[0].value
    assert "latest" in app.container(key="sequence").html[1].value


def test_a_theme_in_the_search_box_opens_the_search_by_theme(visit, monkeypatch):
    monkeypatch.setattr(encoder, "load", without_encoder)
    app = visit()
    app.text_input(key="search").set_value("Horror").run()
    assert app.button(key="theme-offer").label == "Find by theme: “Horror”"
    assert "is not among" not in said(app)
    app.button(key="theme-offer").click().run()
    assert not app.exception
    assert app.text_input(key="search").value == ""
    assert app.text_input(key="theme").value == "Horror"
    assert any(key.startswith("near-") for key in keys(app))


def test_titles_that_are_no_theme_offer_no_search_by_theme(visit):
    app = visit()
    app.text_input(key="search").set_value("toy").run()
    assert "theme-offer" not in keys(app)


@pytest.mark.parametrize(("language", "theme"), [("en", "time loop"), ("uk", "часова петля"), ("uk", "комедія")])
def test_the_name_of_a_theme_is_offered_as_a_theme(visit, monkeypatch, language, theme):
    for module in (themes, film_tables):
        monkeypatch.setattr(module, "themes", lambda dataset: {5: ("time loop",), 8: ("time loop",)})
    monkeypatch.setattr("pages.ui.dataset_menu.menu_label", str)  # AppTest finds no option with a translated label
    app = visit(s="1", lang=language)
    app.text_input(key="search").set_value(theme).run()
    assert theme in app.button(key="theme-offer").label


def without_encoder(report, fetch=True):
    raise DownloadError("the sentence encoder is not on this machine; fetch it first")
