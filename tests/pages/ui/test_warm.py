import asyncio
import gc
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

import app
from pages.server import health
from pages.ui import cache, warm
from recsys import runtime
from recsys.data import datasets
from recsys.data.dataset import DataError
from recsys.jobs import queue
from recsys.paths import REPOSITORY
from recsys.serving import predictor
from tests import loops
from tests.pages.server.asgi import request


@pytest.fixture(autouse=True)
def _cold(monkeypatch):
    for event in ("_is_loaded", "_has_answered"):
        monkeypatch.setattr(warm, event, threading.Event())


def status():
    """What the server says of itself."""
    start, body = request(health.ready_route(warm.is_ready).app)
    return start["status"], body["body"]


def test_a_server_is_ready_when_it_has_recommended_films(home):
    assert status() == (503, b'{"ready":false}')
    warm.preload()
    assert status() == (200, b'{"ready":true}')


def test_the_first_page_gets_the_recommender_and_the_index_that_were_preloaded(home, monkeypatch):
    name = predictor.default_name(datasets.DEFAULT_DATASET)
    load, loaded = predictor.load, []
    monkeypatch.setattr(predictor, "load", lambda name, *more: loaded.append(name) or load(name, *more))
    cache._predictor.clear()
    warm.preload()
    cache.load_predictor(name, datasets.DEFAULT_DATASET)
    assert loaded.count(name) == 1  # a second copy would double the memory


def test_the_server_limits_the_heaps_of_glibc(monkeypatch):
    settings = []
    monkeypatch.setattr(runtime, "_set_malloc_options", settings.append)
    monkeypatch.setattr(app, "_warm_up", lambda: None)

    async def start():
        async with app.lifespan(app.app):
            pass

    loops.run(start())
    assert [options[runtime.M_ARENA_MAX] for options in settings] == [2]


def test_trainings_that_waited_when_the_server_ended_go_on(home, monkeypatch):
    woken = []
    monkeypatch.setattr(queue, "start_runner", lambda: woken.append(True))
    warm.preload()
    assert woken == [True]


def test_a_first_set_that_cannot_be_had_is_left_to_the_page_to_explain(monkeypatch, caplog):
    def refuse(name):
        raise DataError("no space left")

    monkeypatch.setattr(datasets, "ensure", refuse)
    warm.preload()
    assert status()[0] == 503
    assert "no space left" in caplog.text


def test_the_server_answers_while_it_warms_up(monkeypatch):
    begun, may_end = threading.Event(), threading.Event()
    monkeypatch.setattr(warm, "preload", lambda: begun.set() or may_end.wait(60))

    async def start():
        async with app.lifespan(app.app):
            return await asyncio.to_thread(begun.wait, 60)

    try:
        assert loops.run(start())  # the server is up, and warming up has not ended
    finally:
        may_end.set()


@pytest.mark.slow
def test_a_first_page_loads_no_library_that_only_some_clicks_need():
    """The first page is there in five seconds, of which scipy's statistics would take half a one."""
    libraries = {"torch", "scipy.stats", "scipy.optimize", "sklearn", "sentence_transformers", "implicit"}
    modules = "app, pages.ui.page, pages.watch.my_list, pages.watch.last_films"
    code = f"import sys, {modules}; print({libraries} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"


@pytest.mark.parametrize("goes_wrong", [False, True])
def test_garbage_is_collected_again_when_the_server_is_warm(monkeypatch, goes_wrong):
    def up():
        assert not gc.isenabled()
        if goes_wrong:
            raise MemoryError

    monkeypatch.setattr(warm, "preload", up)
    with suppress(MemoryError):
        app._warm_up()
    assert gc.isenabled()
