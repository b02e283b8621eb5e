import json

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import explanation
from recsys.serving.tmdb import TmdbService, parse_key
from tests.data import server as servers
from tests.pages.reading import said

KEY = "0123456789abcdef0123456789abcdef"
FILM = {"overview": "A *dream* within a dream.", "credits": {"cast": [{"name": "Ann Lee", "character": "Cobb"}]}}


def story_page():
    from pages.ui import cache, explanation

    catalog = cache.dataset("ml-latest-sample").catalog
    catalog.movies["tmdb_id"] = range(len(catalog))
    explanation.show_story(catalog, 7)


@pytest.fixture
def tmdb(home, monkeypatch):
    """A TMDB on this machine that knows one film, and no key in the environment."""
    for name in ("TMDB_TOKEN", "TMDB_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with servers.serving(json.dumps(FILM).encode()) as server:
        service = TmdbService(server.address.removesuffix("/file.zip"), "https://images", max_wait=5)
        monkeypatch.setattr(explanation, "tmdb_service", lambda: service)
        yield server


def page(with_key=True):
    app = AppTest.from_function(story_page)
    if with_key:
        app.session_state["poster_key"] = parse_key(KEY)
    return app.run()


def test_without_a_key_nothing_is_asked_and_nothing_shown(tmdb):
    app = page(with_key=False)
    assert not app.exception
    assert said(app) == ""
    assert tmdb.requests == []


def test_with_a_key_plot_and_cast_are_shown_with_what_tmdb_asks_to_say(tmdb):
    app = page()
    assert not app.exception
    assert "A *dream* within a dream." in said(app)
    assert "Ann Lee as Cobb" in said(app)
    assert "This product uses the TMDB API but is not endorsed or certified by TMDB." in said(app)
    app.run()
    assert len(tmdb.requests) == 1  # the session keeps it


def test_where_tmdb_fails_it_says_so_and_is_asked_again_the_next_time(tmdb):
    tmdb.tricks = [servers.status(500)] * 2
    app = page()
    assert "TMDB has no information about this film at the moment." in said(app)
    app.run()
    assert "within a dream" in said(app)


def test_a_session_keeps_only_so_many(tmdb, monkeypatch):
    monkeypatch.setattr(explanation, "MAX_STORIES", 0)
    app = page()
    assert "TMDB has no information about this film at the moment." in said(app)
    assert app.session_state["stories"] == {}
