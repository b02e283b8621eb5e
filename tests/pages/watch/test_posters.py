import json

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import explanation
from recsys.serving.tmdb import TmdbService
from tests.data import server as servers
from tests.pages import world
from tests.pages.reading import said

POSTER_KEY = "0123456789abcdef0123456789abcdef"


def poster_page():
    import streamlit as st

    from pages.ui import cache
    from pages.watch import posters

    posters.popover()
    st.json(posters.poster_urls(cache.dataset("ml-latest-sample").catalog, [0, 1]))


@pytest.fixture
def tmdb(home, monkeypatch):
    """A TMDB on this machine that knows one film, and no key in the environment."""
    for name in ("TMDB_TOKEN", "TMDB_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    title, year = world.TITLES[0][:-7], world.TITLES[0][-5:-1]
    hit = {"title": title, "release_date": f"{year}-01-01", "poster_path": "/p.jpg"}
    with servers.serving(json.dumps({"results": [hit], "total_pages": 1}).encode()) as server:
        service = TmdbService(server.address.removesuffix("/file.zip"), "https://images", max_wait=2)
        monkeypatch.setattr(explanation, "tmdb_service", lambda: service)
        yield server


def settings():
    app = AppTest.from_function(poster_page)
    app.session_state["posters"] = True  # opened
    return app.run()


def test_without_a_key_there_are_no_posters_and_nothing_is_asked(tmdb):
    app = settings()
    assert not app.exception
    assert app.json[0].value == "{}"
    assert "This product uses the TMDB API but is not endorsed or certified by TMDB." in said(app)
    assert tmdb.requests == []


def test_a_key_that_is_typed_brings_posters_and_is_in_no_field_and_no_address(tmdb):
    app = settings()
    app.text_input(key="typed_poster_key").set_value(POSTER_KEY).run()
    assert json.loads(app.json[0].value) == {"0": "https://images/p.jpg"}
    assert app.success[0].value == "Posters are on."
    assert not app.text_input
    assert not app.query_params
    app.button(key="poster-forget").click().run()
    assert app.json[0].value == "{}"
    assert app.text_input(key="typed_poster_key").value == ""


def test_a_key_that_tmdb_refuses_says_so(tmdb):
    tmdb.tricks = [servers.status(401)]
    app = settings()
    app.text_input(key="typed_poster_key").set_value(POSTER_KEY).run()
    assert "TMDB refuses this key." in said(app)
    assert app.json[0].value == "{}"
    assert len(tmdb.requests) == 1


def test_text_that_is_no_key_says_so_and_is_not_sent(tmdb):
    app = settings()
    app.text_input(key="typed_poster_key").set_value("my password").run()
    assert "This is not a TMDB key" in said(app)
    assert tmdb.requests == []
    app.session_state.lang = "uk"
    assert "This is not a TMDB key" not in said(app.run())


def test_a_service_that_fails_says_that_cards_stand_in(tmdb):
    tmdb.tricks = [servers.status(500)] * 50
    app = settings()
    app.text_input(key="typed_poster_key").set_value(POSTER_KEY).run()
    app.run()
    app.run()
    assert not app.exception
    assert "TMDB is not answering at the moment." in said(app)
    assert app.json[0].value == "{}"


def test_the_key_of_the_machine_is_used_and_cannot_be_forgotten_by_a_visitor(tmdb, monkeypatch):
    monkeypatch.setenv("TMDB_API_KEY", POSTER_KEY)
    app = settings()
    app.run()
    assert json.loads(app.json[0].value) == {"0": "https://images/p.jpg"}
    assert app.success[0].value == "Posters are on, using this server's key."
    assert not app.button
