"""The served app with many, interrupted and hostile visitors."""

import asyncio
import hashlib
import http.client
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
import requests
import websockets
from streamlit import config
from streamlit.proto.BackMsg_pb2 import BackMsg

from benchmarks.load import Times, visit
from pages.server.admission import MAX_OPEN_PAGES
from recsys.data import datasets
from recsys.paths import REPOSITORY
from recsys.serving.history import to_url_params
from tests.served_app import Visitor, link, served_app

pytestmark = pytest.mark.reliability

N_VISITORS = 50
N_DROPS = 20
MAX_FILES = 1024
NOBODY = 65534  # user id
COUNTER = """
import sys, uvicorn
import recsys.checkpoints as checkpoints
load = checkpoints.load
def counted(folder, *rest, **options):
    print("LOADED", folder.name if folder.name[:5] != "seed-" else folder.parent.name, flush=True)
    return load(folder, *rest, **options)
checkpoints.load = counted
uvicorn.run("app:app", host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
"""
KEYS = {
    "v3 key": hashlib.md5(b"a sentinel", usedforsecurity=False).hexdigest(),
    "token": f"eyJhbGciOiJIUzI1NiJ9.{'c2VudGluZWw' * 9}.{'x' * 43}",
}
SETTINGS = {
    "server.enableXsrfProtection": True,
    "server.enableCORS": True,
    "server.enableStaticServing": False,
    "client.showErrorDetails": "none",
    "browser.gatherUsageStats": False,
    "server.address": "127.0.0.1",
}
SECRET_FILES = {b"root:x:0": "/etc/passwd", b"st.App(": "app.py", b"[core]": ".git/config", b"maxUpload": "config.toml"}
TRAVERSALS = [
    *("/../../../../etc/passwd", "/static/../../../../etc/passwd", "/static/..%2f..%2f..%2fetc/passwd"),
    *("/%2e%2e/%2e%2e/etc/passwd", "/_stcore/../../etc/passwd", "/app/static/..%5c..%5c/app.py"),
    *("/app/static/../../app.py", "/component/x/../../../../etc/passwd", "/media/../../../../etc/passwd"),
    *("//etc/passwd", "/app.py", "/.streamlit/config.toml", "/.git/config"),
]


@pytest.fixture
def query(sample_home):
    return link(datasets.DEFAULT_DATASET, 20)


def messages_of_a_visit(host):
    """Return all that the app sends to a visitor who opens the first page and its dialog for files."""

    async def use():
        visitor = await Visitor.arrive(host, record=True)
        await visitor.run_page(visitor.buttons["Import your history"])
        await visitor.connection.close()
        return visitor.messages

    return asyncio.run(use())


def test_many_first_visitors_load_each_model_together(query, tmp_path, record_property):
    command, times = [sys.executable, "-c", COUNTER, "{port}"], Times()

    async def use(app):
        await asyncio.gather(*(visit(app, query, 0, 0.0, seed, times) for seed in range(N_VISITORS)))

    with served_app(tmp_path / "log", command=command) as app:
        asyncio.run(use(app))
    models = [line.split()[1] for line in (tmp_path / "log").read_text().splitlines() if line.startswith("LOADED")]
    record_property("figure", f"{len(times.first_page)} visitors, loaded: {', '.join(models)}")
    assert times.errors == []
    assert models
    assert max(map(models.count, models)) <= 2  # by the warm-up, and by all visitors together


def test_a_lost_connection_gets_the_list_of_its_session_back(app, sample_home, record_property):
    dataset = datasets.load(datasets.DEFAULT_DATASET)

    def films(visitor):
        return sorted(label for label in visitor.buttons if label.startswith("*Move "))

    async def use():
        visitors, expected, slowest = [], [], 0.0
        for length, history in zip((6, 9), dataset.histories, strict=False):
            items = history[-length:].tolist()
            visitors.append(
                await Visitor.arrive(app.host, urlencode(to_url_params(dataset.name, dataset.catalog, items)))
            )
            expected.append((films(visitors[-1]), visitors[-1].session_id))
        assert expected[0][0] != expected[1][0]
        for turn in range(N_DROPS):
            visitor = visitors[turn % 2]
            await visitor.connection.send(BackMsg(rerun_script={"query_string": ""}).SerializeToString())
            visitor.connection.transport.abort()
            start, visitor.query = time.perf_counter(), ""
            await visitor.connect()
            await visitor.run_page()  # the first run to end may be the interrupted one
            slowest = max(slowest, time.perf_counter() - start)
            assert (films(visitor), visitor.session_id) == expected[turn % 2]
        return slowest

    record_property("figure", f"{N_DROPS} interrupted runs, slowest return {asyncio.run(use()):.1f} s")


