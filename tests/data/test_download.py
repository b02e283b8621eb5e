import errno
import hashlib
import random
import shutil
import subprocess
import sys
import threading

import pytest

from recsys.data import download, wheel
from recsys.data.download import DownloadError, fetch
from recsys.data.wheel import Wheel, fetch_wheel
from recsys.progress import Cancelled
from tests.data.server import Server, page, serving, slow, status

CONTENT = random.Random(0).randbytes(300_000)
MD5 = hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch):
    monkeypatch.setattr(download, "PAUSE_SECONDS", 0.0)


@pytest.fixture
def server():
    with serving(CONTENT) as running:
        yield running


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_arrives_whole_under_its_name_alone_and_progress_ends_at_its_length(server, tmp_path):
    events = []
    fetch(server.address, tmp_path / "a.zip", md5=MD5, report=events.append)
    assert (tmp_path / "a.zip").read_bytes() == CONTENT
    assert names(tmp_path) == ["a.zip"]
    assert events[-1] == {"stage": "download", "done": 300_000, "total": 300_000, "from": "127.0.0.1"}
    assert [event["done"] for event in events] == sorted(event["done"] for event in events)


def test_a_file_that_is_there_is_not_fetched_again(server, tmp_path):
    (tmp_path / "a.zip").write_bytes(CONTENT)
    fetch(server.address, tmp_path / "a.zip", md5=MD5)
    assert server.requests == []


def test_a_lost_connection_is_resumed_where_it_broke(server, tmp_path):
    server.tricks = [server.cut(200_000)]
    fetch(server.address, tmp_path / "a.zip", md5=MD5)
    assert (tmp_path / "a.zip").read_bytes() == CONTENT
    first, second = server.requests
    assert "Range" not in first
    start = int(second["Range"].removeprefix("bytes=").removesuffix("-"))
    assert 200_000 - download.CHUNK_BYTES <= start <= 200_000
    assert second["If-Range"] == '"one"'
    assert names(tmp_path) == ["a.zip"]


def test_many_lost_connections_are_no_reason_to_give_up_while_bytes_arrive(server, tmp_path):
    server.tricks = [server.cut(download.CHUNK_BYTES)] * 4
    fetch(server.address, tmp_path / "a.zip", md5=MD5, attempts=2)
    assert (tmp_path / "a.zip").read_bytes() == CONTENT


def test_a_file_that_changes_during_the_download_is_fetched_from_its_beginning(server, tmp_path):
    old = b"x" * 300_000
    server.content, cut = old, server.cut(200_000)

    def change(request):
        cut(request)
        server.content, server.etag = CONTENT, '"two"'

    server.tricks = [change]
    fetch(server.address, tmp_path / "a.zip", md5=MD5)
    assert (tmp_path / "a.zip").read_bytes() == CONTENT


@pytest.mark.parametrize("etag", ["", 'W/"weak"'])
def test_without_a_strong_mark_of_its_version_a_file_is_fetched_from_its_beginning(server, tmp_path, etag):
    server.etag = etag
    server.tricks = [server.cut(200_000)]
    fetch(server.address, tmp_path / "a.zip", md5=MD5)
    assert (tmp_path / "a.zip").read_bytes() == CONTENT
    assert "Range" not in server.requests[1]


def test_the_download_of_a_killed_run_is_resumed(server, tmp_path):
    (tmp_path / "a.zip.part").write_bytes(CONTENT[:100_000])
    (tmp_path / "a.zip.etag.part").write_text('"one"')
    fetch(server.address, tmp_path / "a.zip", md5=MD5)
    assert server.requests[0]["Range"] == "bytes=100000-"
    assert (tmp_path / "a.zip").read_bytes() == CONTENT
    assert names(tmp_path) == ["a.zip"]


def called_off(event):
    """A report by which somebody calls the work off."""
    raise Cancelled


def test_a_download_that_was_called_off_goes_on_from_there(server, tmp_path):
    with pytest.raises(Cancelled):
        fetch(server.address, tmp_path / "a.zip", md5=MD5, report=called_off)
    assert names(tmp_path) == ["a.zip.etag.part", "a.zip.part"]
    begun = (tmp_path / "a.zip.part").stat().st_size
    assert 0 < begun < 300_000
    fetch(server.address, tmp_path / "a.zip", md5=MD5)
    assert server.requests[1]["Range"] == f"bytes={begun}-"
    assert (tmp_path / "a.zip").read_bytes() == CONTENT
    assert names(tmp_path) == ["a.zip"]


