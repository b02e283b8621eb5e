import asyncio
import threading

import pytest

import app
from pages.server import ready
from pages.shared import warm
from recsys.data import movielens
from recsys.data.schema import DataError
from recsys.jobs import queue
from tests.pages.server.asgi import request


@pytest.fixture(autouse=True)
def _cold(monkeypatch):
    for event in ("_is_warm", "_has_answered"):
        monkeypatch.setattr(warm, event, threading.Event())


def status():
    """What the server says of itself."""
    start, body = request(ready.route(warm.is_ready).app)
    return start["status"], body["body"]


def test_a_server_is_ready_when_it_has_recommended_films(home):
    assert status() == (503, b'{"ready":false}')
    warm.up()
    assert status() == (200, b'{"ready":true}')


def test_trainings_that_waited_when_the_server_ended_go_on(home, monkeypatch):
    woken = []
    monkeypatch.setattr(queue, "wake", lambda: woken.append(True))
    warm.up()
    assert woken == [True]


def test_a_first_set_that_cannot_be_had_is_left_to_the_page_to_explain(monkeypatch, caplog):
    def refuse(name):
        raise DataError("no space left")

    monkeypatch.setattr(movielens, "ensure", refuse)
    warm.up()
    assert status()[0] == 503
    assert "no space left" in caplog.text


def test_the_server_answers_while_it_warms_up(monkeypatch):
    begun, may_end = threading.Event(), threading.Event()
    monkeypatch.setattr(warm, "up", lambda: begun.set() or may_end.wait(60))

    async def start():
        async with app.lifespan(app.app):
            return await asyncio.to_thread(begun.wait, 60)

    try:
        assert asyncio.run(start())  # the server is up, and warming up has not ended
    finally:
        may_end.set()
