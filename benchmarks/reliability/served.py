"""The app as a process of its own, with a log to look into, limits and settings."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from recsys import paths
from recsys.desktop import window
from recsys.machine import terminate_with_parent

PROGRAM = (sys.executable, "-m", "streamlit", "run", str(paths.REPOSITORY / "app.py"))


@dataclass(frozen=True)
class App:
    """A running app."""

    address: str  # "http://localhost:…"
    host: str  # "localhost:…"
    process: subprocess.Popen
    log: Path  # what it printed

    @property
    def memory(self) -> int:
        """Bytes that it holds in memory now."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def app(folder: Path, files: int | None = None, before: tuple[str, ...] = (), **environ: str) -> Iterator[App]:
    """The app on a free port until the end of the block; its log lies in `folder`.

    files: how many it may have open; before: a command that starts it, such as setpriv; environ: added to ours.
    """

    def limit() -> None:
        terminate_with_parent()
        if files:
            import resource

            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    port = window.free_port(0)
    options = (f"--server.port={port}", "--server.headless=true")
    log = folder / "app.log"
    with log.open("wb") as told:
        started = subprocess.Popen(
            [*before, *PROGRAM, *options],
            cwd=paths.REPOSITORY,
            env=os.environ | environ,
            stdout=told,
            stderr=subprocess.STDOUT,
            preexec_fn=limit,
        )
        try:
            address = f"http://localhost:{port}"
            yield App(window.wait_for(address, started), f"localhost:{port}", started, log)
        finally:
            started.terminate()
            try:
                started.wait(window.STOP_TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                started.kill()
                started.wait()