def test_a_full_app_refuses_and_has_room_again(query, record_property):
    async def refusal(host):
        try:
            visitor = await asyncio.wait_for(Visitor.arrive(host, query), 10)
        except (websockets.InvalidStatus, websockets.ConnectionClosed, TimeoutError) as error:
            return error
        await visitor.connection.close()
        return None

    def get(app, path=""):
        start = time.perf_counter()
        status = requests.get(app.address + path, headers={"Accept": "text/html"}, timeout=30).status_code
        return status, time.perf_counter() - start

    async def use(app):
        visitors, health = [], []
        for _ in range(MAX_OPEN_PAGES):
            visitors.append(await Visitor.arrive(app.host, query))
            health.append((await asyncio.to_thread(get, app, "/_stcore/health"))[1])
        status, seconds = await asyncio.to_thread(get, app)
        assert status == 503
        assert isinstance(await refusal(app.host), websockets.InvalidStatus | websockets.ConnectionClosed)
        for visitor in visitors:
            with suppress(websockets.WebSocketException):
                await visitor.connection.close()
        await asyncio.sleep(1)
        assert (await asyncio.to_thread(get, app))[0] == 200
        p95 = np.quantile(health, 0.95)
        return f"{MAX_OPEN_PAGES} visitors; 503 in {1000 * seconds:.0f} ms; health p95 {1000 * p95:.0f} ms"

    with served_app(max_files=MAX_FILES) as app:
        record_property("figure", asyncio.run(use(app)))


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_the_tmdb_key_never_leaves_the_environment(sample_home, tmp_path, key):
    with served_app(tmp_path / "log", TMDB_API_KEY=key) as app:
        places = {f"message {number}": data for number, data in enumerate(messages_of_a_visit(app.host))}
        places["page"] = requests.get(app.address, timeout=30).content
        places["command line"] = Path(f"/proc/{app.process.pid}/cmdline").read_bytes()
    places["log"] = (tmp_path / "log").read_bytes()
    places |= {str(p): p.read_bytes() for p in sample_home.rglob("*") if p.is_file() and p.stat().st_size < 1 << 20}
    assert [name for name, data in places.items() if key.encode() in data] == []
    assert len(places) > 20


def test_settings_are_those_of_a_public_address():
    assert {name: config.get_option(name) for name in SETTINGS} == SETTINGS


@pytest.mark.skipif(not shutil.which("setpriv") or os.geteuid() != 0, reason="needs setpriv and root")
def test_without_rights_the_app_serves_pages_and_no_other_files(tmp_path, record_property):
    folder = tempfile.mkdtemp()  # the folders of pytest are closed to other users
    os.chown(folder, NOBODY, NOBODY)
    prefix = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"]
    change_code = f"import os; os.utime({str(REPOSITORY / 'app.py')!r})"
    assert subprocess.run([*prefix, sys.executable, "-c", change_code], capture_output=True).returncode != 0
    with served_app(tmp_path / "log", prefix=prefix, RECSYS_HOME=folder, HOME=folder) as app:
        status = Path(f"/proc/{app.process.pid}/status").read_text()
        answers = {path: request(app.host, path) for path in TRAVERSALS}
        pages = messages_of_a_visit(app.host)
    assert re.search(rf"^Uid:\s+{NOBODY}\s", status, re.MULTILINE)
    assert "NoNewPrivs:\t1" in status
    assert any(b"Watch next" in message for message in pages)
    leaks = [(path, file) for path, (_, body) in answers.items() for sign, file in SECRET_FILES.items() if sign in body]
    assert leaks == []
    refused = sum(code >= 400 for code, _ in answers.values())
    record_property("figure", f"{len(TRAVERSALS)} odd paths: {refused} refused, the others get the page of the app")


def request(host, path):
    """Return the status and the body of an answer. The path is sent unchanged."""
    connection = http.client.HTTPConnection(host, timeout=30)
    try:
        connection.putrequest("GET", path)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()
