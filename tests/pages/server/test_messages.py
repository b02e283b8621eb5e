import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from pages.server.messages import PROTOCOL_ERROR, MessageFilter
from tests import loops


def through(*frames):
    """What the app hears of these messages before its page is closed, and what the browser hears."""
    heard, sent = [], []
    coming = [*({"type": "websocket.receive", **frame} for frame in frames), {"type": "websocket.disconnect"}]

    async def app(scope, receive, send):
        while (message := await receive())["type"] == "websocket.receive":
            heard.append(message["bytes"])

    async def receive():
        return coming.pop(0)

    async def send(message):
        sent.append(message)

    loops.run(MessageFilter(app)({"type": "websocket", "path": "/"}, receive, send))
    return heard, sent


def wish(kind):
    """A message that wants something, as a browser writes it."""
    message = BackMsg()
    field = getattr(message, kind)
    if isinstance(field, bool):
        setattr(message, kind, True)
    else:
        field.SetInParent()
    return message.SerializeToString()


@pytest.mark.parametrize("kind", ["rerun_script", "stop_script", "app_heartbeat", "file_urls_request"])
def test_what_a_page_sends_comes_through(kind):
    assert through({"bytes": wish(kind)}) == ([wish(kind)], [])


@pytest.mark.parametrize("kind", ["clear_cache", "load_git_info", "set_run_on_save", "debug_shutdown_runtime"])
def test_what_no_page_of_ours_sends_does_not_and_the_page_goes_on(kind):
    rerun = wish("rerun_script")
    assert through({"bytes": wish(kind)}, {"text": "hello"}, {"bytes": b""}, {"bytes": rerun}) == ([rerun], [])


def test_a_wish_hidden_behind_another_does_not_either():
    assert through({"bytes": wish("rerun_script") + wish("clear_cache")}) == ([], [])


def test_who_speaks_something_else_is_hung_up_on():
    heard, sent = through({"bytes": b"\xff\xff"}, {"bytes": wish("rerun_script")})
    assert heard == []
    assert sent == [{"type": "websocket.close", "code": PROTOCOL_ERROR}]
