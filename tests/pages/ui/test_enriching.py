"""Against a Wikidata on this machine, whose answers are written after the documented format: see wikidata_fake.py."""

import threading
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import dataset_menu, tasks
from pages.ui.dataset_menu import DatasetTask
from recsys import paths
from recsys.data import enrich, film_details, wikidata
from tests.data.wikidata_fake import asking, seconds, thing, title
from tests.pages import world
from tests.pages.reading import keys, said

SET, LONG = "ml-latest-sample", 30.0  # seconds, at most, for what ends in milliseconds
TASK = DatasetTask("enrich", SET)


def sets_page():
    import streamlit as st

    from pages.ui import dataset_menu, session

    session.load()
    st.text(st.session_state.visitor.current.dataset)
    dataset_menu.dialog_body()


@pytest.fixture
def service(home, monkeypatch):
    """Wikidata knows the director of each film."""
    made = world.build()
    ids = [f"tt{item:07}" for item in range(len(made.catalog))]
    world.save(replace(made, catalog=replace(made.catalog, movies=made.catalog.movies.assign(imdb_id=ids))))
    monkeypatch.setattr(wikidata, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(enrich, "PAUSE_SECONDS", 0.0)
    with asking() as found:
        found.rows = [
            row
            for item, imdb in enumerate(ids)
            for row in (
                thing(imdb, f"Q{item + 9}", "directors", "Q3772", f"Director <b>{item}</b>"),
                seconds(imdb, f"Q{item + 9}", "8160"),
                title(imdb, f"Q{item + 9}", f"Фільм номер {item}", "uk"),
            )
        ]
        yield found


def ended():
    assert tasks.find(TASK.name).wait(LONG)


def test_a_button_of_the_dialog_asks_and_then_the_dialog_says_what_is_known(service):
    app = AppTest.from_function(sets_page, default_timeout=60).run()
    assert "Includes director, cast and titles in other languages from Wikidata." not in said(app)
    app.button(key=f"enrich-{SET}").click().run()
    assert app.session_state.visitor.tasks == [TASK]
    ended()
    app.run()
    assert not app.exception
    assert "Includes director, cast and titles in other languages from Wikidata." in said(app)
    assert app.button(key=f"enrich-{SET}").label.startswith("Download missing details")


def test_cards_show_director_and_length_and_the_search_finds_them(service, visit):
    app = visit(s="1-2-3")
    assert "nr-made" not in "".join(html.value for html in app.container(key="picks").html)
    app.session_state.visitor.tasks = [TASK]
    tasks.start(TASK.name, lambda report: report({"stage": "keep", **enrich.enrich(SET)._asdict()}))
    ended()
    app.run()
    assert not app.exception
    known = f"{len(world.TITLES)} of the {len(world.TITLES) + 1} films"
    assert known in app.success[0].value
    first = app.container(key="picks").html[0].value
    assert "2\u00a0h\u00a016\u00a0min · Director &lt;b&gt;3&lt;/b&gt;" in first
    app.text_input(key="search").set_value("номер 7").run()
    assert "found-8" in keys(app)
    app.button(key=f"enrich-{SET}-away").click().run()
    assert not app.success


def test_without_a_network_it_says_so_and_everything_works_as_before(service, visit, monkeypatch):
    monkeypatch.setattr(wikidata, "ADDRESS", "http://127.0.0.1:9/sparql")
    app = visit(s="1-2-3")
    before = [html.value for html in app.container(key="picks").html]
    app.session_state.visitor.tasks = [TASK]
    tasks.start(TASK.name, lambda report: enrich.enrich(SET, report))
    ended()
    app.run()
    assert not app.exception
    assert "it refuses connections; check the network" in said(app)
    assert f"data enrich {SET}" in said(app)
    assert [html.value for html in app.container(key="picks").html] == before
    app.button(key=f"enrich-{SET}-away").click().run()
    assert "refuses connections" not in said(app)


def test_it_can_be_called_off_and_what_was_had_is_kept(service, visit, monkeypatch):
    monkeypatch.setattr(enrich, "BATCH_SIZE", 10)
    arrived, go_on = threading.Event(), threading.Event()

    def pause(request):
        arrived.set()
        assert go_on.wait(LONG)
        service.answer(request)

    service.server.tricks = [service.answer, pause]
    app = visit(s="1-2-3")
    app.session_state.visitor.tasks = [TASK]
    tasks.start(TASK.name, lambda report: enrich.enrich(SET, report))
    assert arrived.wait(LONG)
    app.run()
    assert f"enrich-{SET}-stop" in keys(app)
    app.button(key=f"enrich-{SET}-stop").click().run()
    go_on.set()
    ended()
    app.run()
    assert not app.exception
    assert f"enrich-{SET}-stop" not in keys(app)
    assert len(film_details.read(SET)) in (10, 20)  # the second answer may have come before it was noticed


def test_how_far_it_is_is_said_in_words():
    assert dataset_menu.enrichment_text("ml-1m", {}) == "Asking Wikidata about the films in MovieLens 1M"
    event = {"stage": "describe", "done": 1200, "total": 3356}
    assert dataset_menu.enrichment_text("ml-1m", event).endswith("MovieLens 1M: 1,200 of 3,356")


def test_visitors_of_a_public_server_are_not_offered_it(service, monkeypatch):
    monkeypatch.setenv(paths.PUBLIC, "1")
    film_details.write(SET, {1: {"minutes": 90}})
    app = AppTest.from_function(sets_page, default_timeout=60).run()
    assert not app.exception
    assert f"enrich-{SET}" not in keys(app)
    assert "Includes director, cast and titles in other languages from Wikidata." in said(app)
