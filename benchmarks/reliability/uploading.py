"""Files put to the running app as a browser puts them, for B3 and S7."""

import asyncio
import re
import shutil
import tempfile
import uuid
from collections.abc import Iterable
from pathlib import Path

import requests
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.typing import Subprotocol

from benchmarks.reliability import served
from benchmarks.reliability.promise import Outcome, judged, unmeasured
from benchmarks.visitors import LARGEST, PATIENCE, Visitor
from pages.server.uploads import MAX_SESSION_FILES
from recsys.data import datasets

BRING = "Bring your history"
PEOPLE = 100  # of S7
MEMORY = "/dev/shm"  # noqa: S108 - a disk in memory, as the systemd unit gives the app


class Uploader(Visitor):
    """A visitor with an eye on sessions, upload boxes and everything else that is sent."""

    def __init__(self, connection: websockets.ClientConnection, query: str) -> None:
        super().__init__(connection, query)
        self.session = self.box = self.fragment = ""
        self.seen: list[bytes] = []

    def read(self, message: ForwardMsg) -> bool:
        """Take in one message."""
        self.seen.append(message.SerializeToString())
        if message.WhichOneof("type") == "new_session":
            self.session = message.new_session.initialize.session_id
        if message.WhichOneof("type") == "delta" and message.delta.new_element.WhichOneof("type") == "file_uploader":
            self.box, self.fragment = message.delta.new_element.file_uploader.id, message.delta.fragment_id
        return super().read(message)

    async def bring(self, host: str, name: str, data: bytes) -> int:
        """Choose a file in the dialog; the status of its way up, once the page has answered to it."""
        file, status = await asyncio.to_thread(put, host, self.session, data, name)
        if status >= 300:
            return status
        message = BackMsg()
        message.rerun_script.query_string = self.query
        message.rerun_script.fragment_id = self.fragment
        widget = message.rerun_script.widget_states.widgets.add(id=self.box)
        info = widget.file_uploader_state_value.uploaded_file_info.add(file_id=file, name=name, size=len(data))
        info.file_urls.file_id = file
        info.file_urls.upload_url = f"/_stcore/upload_file/{self.session}/{file}"
        await self.connection.send(message.SerializeToString())
        async with asyncio.timeout(PATIENCE):
            while not self.read(ForwardMsg.FromString(await self.connection.recv(decode=False))):
                pass
        return status


def put(host: str, session: str, data: bytes, name: str = "a.csv", origin: str = "") -> tuple[str, int]:
    """Send a file for a session; its id and the status."""
    file = str(uuid.uuid4())
    with requests.Session() as browser:
        browser.get(f"http://{host}/_stcore/health", timeout=30)
        browser.get(f"http://{host}/_stcore/host-config", timeout=30)
        headers = {"X-Xsrftoken": browser.cookies.get("_streamlit_xsrf", "")} | ({"Origin": origin} if origin else {})
        where = f"http://{host}/_stcore/upload_file/{session}/{file}"
        try:
            return file, browser.put(where, files={"file": (name, data)}, headers=headers, timeout=60).status_code
        except requests.ConnectionError:  # the server has hung up before it had all of it
            return file, 0


async def come(host: str, with_dialog: bool = True) -> Uploader:
    """A visitor, with the dialog open that asks for files."""
    uri = f"ws://{host}/_stcore/stream"
    connection = await websockets.connect(uri, subprotocols=[Subprotocol("streamlit")], max_size=LARGEST)
    visitor = Uploader(connection, "")
    await visitor.run_page(None)
    if with_dialog:
        await visitor.run_page(visitor.buttons[BRING])
    return visitor


