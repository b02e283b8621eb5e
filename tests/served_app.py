"""Start the app as a process, and visit it over its own WebSocket protocol without a browser."""

import asyncio
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import urlencode

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.typing import Subprotocol

from recsys import paths
from recsys.data import datasets
from recsys.desktop import window
from recsys.machine import terminate_with_parent
from recsys.serving.history import to_url_params

STREAMLIT = (sys.executable, "-m", "streamlit", "run", "app.py", "--server.port={port}", "--server.headless=true")
MAX_MESSAGE_BYTES = 1 << 26
RUN_TIMEOUT_SECONDS = 60.0
COMPLETE = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)


class PageError(RuntimeError):
    """A page shows an error or lacks a button."""


@dataclass(frozen=True)
class App:
    """A running app."""

    host: str  # "localhost:8501"
    process: subprocess.Popen

    @property
    def address(self) -> str:
        """The URL of the app."""
        return f"http://{self.host}"

    @property
    def memory_mb(self) -> float:
        """The resident memory of the server in MB (10⁶ bytes). Linux only."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextmanager
def served_app(
    log: Path | None = None,
    max_files: int | None = None,
    prefix: Sequence[str] = (),
    command: Sequence[str] = STREAMLIT,
    **environment: str,
) -> Iterator[App]:
    """Run the app on a free port until the end of the block.

    Args:
        log: File for the output of the server. Without it, the output is discarded.
        max_files: Limit of files that the server may have open.
        prefix: A command that starts the server, such as setpriv with its options.
        command: The server. "{port}" is replaced.
        environment: Environment variables in addition to those of this process.
    """

    def prepare() -> None:
        terminate_with_parent()
        if max_files:
            import resource

            resource.setrlimit(resource.RLIMIT_NOFILE, (max_files, max_files))

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (log or Path(os.devnull)).open("wb") as output:
        process = subprocess.Popen(
            [*prefix, *(word.format(port=port) for word in command)],
            cwd=paths.REPOSITORY,
            env=os.environ | environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=prepare,
        )
        try:
            window.wait_for(f"http://localhost:{port}", process)
            yield App(f"localhost:{port}", process)
        finally:
            window.stop(process)


@dataclass(frozen=True)
class Widget:
    """A widget of a page. Its fragment is the part of the page that runs after a change ("": all of it)."""

    label: str
    id: str
    fragment: str


class Visitor:
    """A visitor with one open page.

    Attributes:
        buttons: The enabled buttons of the page by label.
        uploader: The last file uploader that the page showed, if any.
        messages: All messages from the app, serialised. Recorded only if `record` is set.
    """

    def __init__(self, host: str, query: str = "", record: bool = False) -> None:
        self.host, self.query, self.record = host, query, record
        self.connection: websockets.ClientConnection
        self.session_id = ""
        self.buttons: dict[str, Widget] = {}
        self.uploader: Widget | None = None
        self.messages: list[bytes] = []

    @classmethod
    async def arrive(cls, host: str, query: str = "", record: bool = False) -> Self:
        """Open the app at a link and wait until the page is complete."""
        visitor = cls(host, query, record)
        await visitor.connect()
        return visitor

    async def connect(self) -> None:
        """Open a connection and run the page. A visitor who had a session continues it."""
        names = ["streamlit", "none", *([self.session_id] if self.session_id else [])]
        protocols = [Subprotocol(name) for name in names]
        uri = f"ws://{self.host}/_stcore/stream"
        self.connection = await websockets.connect(uri, subprotocols=protocols, max_size=MAX_MESSAGE_BYTES)
        await self.run_page()

    async def press(self, label: str, rng: random.Random) -> float:
        """Press a random button whose label starts with `label`. Return the seconds until the page is complete."""
        buttons = [button for button in self.buttons.values() if button.label.startswith(label)]
        if not buttons:
            raise PageError(f'the page has no button "{label}…"; it has {", ".join(self.buttons) or "none"}')
        return await self.run_page(rng.choice(buttons))

    async def run_page(self, button: Widget | None = None) -> float:
        """Run the page, with a pressed button if given. Return the seconds until the page is complete."""
        message = BackMsg()
        message.rerun_script.query_string = self.query
        if button:
            message.rerun_script.widget_states.widgets.add(id=button.id, trigger_value=True)
            message.rerun_script.fragment_id = button.fragment
        if not (button and button.fragment):
            self.buttons = {}
        return await self.send(message)

    async def send(self, message: BackMsg) -> float:
        """Send a message and read the answers until the page is complete. Return the seconds."""
        start = time.perf_counter()
        await self.connection.send(message.SerializeToString())
        async with asyncio.timeout(RUN_TIMEOUT_SECONDS):
            while not self.read(ForwardMsg.FromString(await self.connection.recv(decode=False))):
                pass
        return time.perf_counter() - start

    def read(self, message: ForwardMsg) -> bool:
        """Process a message of the app. Return whether it is the last one of a run."""
        if self.record:
            self.messages.append(message.SerializeToString())
        kind = message.WhichOneof("type")
        if kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            element, fragment = message.delta.new_element, message.delta.fragment_id
            element_type = element.WhichOneof("type")
            if element_type == "button" and not element.button.disabled:
                self.buttons[element.button.label] = Widget(element.button.label, element.button.id, fragment)
            elif element_type == "file_uploader":
                self.uploader = Widget(element.file_uploader.label, element.file_uploader.id, fragment)
            elif element_type == "exception":
                raise PageError(f"the page shows an error: {element.exception.message}")
        elif kind == "new_session":
            self.session_id = message.new_session.initialize.session_id
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        return kind == "script_finished" and message.script_finished in COMPLETE


def link(dataset_name: str, n_films: int) -> str:
    """Return the query string of a link to the newest films of the first user with a history of that length."""
    dataset = datasets.load(dataset_name)
    history = next(history for history in dataset.histories if len(history) >= n_films)
    return urlencode(to_url_params(dataset_name, dataset.catalog, history[-n_films:].tolist()))
