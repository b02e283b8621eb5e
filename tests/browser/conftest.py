import os
import socket
import subprocess
import sys
import time
import urllib.request
from shutil import which

import pytest

from recsys.paths import REPOSITORY
from tests.pages import world

FLAGS = "--no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update"
SLOW = 120_000  # ms; a busy machine is slow, not wrong


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    """The app, served from this repository over a toy MovieLens 100K."""
    home = tmp_path_factory.mktemp("browser")
    world.furnish(home)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true", f"--server.port={port}"]
    server = subprocess.Popen(command, cwd=REPOSITORY, env=os.environ | {"RECSYS_HOME": str(home)})
    try:
        yield wait_for(f"http://localhost:{port}", server)
    finally:
        server.terminate()
        server.wait(30)


def wait_for(address, server):
    """The address, once the app answers there."""
    for _ in range(SLOW // 200):
        assert server.poll() is None, "the app stopped by itself"
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2):
                return address
        except OSError:
            time.sleep(0.2)
    raise AssertionError("the app did not answer in time")


@pytest.fixture(scope="session")
def chromium():
    """The system's browser."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    path = which("chromium") or which("chromium-browser") or which("google-chrome")
    if not path:
        pytest.skip("there is no chromium on this machine: install it, as in apt install chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS.split())
        yield browser
        browser.close()


@pytest.fixture
def tab(chromium):
    """A fresh tab; at its end, everything that was asked of another machine is an error."""
    page = chromium.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(SLOW)
    strangers = []
    page.on("request", lambda request: strangers.append(request.url) if is_strange(request.url) else None)
    yield page
    page.close()
    assert strangers == []


def is_strange(url):
    """Whether an address is outside this machine."""
    return not url.startswith(("http://localhost:", "ws://localhost:", "data:", "blob:"))
