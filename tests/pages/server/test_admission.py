import asyncio

import pytest

from pages.server.admission import LIMIT_VARIABLE, MAX_OPEN_PAGES, STREAM_PATH, Admission
from tests import loops
from tests.pages.server.asgi import hello, request, status


async def stay(scope, receive, send):
    """A page that stays open until it is told to close."""
    if scope["type"] == "http":
        await hello(scope, receive, send)
    else:
        await scope["until"].wait()


def with_visitors(admission, n, then):
    """What `then` gives while n pages are open."""

    async def run():
        until = asyncio.Event()
        scope = {"type": "websocket", "path": STREAM_PATH, "until": until}
        pages = [asyncio.create_task(admission(scope, None, None)) for _ in range(n)]
        await asyncio.sleep(0)
        found = await asyncio.to_thread(then)
        until.set()
        await asyncio.gather(*pages)
        return found

    return loops.run(run())


def test_visitors_are_let_in_while_there_is_room():
    admission = Admission(stay, 2)
    assert with_visitors(admission, 1, lambda: status(admission, accept="text/html")) == 200


def test_who_comes_when_it_is_full_is_told_so_and_when_to_try_again():
    admission = Admission(stay, 2)
    start, body = with_visitors(admission, 2, lambda: request(admission, accept="text/html"))
    assert start["status"] == 503
    assert (b"retry-after", b"15") in start["headers"]
    assert "Full house" in body["body"].decode()


def test_a_page_that_was_loaded_before_it_was_full_is_not_connected_either():
    admission = Admission(stay, 1)
    sent = with_visitors(admission, 1, lambda: request(admission, STREAM_PATH, kind="websocket"))
    assert [message["type"] for message in sent] == ["websocket.close"]


def test_a_seat_is_free_again_when_a_visitor_leaves_or_a_page_breaks():
    async def broken(scope, receive, send):
        raise ConnectionResetError

    admission = Admission(broken, 1)
    for _ in range(3):
        with pytest.raises(ConnectionResetError):
            request(admission, STREAM_PATH, kind="websocket")
    admission.app = stay
    assert status(admission, accept="text/html") == 200


@pytest.mark.parametrize("path", ["/_stcore/health", "/static/index.js"])
def test_files_and_the_state_of_the_server_are_answered_when_it_is_full(path):
    admission = Admission(stay, 1)
    assert with_visitors(admission, 1, lambda: status(admission, path, accept="*/*")) == 200


@pytest.mark.parametrize(
    ("said", "most"),
    [("7", 7), ("", MAX_OPEN_PAGES), ("0", MAX_OPEN_PAGES), ("many", MAX_OPEN_PAGES), ("-3", MAX_OPEN_PAGES)],
)
def test_how_many_there_may_be_can_be_said_in_the_environment(monkeypatch, said, most):
    monkeypatch.setenv(LIMIT_VARIABLE, said)
    assert Admission(stay).max_pages == most