def test_what_has_arrived_before_the_network_failed_is_kept_for_the_next_call(server, tmp_path):
    server.tricks = [server.cut(200_000), status(503), status(503)]
    with pytest.raises(DownloadError, match="answered 503; check the network"):
        fetch(server.address, tmp_path / "a.zip", md5=MD5, attempts=2)
    size = (tmp_path / "a.zip.part").stat().st_size
    assert size >= 200_000 - download.CHUNK_BYTES
    fetch(server.address, tmp_path / "a.zip", md5=MD5)
    assert server.requests[-1]["Range"] == f"bytes={size}-"
    assert names(tmp_path) == ["a.zip"]


def test_what_cannot_go_on_is_not_kept_when_it_is_called_off(server, tmp_path):
    server.etag = ""
    with pytest.raises(Cancelled):
        fetch(server.address, tmp_path / "a.zip", md5=MD5, report=called_off)
    assert names(tmp_path) == []


def test_a_server_that_says_nothing_can_be_called_off(server, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "POLL_SECONDS", 0.01)
    answer = threading.Event()
    server.tricks = [lambda request: answer.wait(10)]
    events = []

    def report(event):
        events.append(event)
        raise Cancelled

    with pytest.raises(Cancelled):
        fetch(server.address, tmp_path / "a.zip", report=report)
    answer.set()
    assert events == [{"stage": "wait"}]
    assert names(tmp_path) == []


def test_pip_can_be_called_off_and_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(wheel, "POLL_SECONDS", 0.01)
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    started = []

    class Started(subprocess.Popen):
        def __init__(self, *arguments, **settings):
            super().__init__(*arguments, **settings)
            started.append(self)

    monkeypatch.setattr(wheel.subprocess, "Popen", Started)
    with pytest.raises(Cancelled):
        wheel._run(command, called_off)
    assert started[0].returncode < 0


def test_a_part_that_the_server_cannot_continue_is_thrown_away(server, tmp_path):
    (tmp_path / "a.zip.part").write_bytes(b"longer than theirs")
    (tmp_path / "a.zip.etag.part").write_text('"one"')
    server.tricks = [status(416)]
    fetch(server.address, tmp_path / "a.zip", md5=MD5)
    assert "Range" in server.requests[0]
    assert "Range" not in server.requests[1]
    assert (tmp_path / "a.zip").read_bytes() == CONTENT


def test_another_piece_than_asked_for_is_not_put_into_the_file(server, tmp_path):
    def from_elsewhere(request):
        request.send_response(206)
        request.send_header("Content-Range", "bytes 7-299999/300000")
        request.send_header("Content-Length", str(300_000 - 7))
        request.end_headers()
        request.wfile.write(CONTENT[7:])

    server.tricks = [server.cut(200_000), from_elsewhere]
    fetch(server.address, tmp_path / "a.zip")
    assert (tmp_path / "a.zip").read_bytes() == CONTENT


def test_a_busy_server_is_asked_again(server, tmp_path):
    server.tricks = [status(503), status(429)]
    fetch(server.address, tmp_path / "a.zip", md5=MD5)
    assert (tmp_path / "a.zip").read_bytes() == CONTENT


def test_a_truncated_file_is_refused_with_one_line(server, tmp_path):
    server.tricks = [server.cut(1000)] * 20
    refused(server, tmp_path, "connection was lost")


def test_another_file_than_expected_is_refused_with_one_line(server, tmp_path):
    server.content = CONTENT[:-1] + b"?"
    refused(server, tmp_path, "sent a different file from the one expected")


def test_a_file_that_is_not_there_is_not_asked_for_twice(server, tmp_path):
    server.tricks = [status(404)]
    refused(server, tmp_path, "answered 404 Not Found")
    assert len(server.requests) == 1


def test_a_web_page_is_not_taken_for_a_file(server, tmp_path):
    server.tricks = [page]
    refused(server, tmp_path, "web page instead of the file", md5=None)


def test_a_file_larger_than_it_can_be_is_refused(server, tmp_path):
    refused(server, tmp_path, "sent more than 1,000 bytes", max_bytes=1000)


