import socket
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from recsys import paths
from recsys.desktop import window
from recsys.desktop.window import ServerError, run_server, wait_for

SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]


class HealthHandler(BaseHTTPRequestHandler):
    """Answer every request, as the app does when it is ready."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def log_message(self, *words):
        pass


def eventually(holds, seconds=60.0):
    """Whether something comes true."""
    until = time.monotonic() + seconds
    while not (true := holds()) and time.monotonic() < until:
        time.sleep(0.01)
    return true


@pytest.fixture
def commands(monkeypatch):
    """What would be started; a process that sleeps is started instead."""
    started = []

    def start(command, **how):
        started.append(command)
        return popen(SLEEPER)

    popen = subprocess.Popen
    monkeypatch.setattr(window.subprocess, "Popen", start)
    return started


def test_the_server_ends_with_whoever_started_it(commands):
    with run_server() as (_, process):
        assert process.poll() is None
    assert process.poll() is not None


def test_the_server_ends_with_an_error_too(commands):
    with pytest.raises(RuntimeError), run_server() as (_, process):
        raise RuntimeError
    assert process.poll() is not None


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a promise of Linux")
def test_the_server_ends_when_whoever_started_it_is_killed():
    program = (
        "import subprocess, time; from recsys.desktop import window\n"
        "popen = subprocess.Popen\n"
        "window.subprocess.Popen = lambda command, **how: popen(['sleep', '600'], **how)\n"
        "with window.run_server() as (_, process): print(process.pid, flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=paths.REPOSITORY) as parent:
        child = Path(f"/proc/{int(parent.stdout.readline())}")
        assert child.exists()
        parent.kill()
    assert eventually(lambda: not child.exists() or ") Z " in (child / "stat").read_text())


def test_only_this_machine_is_served_unless_the_app_is_to_be_public(commands):
    with run_server(), run_server(public=True):
        assert ["--server.address=127.0.0.1" in command for command in commands] == [True, False]
        assert ["--server.address=0.0.0.0" in command for command in commands] == [False, True]


def test_each_server_has_a_port_of_its_own_and_says_where_it_is(commands):
    with run_server() as (address, _):
        port = address.rpartition(":")[2]
        assert address == f"http://localhost:{port}"
        assert f"--server.port={port}" in commands[0]


def test_a_port_that_is_taken_is_said_before_anything_is_started(commands):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(ServerError, match=f"port {port} is not free"), run_server(port):
            pass
    assert commands == []


def test_an_app_that_stops_by_itself_is_not_waited_for():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    with pytest.raises(ServerError, match="stopped by itself"):
        wait_for("http://localhost:9", process)


def test_an_app_that_is_silent_is_not_waited_for_for_ever(monkeypatch):
    monkeypatch.setattr(window, "START_TIMEOUT_SECONDS", 0.0)
    with subprocess.Popen(SLEEPER) as process:
        try:
            with pytest.raises(ServerError, match="did not answer"):
                wait_for("http://localhost:9", process)
        finally:
            process.kill()


def test_a_proxy_of_the_network_is_not_asked_for_the_app(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setattr(window, "START_TIMEOUT_SECONDS", 5.0)
    with ThreadingHTTPServer(("localhost", 0), HealthHandler) as server, subprocess.Popen(SLEEPER) as process:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://localhost:{server.server_port}"
        try:
            wait_for(address, process)
        finally:
            server.shutdown()
            process.kill()


def test_a_port_without_permission_is_not_called_used(monkeypatch):
    class Forbidden(socket.socket):
        def bind(self, address):
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(window.socket, "socket", Forbidden)
    with pytest.raises(ServerError, match="this account may not use port 80; choose a port above 1023"):
        window.free_port(80)
