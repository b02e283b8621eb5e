import asyncio
import threading

import app
from pages.shared import warm
from recsys.data import movielens
from recsys.data.schema import DataError
from recsys.serving import predictor


def test_the_first_set_and_the_recommenders_are_there_when_the_server_has_warmed_up(monkeypatch):
    loaded = []
    monkeypatch.setattr(movielens, "ensure", loaded.append)
    monkeypatch.setattr(predictor, "variants", lambda: loaded.append("recommenders"))
    warm.up()
    assert loaded == [movielens.FIRST, "recommenders"]


def test_a_first_set_that_cannot_be_had_is_left_to_the_page_to_explain(monkeypatch):
    def refuse(name):
        raise DataError("no space left")

    monkeypatch.setattr(movielens, "ensure", refuse)
    warm.up()


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