def test_a_server_that_is_too_slow_is_given_up_after_the_time_in_all(server, tmp_path):
    server.tricks = [slow]
    refused(server, tmp_path, "did not deliver the file in time", seconds=0.5)


def test_a_name_server_that_never_answers_is_given_up_after_the_time_in_all(tmp_path, monkeypatch):
    never = threading.Event()
    monkeypatch.setattr("socket.getaddrinfo", lambda *question, **details: never.wait(20))
    refused(Server(b""), tmp_path, "did not deliver the file in time", address="https://example.org/a.zip", seconds=0.3)
    never.set()


@pytest.mark.skipif(not shutil.which("openssl"), reason="there is no openssl here to make a certificate")
def test_a_certificate_that_cannot_be_verified_is_refused(tmp_path):
    pair = tmp_path / "pair.pem"
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    )
    subprocess.run([*command.split(), "-keyout", pair, "-out", tmp_path / "cert"], check=True, capture_output=True)
    pair.write_text(pair.read_text() + (tmp_path / "cert").read_text())
    (tmp_path / "here").mkdir()
    with serving(CONTENT, pair) as server:
        refused(server, tmp_path / "here", "certificate cannot be verified")
        assert server.requests == []


def test_nobody_there_is_one_line_too(tmp_path):
    refused(Server(b""), tmp_path, "refuses connections", address="http://127.0.0.1:9/a.zip")


def test_a_full_disk_is_refused_with_one_line(server, tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(download.os, "fsync", full)
    refused(server, tmp_path, "No space left on device; free up disk space")


def test_ctrl_c_leaves_nothing_half_written(server, tmp_path):
    def press(event):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(server.address, tmp_path / "a.zip", md5=MD5, report=press)
    assert names(tmp_path) == []


def test_a_failed_download_leaves_the_older_file_alone(server, tmp_path):
    (tmp_path / "a.zip").write_bytes(b"older")
    server.tricks = [status(404)]
    with pytest.raises(DownloadError):
        fetch(server.address, tmp_path / "a.zip", md5=MD5)
    assert (tmp_path / "a.zip").read_bytes() == b"older"


def refused(server, folder, words, address=None, md5=MD5, **settings):
    """It ends in one line with these words, and leaves nothing behind."""
    with pytest.raises(DownloadError, match=words) as caught:
        fetch(address or server.address, folder / "a.zip", md5=md5, **settings)
    assert "\n" not in str(caught.value)
    assert names(folder) == []


def pip_that(monkeypatch, tmp_path, does):
    """Put a program where `python -m pip` was; `does` is its Python code, with the target folder in `folder`."""
    program = tmp_path / "python"
    program.write_text(f"#!{sys.executable}\nimport sys\nfolder = sys.argv[sys.argv.index('--dest') + 1]\n{does}\n")
    program.chmod(0o755)
    monkeypatch.setattr(wheel.sys, "executable", str(program))


WHEEL = Wheel("toy==1.0", hashlib.sha256(b"wheel").hexdigest())
SEND = "open(folder + '/toy-1.0-py3-none-any.whl', 'w').write('wheel')"


def test_a_wheel_is_taken_as_a_file_and_only_once(tmp_path, monkeypatch):
    pip_that(monkeypatch, tmp_path, SEND)
    path = fetch_wheel(WHEEL, tmp_path / "here")
    assert path.read_text() == "wheel"
    assert names(tmp_path / "here") == ["toy-1.0-py3-none-any.whl"]
    pip_that(monkeypatch, tmp_path, "sys.exit(1)")
    assert fetch_wheel(WHEEL, tmp_path / "here") == path


@pytest.mark.parametrize(
    ("does", "words"),
    [
        (SEND.replace("'wheel')", "'whale')"), "a different toy-1.0-py3-none-any.whl from the one expected"),
        ("pass", "sent no wheel for toy==1.0"),
        ("sys.exit('first line\\nERROR: no matching distribution')", "toy==1.0: ERROR: no matching distribution$"),
        ("sys.exit(1)", "no reason given"),
    ],
)
def test_a_wheel_that_cannot_be_had_is_one_line_and_leaves_nothing(tmp_path, monkeypatch, does, words):
    pip_that(monkeypatch, tmp_path, does)
    with pytest.raises(DownloadError, match=words) as caught:
        fetch_wheel(WHEEL, tmp_path / "here")
    assert "\n" not in str(caught.value)
    assert names(tmp_path / "here") == []
