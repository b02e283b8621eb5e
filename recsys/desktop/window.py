"""Show the app in a window (pywebview) or in the browser. Its server is a process that ends with this process."""

import html
import os
import socket
import subprocess
import sys
import time
import urllib.request
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from recsys import paths
from recsys.errors import RecsysError, python
from recsys.machine import terminate_with_parent

START_TIMEOUT_SECONDS = 120
STOP_TIMEOUT_SECONDS = 10.0
POLL_SECONDS = 0.1
# environment variable: accepted Host headers, separated by spaces
ALLOWED_HOSTS = "STREAMLIT_SERVER_ALLOWED_HOSTS"
ICON = paths.ASSETS / "style" / "mark.svg"
PACKAGE = "pywebview[qt]" if sys.platform.startswith("linux") else "pywebview"  # other systems include a web view
PAGE_HEAD = """<!doctype html><meta name="color-scheme" content="light dark"><style>body{display:grid;
place-content:center;justify-items:center;height:90vh;text-align:center;font-family:sans-serif}svg{width:64px}</style>"""


class ServerError(RecsysError):
    """The server of the app did not start."""


def run(port: int = 0, public: bool = False, browser: bool = False) -> None:
    """Serve and show the app until the window is closed or Ctrl-C is pressed. Raises ServerError."""
    with run_server(port, public) as (address, server):
        if browser or public or not (find_spec("webview") and has_screen()):
            show_in_browser(address, server)
        else:
            show_in_window(address, server)


@contextmanager
def run_server(port: int = 0, public: bool = False) -> Iterator[tuple[str, subprocess.Popen]]:
    """Start the server, yield its address and process, and stop it after the block. Raises ServerError.

    `port` 0 is any free port. `public` accepts other computers of the network and switches training off.
    """
    port = free_port(port)
    bind_address = "0.0.0.0" if public else "127.0.0.1"  # noqa: S104 - the user asked for a public server
    options = (f"--server.port={port}", f"--server.address={bind_address}", "--server.headless=true")
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(paths.REPOSITORY / "app.py"), *options],
        cwd=paths.REPOSITORY,
        # a value of ALLOWED_HOSTS that the user has set replaces `host_patterns`; None: the environment of this process
        env={ALLOWED_HOSTS: host_patterns(), **os.environ, paths.PUBLIC: "1"} if public else None,
        stdout=subprocess.DEVNULL,
        preexec_fn=None if sys.platform == "win32" else terminate_with_parent,
    )
    try:
        yield f"http://localhost:{port}", server
    finally:
        stop(server)


def stop(server: subprocess.Popen) -> None:
    """Terminate a server, and kill it if it does not end in time."""
    server.terminate()
    try:
        server.wait(STOP_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def host_patterns() -> str:
    """Return patterns for the names of this computer and for all IPv4 addresses, separated by spaces.

    The patterns for addresses, such as "*.7", do not allow DNS rebinding: a host whose last part is a number is always
    an address (https://url.spec.whatwg.org/#ends-in-a-number-checker).
    """
    name = socket.gethostname()
    return " ".join(["localhost", name, f"{name}.local", *(f"*.{byte}" for byte in range(256))])


def wait_for(address: str, server: subprocess.Popen) -> None:
    """Wait until the app answers. Raises ServerError if it ends or does not answer in time."""
    command = f"{python()} -m streamlit run app.py"  # shows the output that `run_server` discards
    end_time = time.monotonic() + START_TIMEOUT_SECONDS
    # without the proxy of the user, which cannot reach this computer
    open_url = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
    while time.monotonic() < end_time:
        if server.poll() is not None:
            raise ServerError("the app stopped by itself; see its output", command)
        try:
            with open_url(f"{address}/_stcore/health", timeout=2):
                return
        except OSError:
            time.sleep(POLL_SECONDS)
    text = "the app did not answer within {seconds} seconds; see its output"
    raise ServerError(text, command, seconds=START_TIMEOUT_SECONDS)


def has_screen() -> bool:
    """Return whether windows can be shown. A Linux session over SSH, for example, has no display."""
    return not sys.platform.startswith("linux") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


def show_in_window(address: str, server: subprocess.Popen) -> None:
    """Open a window, show the app when it answers, and return when the window is closed."""
    os.environ.setdefault("PYWEBVIEW_LOG", "critical")  # pywebview logs an error for each missing web view
    import webview

    webview.settings["ALLOW_DOWNLOADS"] = True
    start_page = _page("NextReel is starting …")
    window = webview.create_window("NextReel", html=start_page, width=1280, height=860, min_size=(390, 600))

    def show() -> None:
        try:
            wait_for(address, server)
            window.load_url(address)
        except RecsysError as error:
            window.load_html(_page(f"NextReel did not start.<p>{html.escape(str(error))}"))

    storage_path = paths.home() / "window"  # cookies and settings such as the theme
    try:
        webview.start(show, private_mode=False, storage_path=str(storage_path), icon=str(ICON))
    except webview.errors.WebViewException:  # pywebview is installed, but no web view
        print(f"no web view for a window; to install one: {python()} -m pip install '{PACKAGE}'", file=sys.stderr)
        show_in_browser(address, server)


def show_in_browser(address: str, server: subprocess.Popen) -> None:
    """Open the app in the browser when it answers, and return when the server has ended."""
    wait_for(address, server)
    print(f"NextReel is at {address} until you press Ctrl-C", flush=True)
    if has_screen():
        webbrowser.open(address)
    server.wait()


def free_port(port: int) -> int:
    """Return `port`, or any free port if it is 0. Raises ServerError if the port cannot be used."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # accept a port whose server has just ended
        try:
            probe.bind(("127.0.0.1", port))
        except PermissionError as error:
            text = "this account may not use port {port}; choose a port above 1023, or omit --port"
            raise ServerError(text, port=port) from error
        except OSError as error:
            raise ServerError("port {port} is not free; omit --port to use any free port", port=port) from error
        return int(probe.getsockname()[1])


def _page(text: str) -> str:
    """Return an HTML page with the icon and `text`, which is HTML."""
    return f"{PAGE_HEAD}{ICON.read_text('utf-8')}<p>{text}"
