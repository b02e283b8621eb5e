"""Files that visitors send to the served app."""

import asyncio
import re
import shutil
import tempfile
import uuid

import pytest
import requests
from streamlit.proto.BackMsg_pb2 import BackMsg

from pages.server.uploads import MAX_SESSION_FILES
from tests.served_app import Visitor, served_app

pytestmark = pytest.mark.reliability

N_VISITORS = 100
MAX_GROWTH_MB = 150
MEMORY_DISK = "/dev/shm"  # noqa: S108 - a disk in memory, as the systemd unit gives the app


async def visitor_with_dialog(host):
    """Return a visitor who has opened the dialog for files."""
    visitor = await Visitor.arrive(host, record=True)
    await visitor.run_page(visitor.buttons["Import your history"])
    return visitor


async def put(visitor, data, name="a.csv"):
    """Send a file as a browser does. Return its id and the status, 0 if the server closed the connection."""
    file, site = str(uuid.uuid4()), f"http://{visitor.host}/_stcore"

    def send():
        with requests.Session() as browser:
            browser.get(f"{site}/health", timeout=30)
            browser.get(f"{site}/host-config", timeout=30)
            headers = {"X-Xsrftoken": browser.cookies.get("_streamlit_xsrf", "")}
            url, files = f"{site}/upload_file/{visitor.session_id}/{file}", {"file": (name, data)}
            try:
                return browser.put(url, files=files, headers=headers, timeout=60).status_code
            except requests.ConnectionError:
                return 0

    return file, await asyncio.to_thread(send)


async def bring(visitor, data):
    """Choose a file in the dialog and wait for the page."""
    file, status = await put(visitor, data, "diary.csv")
    assert status == 204
    message = BackMsg()
    message.rerun_script.query_string = visitor.query
    message.rerun_script.fragment_id = visitor.uploader.fragment
    widget = message.rerun_script.widget_states.widgets.add(id=visitor.uploader.id)
    info = widget.file_uploader_state_value.uploaded_file_info.add(file_id=file, name="diary.csv", size=len(data))
    info.file_urls.file_id = file
    info.file_urls.upload_url = f"/_stcore/upload_file/{visitor.session_id}/{file}"
    await visitor.send(message)


def diary(film, size=0):
    """Return a history with one film, padded to `size` bytes."""
    text = f"Date,Name,Year,Letterboxd URI\n2020-01-01,{film},1990,https://boxd.it/f1\n"
    return (text + ",,,\n" * max(0, (size - len(text)) // 4)).encode()


def test_files_without_a_dialog_too_large_or_too_many_are_refused(app, record_property):
    async def use():
        await visitor_with_dialog(app.host)  # loads models and fills caches
        visitor, memory_mb = await Visitor.arrive(app.host), app.memory_mb
        assert (await put(visitor, b"x" * 1000))[1] == 403
        visitor = await visitor_with_dialog(app.host)
        for megabytes, allowed in ((100, (413, 0)), (12, (413, 0)), (9, (204,))):
            assert (await put(visitor, b"x" * (megabytes << 20)))[1] in allowed, f"{megabytes} MB"
        files = [await put(visitor, b"x" * 1000) for _ in range(MAX_SESSION_FILES + 1)]
        assert [status for _, status in files[-2:]] == [413, 413]
        url = f"{app.address}/_stcore/upload_file/{visitor.session_id}/{files[0][0]}"
        assert (await asyncio.to_thread(requests.delete, url, timeout=30)).status_code == 403
        assert (await put(visitor, b"x" * 1000))[1] == 413  # a refused DELETE frees no quota
        assert (await asyncio.to_thread(requests.get, f"{app.address}/_stcore/health", timeout=10)).status_code == 200
        return app.memory_mb - memory_mb

    growth_mb = asyncio.run(use())
    record_property("figure", f"{growth_mb:.0f} MB more in memory")
    assert growth_mb < MAX_GROWTH_MB


def test_every_visitor_sees_only_the_film_of_their_file(app):
    gate, messages = asyncio.Semaphore(10), {}

    async def visit(number):
        film = f"Zzyzx{number:05d}q"
        async with gate:
            visitor = await visitor_with_dialog(app.host)
            await bring(visitor, diary(film))
            messages[film] = b"".join(visitor.messages)
            await visitor.connection.close()

    async def use():
        await asyncio.gather(*map(visit, range(N_VISITORS)))

    asyncio.run(use())
    for film, received in messages.items():
        assert [other for other in messages if other.encode() in received] == [film]


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_an_upload_is_written_nowhere_but_into_the_temporary_folder(sample_home, tmp_path):
    trace, log = tmp_path / "trace", tmp_path / "log"

    async def use(app):
        visitor = await visitor_with_dialog(app.host)
        command = ["strace", "-f", "-e", "trace=open,openat,creat", "-o", str(trace), "-p", str(app.process.pid)]
        strace = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
        await strace.stderr.readline()  # "attached"
        await bring(visitor, diary("Heat", 4 << 20))
        strace.terminate()
        await strace.wait()

    with tempfile.TemporaryDirectory(dir=MEMORY_DISK) as memory, served_app(log, TMPDIR=memory) as app:
        asyncio.run(use(app))
    calls = re.findall(
        r'(?:open|openat|creat)\((?:AT_FDCWD, )?"([^"]*)", ([A-Z_|]*)', trace.read_text("utf-8", "replace")
    )
    written = {path for path, flags in calls if re.search("O_WRONLY|O_RDWR|O_CREAT", flags)}
    assert any(path.startswith(memory) for path in written)
    assert [path for path in written if not path.startswith((memory, "/dev/", "/proc/"))] == []
    assert "upload_file" not in log.read_text("utf-8", "replace")
