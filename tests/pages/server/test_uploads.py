import tomllib

import pytest

from pages.server import uploads
from pages.server.uploads import MAX_SESSION_BYTES, MAX_SESSION_FILES, UPLOAD_PATH, UploadLimits
from pages.ui import add_dataset
from recsys import paths
from tests.pages.server.asgi import hello, request, status

MAX_FILE_BYTES = 1000
APP = UploadLimits(hello)


@pytest.fixture(autouse=True)
def _nobody(monkeypatch):
    monkeypatch.setattr(uploads, "_permissions", {})


def expect(session):
    uploads.allow_uploads(session, MAX_FILE_BYTES)


def put(session, file="1", size=10, **headers):
    return status(APP, f"{UPLOAD_PATH}{session}/{file}", "PUT", content_length=size, **headers)


def test_a_file_is_taken_from_whoever_is_asked_for_one():
    expect("ann")
    assert put("ann") == 200


def test_a_file_that_no_page_asks_for_is_refused():
    expect("ann")
    assert put("bob") == 403


def test_a_page_that_was_opened_long_ago_asks_no_more(monkeypatch):
    expect("ann")
    now = uploads.time.monotonic()
    monkeypatch.setattr(uploads.time, "monotonic", lambda: now + uploads.PERMISSION_SECONDS + 1)
    assert put("ann") == 403
    expect("ann")
    assert put("ann") == 200


def test_a_session_can_send_only_so_many_files_and_so_many_bytes(monkeypatch):
    stored = {("ann", str(number)): 1 for number in range(MAX_SESSION_FILES)}
    monkeypatch.setattr(uploads, "_stored_sizes", lambda: stored | {("bob", "1"): MAX_SESSION_BYTES})
    for session in ("ann", "bob", "cleo"):
        expect(session)
    assert [put(session, "new") for session in ("ann", "bob", "cleo")] == [413, 413, 200]
    assert [put(session, "1") for session in ("ann", "bob")] == [200, 200]  # the same file again takes its own room


def test_files_that_are_arriving_count():
    async def upload_another(scope, receive, send):
        if scope["path"].endswith("first"):
            inside.append(status(app, f"{UPLOAD_PATH}ann/second", "PUT", content_length=10))
            inside.append(status(app, f"{UPLOAD_PATH}ann/first", "PUT", content_length=10))
        await hello(scope, receive, send)

    inside, app = [], UploadLimits(upload_another)
    uploads.allow_uploads("ann", MAX_SESSION_BYTES)
    assert status(app, f"{UPLOAD_PATH}ann/first", "PUT", content_length=MAX_SESSION_BYTES) == 200
    assert inside == [413, 409]
    assert put("ann", "second") == 200


def test_a_file_that_did_not_arrive_leaves_its_room():
    async def broken(scope, receive, send):
        raise ConnectionResetError

    expect("ann")
    with pytest.raises(ConnectionResetError):
        request(UploadLimits(broken), f"{UPLOAD_PATH}ann/1", "PUT", content_length=10)
    assert uploads._incoming_sizes == {}


def test_a_file_of_unknown_size_is_refused():
    expect("ann")
    assert status(APP, f"{UPLOAD_PATH}ann/1", "PUT") == 411
    assert put("ann", size="-5") == 411


def test_everything_else_passes():
    assert status(APP, "/") == 200
    assert status(APP, f"{UPLOAD_PATH}bob/1", "OPTIONS") == 200
    assert status(APP, f"{UPLOAD_PATH}bob/1", "DELETE") == 200


def test_the_sessions_that_asked_last_are_remembered(monkeypatch):
    monkeypatch.setattr(uploads, "MAX_SESSIONS", 2)
    for session in ("ann", "bob", "ann", "cleo"):
        expect(session)
    assert [put(session) for session in ("ann", "bob", "cleo")] == [200, 403, 200]


def test_the_server_accepts_files_as_large_as_the_form_says():
    settings = tomllib.loads((paths.REPOSITORY / ".streamlit" / "config.toml").read_text("utf-8"))
    assert settings["server"]["maxUploadSize"] == add_dataset.MAX_MEGABYTES
