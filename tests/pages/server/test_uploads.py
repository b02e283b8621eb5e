import pytest

from pages.server import uploads
from pages.server.uploads import BYTES, FILES, PATH, Uploads
from tests.pages.server.asgi import hello, status

APP = Uploads(hello)


@pytest.fixture(autouse=True)
def _nobody(monkeypatch):
    monkeypatch.setattr(uploads, "_accounts", {})


def put(session, file="1", size=10, **headers):
    return status(APP, f"{PATH}{session}/{file}", "PUT", content_length=size, **headers)


def test_a_file_is_taken_from_whoever_is_asked_for_one():
    uploads.expect("ann")
    assert put("ann") == 200


def test_a_file_that_no_page_asks_for_is_refused():
    uploads.expect("ann")
    assert put("bob") == 403


def test_a_page_that_was_opened_long_ago_asks_no_more(monkeypatch):
    uploads.expect("ann")
    now = uploads.time.monotonic()
    monkeypatch.setattr(uploads.time, "monotonic", lambda: now + uploads.OPEN + 1)
    assert put("ann") == 403
    uploads.expect("ann")
    assert put("ann") == 200


def test_a_session_can_send_only_so_many_files_and_so_many_bytes():
    uploads.expect("ann")
    assert [put("ann", str(file)) for file in range(FILES + 1)] == [200] * FILES + [413]
    uploads.expect("bob")
    assert put("bob", "1", BYTES) == 200
    assert put("bob", "2", 1) == 413
    assert put("bob", "1", BYTES) == 200  # the same file again takes its own room


def test_what_is_taken_back_makes_room():
    uploads.expect("ann")
    assert put("ann", "1", BYTES) == 200
    assert status(APP, f"{PATH}ann/1", "DELETE") == 200
    assert put("ann", "2", BYTES) == 200


def test_a_file_of_unknown_size_is_refused():
    uploads.expect("ann")
    assert status(APP, f"{PATH}ann/1", "PUT") == 411
    assert put("ann", size="-5") == 411


def test_everything_else_passes():
    assert status(APP, "/") == 200
    assert status(APP, f"{PATH}bob/1", "OPTIONS") == 200


def test_of_many_sessions_the_newest_are_remembered(monkeypatch):
    monkeypatch.setattr(uploads, "REMEMBERED", 2)
    for session in ("ann", "bob", "cleo"):
        uploads.expect(session)
    assert [put(session) for session in ("ann", "bob", "cleo")] == [403, 200, 200]