def limits() -> Outcome:
    """B3: without a box; then with one: 100 MB, 11 MB, 9 MB, and more files than a visit may send."""
    datasets.ensure(datasets.DEFAULT_DATASET)

    async def use(app: served.App) -> dict[str, bool]:
        await come(app.host)  # what a first visit loads is no upload's
        before = app.memory
        nobody = await come(app.host, with_dialog=False)
        found = {"unasked for: 403": (await asyncio.to_thread(put, app.host, nobody.session, b"x" * 1000))[1] == 403}
        asked = await come(app.host)
        for megabytes, allowed in ((100, (413, 0)), (12, (413, 0)), (9, (204,))):
            status = (await asyncio.to_thread(put, app.host, asked.session, b"x" * (megabytes << 20)))[1]
            found[f"{megabytes} MB: {status}"] = status in allowed
        many = [
            await asyncio.to_thread(put, app.host, asked.session, b"x" * 1000) for _ in range(MAX_SESSION_FILES + 1)
        ]
        found[f"a visit may send {MAX_SESSION_FILES} files"] = [status for _, status in many[-2:]] == [413, 413]
        file = f"http://{app.host}/_stcore/upload_file/{asked.session}/{many[0][0]}"
        refused = (await asyncio.to_thread(requests.delete, file, timeout=30)).status_code
        again = (await asyncio.to_thread(put, app.host, asked.session, b"x" * 1000))[1]
        found[f"a refused DELETE ({refused}) makes no room"] = (refused, again) == (403, 413)
        grown = (app.memory - before) / 1e6
        found[f"{grown:.0f} MB more in memory"] = grown < 150
        healthy = await asyncio.to_thread(requests.get, f"{app.address}/_stcore/health", timeout=10)
        return found | {"the server is up": healthy.status_code == 200}

    with tempfile.TemporaryDirectory() as folder, served.app(Path(folder)) as app:
        checks = asyncio.run(use(app))
    return judged("; ".join(checks), checks)


def everything(host: str) -> list[bytes]:
    """All that the app sends to somebody who opens the first page and a dialog."""

    async def use() -> list[bytes]:
        visitor = await come(host)
        await visitor.connection.close()
        return visitor.seen

    return asyncio.run(use())


def privacy() -> Outcome:
    """S7: where 4 MB are written on their way, and whether a hundred visitors see their own films alone."""
    datasets.ensure(datasets.DEFAULT_DATASET)
    if not shutil.which("strace"):
        return unmeasured("needs strace")
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory(dir=MEMORY) as memory,
        served.app(Path(folder), TMPDIR=memory) as app,
    ):
        trace = asyncio.run(traced(app, Path(folder, "trace")))
        lost, crossed = asyncio.run(_many(app.host, PEOPLE))
        log = app.log.read_text("utf-8", "replace")
    opened = list(writable(trace))
    written = sorted({path for path in opened if not path.startswith((memory, "/dev/", "/proc/"))})
    checks = {
        "the upload was seen on its way": any(path.startswith(memory) for path in opened),
        f"written outside TMPDIR: {', '.join(written[:3])}": not written,
        f"{lost} did not see their own film": not lost,
        f"{crossed} saw somebody else's": not crossed,
        "no path of an upload is in the log": "upload_file" not in log,
    }
    return judged(
        f"4 MB: {len(written)} files opened to write outside TMPDIR; {PEOPLE} visitors, {crossed} crossings", checks
    )


async def traced(app: served.App, to: Path) -> str:
    """The files that the server opens while somebody brings a history of four megabytes, as strace tells."""
    visitor = await come(app.host)
    command = ["strace", "-f", "-e", "trace=open,openat,creat", "-o", str(to), "-p", str(app.process.pid)]
    strace = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    await strace.stderr.readline()  # "attached"
    await visitor.bring(app.host, "diary.csv", diary("Heat", 4 << 20))
    strace.terminate()
    await strace.wait()
    await visitor.connection.close()
    return to.read_text("utf-8", "replace")


def writable(trace: str) -> Iterable[str]:
    """The files that were opened to write."""
    for path, flags in re.findall(r'(?:open|openat|creat)\((?:AT_FDCWD, )?"([^"]*)", ([A-Z_|]*)', trace):
        if re.search(r"O_WRONLY|O_RDWR|O_CREAT", flags):
            yield path


def diary(film: str, size: int = 0) -> bytes:
    """A history with a film that nobody knows, as large as asked."""
    text = f"Date,Name,Year,Letterboxd URI\n2020-01-01,{film},1990,https://boxd.it/f1\n"
    return (text + ",,,\n" * max(0, (size - len(text)) // 4)).encode()


async def _many(host: str, n: int) -> tuple[int, int]:
    """How many of n visitors at once do not see their own film, and how many see that of another."""
    gate = asyncio.Semaphore(10)  # so that the server's answers overlap, and none waits for a minute
    seen: dict[str, bytes] = {}

    async def one(number: int) -> None:
        film = f"Zzyzx{number:05d}q"
        async with gate:
            visitor = await come(host)
            await visitor.bring(host, "diary.csv", diary(film))
            seen[film] = b"".join(visitor.seen)
            await visitor.connection.close()

    await asyncio.gather(*(one(number) for number in range(n)))
    lost = sum(film.encode() not in data for film, data in seen.items())
    crossed = sum(any(other.encode() in data for other in seen if other != film) for film, data in seen.items())
    return lost, crossed
