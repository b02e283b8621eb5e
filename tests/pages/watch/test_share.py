"""Whom a link to a list of films reaches."""

import pytest
from streamlit.runtime.context import ContextProxy

from pages.watch import share
from pages.watch.share import REACH_TEXTS, Reach
from tests.pages.panel import open_part
from tests.pages.reading import said


@pytest.mark.parametrize(
    ("url", "reach"),
    [
        ("http://localhost:8501/?s=1", Reach.COMPUTER),
        ("http://127.0.0.1:8501", Reach.COMPUTER),
        ("http://[::1]:8501", Reach.COMPUTER),
        ("http://192.168.0.7:8501", Reach.NETWORK),
        ("http://10.1.2.3", Reach.NETWORK),
        ("http://film-box:8501", Reach.NETWORK),
        ("http://film-box.local", Reach.NETWORK),
        ("https://films.example.org/compare", Reach.EVERYBODY),
        ("http://8.8.8.8", Reach.EVERYBODY),
    ],
)
def test_the_host_of_an_address_tells_who_can_open_it(url, reach):
    assert share.reach(url) is reach


@pytest.mark.parametrize(
    ("url", "wanted"), [("http://localhost:8501/", Reach.COMPUTER), ("https://films.example.org/", Reach.EVERYBODY)]
)
def test_what_is_said_of_the_link_is_true_of_the_address(visit, monkeypatch, url, wanted):
    monkeypatch.setattr(ContextProxy, "url", property(lambda _: url))
    app = visit(s="1-2-3")
    open_part(app, "share")
    assert url in said(app)
    assert [key for key, text in REACH_TEXTS.items() if text in said(app)] == [wanted]


def test_a_picture_has_no_link_that_works_nowhere_else(monkeypatch):
    monkeypatch.setattr(share, "_link", lambda: "http://localhost:8501/?s=1")
    monkeypatch.setattr(ContextProxy, "url", property(lambda _: "http://localhost:8501/"))
    assert share.picture_texts(3, "M").link == ""
