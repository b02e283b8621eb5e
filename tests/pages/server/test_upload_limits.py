"""The limits on uploaded files, in a real Streamlit server with smaller limits."""

import asyncio
import subprocess
import sys

import pytest
import requests
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.typing import Subprotocol

from recsys import paths
from recsys.desktop import window
from tests import loops

FILE_BYTES, SESSION_BYTES, TOTAL_BYTES = 4_000, 10_000, 15_000
PAGE = f"""
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from pages.server import uploads

uploads.allow_uploads(get_script_run_ctx().session_id, {FILE_BYTES})
st.file_uploader("file")
"""
APP = f"""
import streamlit as st
from starlette.middleware import Middleware
from pages.server import uploads

uploads.MAX_SESSION_BYTES, uploads.MAX_TOTAL_BYTES = {SESSION_BYTES}, {TOTAL_BYTES}
app = st.App("page.py", middleware=[Middleware(uploads.UploadLimits)])
"""


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """host:port of a running server whose page asks for a file."""
    folder = tmp_path_factory.mktemp("uploads")
    (folder / "page.py").write_text(PAGE)
    (folder / "app.py").write_text(APP)
    port = window.free_port(0)
    options = (f"--server.port={port}", "--server.address=127.0.0.1", "--server.headless=true")
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", folder / "app.py", *options, "--server.disconnectedSessionTTL=0"],
        cwd=paths.REPOSITORY,
        env={"PYTHONPATH": str(paths.REPOSITORY), "HOME": str(folder), "PATH": ""},
    )
    try:
        window.wait_for(f"http://127.0.0.1:{port}", process)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


class Browser:
    """A session with the server, and files sent for it."""

    def __init__(self, host, connection, session):
        self.connection = connection
        self.address = f"http://{host}/_stcore/upload_file/{session}"
        self.http = requests.Session()
        self.http.get(f"http://{host}/_stcore/health", timeout=30)
        self.http.get(f"http://{host}/_stcore/host-config", timeout=30)
        self.token = {"X-Xsrftoken": self.http.cookies["_streamlit_xsrf"]}

    @classmethod
    async def open(cls, host):
        """Load the page, up to the end of its first run."""
        connection = await websockets.connect(f"ws://{host}/_stcore/stream", subprotocols=[Subprotocol("streamlit")])
        run = BackMsg()
        run.rerun_script.query_string = ""
        await connection.send(run.SerializeToString())
        session = ""
        while True:
            message = ForwardMsg.FromString(await asyncio.wait_for(connection.recv(decode=False), 60))
            if message.WhichOneof("type") == "new_session":
                session = message.new_session.initialize.session_id
            if message.WhichOneof("type") == "script_finished":
                return await asyncio.to_thread(cls, host, connection, session)

    async def put(self, file, size=3_000):
        """Upload a file and return the status."""
        return (await self._ask("PUT", file, files={"file": ("a.csv", b"x" * size)}, headers=self.token)).status_code

    async def delete(self, file, **how):
        """Delete a file and return the status."""
        return (await self._ask("DELETE", file, **how)).status_code

    async def _ask(self, method, file, **how):
        return await asyncio.to_thread(self.http.request, method, f"{self.address}/{file}", timeout=60, **how)


def with_browsers(n, use, host):
    """Run `use` with n open sessions, and close them."""

    async def run():
        browsers = [await Browser.open(host) for _ in range(n)]
        try:
            return await use(*browsers)
        finally:
            for browser in browsers:
                await browser.connection.close()

    return loops.run(run())


def test_a_refused_delete_does_not_give_quota_back(host):
    async def use(ann):
        filled = [await ann.put(str(number)) for number in range(4)]
        refused = await ann.delete("0")  # without the token that Streamlit asks for
        return filled, refused, await ann.put("4")

    assert with_browsers(1, use, host) == ([204, 204, 204, 413], 403, 413)


def test_a_deleted_file_gives_its_quota_back(host):
    async def use(ann):
        for number in range(3):
            await ann.put(str(number))
        return await ann.delete("0", headers=ann.token), await ann.put("3"), await ann.put("4")

    assert with_browsers(1, use, host) == (204, 204, 413)


def test_a_delete_of_a_file_of_another_session_gives_no_quota_back(host):
    async def use(ann, bob):
        for number in range(3):
            await ann.put(str(number))
        return await bob.delete("0", headers=bob.token), await ann.put("3")

    assert with_browsers(2, use, host) == (204, 413)


def test_all_sessions_together_are_limited(host):
    async def use(*browsers):
        return [await browser.put(str(number)) for browser in browsers for number in range(2)]

    statuses = with_browsers(4, use, host)
    assert statuses.count(204) == 4
    assert statuses[4:] == [413] * 4


def test_a_session_that_ended_leaves_its_room_to_others(host):
    async def use(ann):
        return [await ann.put(str(number)) for number in range(3)]

    accepted = [with_browsers(1, use, host) == [204] * 3 for _ in range(6)]
    assert sum(accepted) > 1  # Streamlit drops an ended session when a later one ends


def test_a_file_larger_than_its_page_asks_for_is_refused(host):
    async def use(ann):
        return await ann.put("0", FILE_BYTES + 1_000), await ann.put("1")

    assert with_browsers(1, use, host) == (413, 204)
