"""The app's server as a process of its own, which ends with whoever started it."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from recsys import paths
from recsys.errors import RecsysError
from recsys.machine import terminate_with_parent

HERE, EVERYWHERE = "127.0.0.1", "0.0.0.0"  # noqa: S104 - the second only where --public asks for it
PATIENCE = 120.0  # seconds that the app may take to answer
LOOK = 0.1  # seconds between two looks
TO_END = 10.0  # seconds that the server gets to end by itself
BY_HAND = "streamlit run app.py"
HOSTS = "STREAMLIT_SERVER_ALLOWED_HOSTS"  # in the environment: Host headers that are answered, separated by spaces


class ServerError(RecsysError):
    """The app's server did not start."""


@contextmanager
def run_server(port: int = 0, public: bool = False) -> Iterator[tuple[str, subprocess.Popen]]:
    """The app's address and its server, which has only just been started: `wait_for` it.

    port: 0 takes a free one. public: for other machines of the network too, whose visitors may neither train nor change
    data. Raises ServerError for a port in use.
    """
    port = _free(port)
    options = (f"--server.port={port}", f"--server.address={EVERYWHERE if public else HERE}", "--server.headless=true")
    command = [sys.executable, "-m", "streamlit", "run", str(paths.REPOSITORY / "app.py"), *options]
    can_ask = sys.platform != "win32"
    environment = {HOSTS: network_hosts(), **os.environ, paths.PUBLIC: "1"} if public else None
    server = subprocess.Popen(
        command,
        cwd=paths.REPOSITORY,
        env=environment,
        stdout=subprocess.DEVNULL,
        preexec_fn=terminate_with_parent if can_ask else None,
    )
    try:
        yield f"http://localhost:{port}", server
    finally:
        server.terminate()
        try:
            server.wait(TO_END)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def network_hosts() -> str:
    """Return patterns for the names of this machine and for every IPv4 address, separated by spaces.

    No web site can point a name at this machine that these patterns allow: a host whose last part is a number is an
    address, not a name (https://url.spec.whatwg.org/#ends-in-a-number-checker).
    """
    name = socket.gethostname()
    return " ".join(["localhost", name, f"{name}.local", *(f"*.{byte}" for byte in range(256))])


def wait_for(address: str, server: subprocess.Popen) -> str:
    """The address, once the app answers there; raises ServerError when it stops or is silent for too long."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if server.poll() is not None:
            raise ServerError("the app stopped by itself; to see why", BY_HAND)
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2):  # noqa: S310 - our own address
                return address
        except OSError:
            time.sleep(LOOK)
    raise ServerError(f"the app did not answer within {PATIENCE:.0f} seconds; to see why", BY_HAND)


def _free(port: int) -> int:
    """The port, or a free one for 0."""
    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # one that was in use a minute ago is free
        try:
            free.bind((HERE, port))
        except (OSError, OverflowError) as error:
            raise ServerError(f"port {port} is not free; leave --port out, and a free one is taken") from error
        return int(free.getsockname()[1])
