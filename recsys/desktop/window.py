"""The app in a window of its own, by pywebview where it is installed; else in the browser. The server ends with it."""

import html
import os
import subprocess
import sys
import webbrowser
from importlib.util import find_spec
from pathlib import Path

from recsys import paths
from recsys.desktop.server import run_server, wait_for
from recsys.errors import RecsysError, python

TITLE = "NextReel"
SIZE, SMALLEST = (1280, 860), (390, 600)  # pixels
LIBRARY = "webview"
PACKAGE = "pywebview[qt]" if sys.platform.startswith("linux") else "pywebview"  # elsewhere the system has a web view
WAITING = "{mark}<p>NextReel is starting …</p>"
FAILED = "{mark}<p>NextReel did not start.</p><p>{why}</p>"
PAGE = """<!doctype html><meta name="color-scheme" content="light dark"><style>body{{display:grid;place-content:center;
justify-items:center;height:90vh;text-align:center;font-family:sans-serif}}svg{{width:64px}}</style>{body}"""


def run(port: int = 0, public: bool = False, browser: bool = False) -> None:
    """Serve the app and show it, until its window is closed or Ctrl-C is pressed. Raises ServerError."""
    with run_server(port, public) as (address, server):
        if not (browser or public) and can_open():
            in_window(address, server)
        else:
            in_browser(wait_for(address, server), server)


def can_open() -> bool:
    """Whether there are a web view and a screen for it."""
    return find_spec(LIBRARY) is not None and has_screen()


def has_screen() -> bool:
    """Whether windows can be shown: on Linux a session without a display has none, as over SSH."""
    return not sys.platform.startswith("linux") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


def in_window(address: str, server: subprocess.Popen) -> None:
    """Open a window, show the app in it as soon as that answers, and return when it is closed."""
    os.environ.setdefault("PYWEBVIEW_LOG", "critical")  # it logs each kind of web view that is not there
    import webview

    webview.settings["ALLOW_DOWNLOADS"] = True  # tables, pictures and lists can be saved
    window = webview.create_window(TITLE, html=page(WAITING), width=SIZE[0], height=SIZE[1], min_size=SMALLEST)

    def show() -> None:
        try:
            window.load_url(wait_for(address, server))
        except RecsysError as error:
            window.load_html(page(FAILED, why=html.escape(str(error))))

    kept = paths.home() / "window"  # what the app keeps in a browser, such as the theme, is kept here
    try:
        webview.start(show, private_mode=False, storage_path=str(kept), icon=str(icon()))
    except webview.errors.WebViewException:  # the library is there, but no web view that it can use
        print(f"no window can be opened; to have one: {python()} -m pip install '{PACKAGE}'", file=sys.stderr)
        in_browser(wait_for(address, server), server)


def in_browser(address: str, server: subprocess.Popen) -> None:
    """Open the app in the browser, say where it is, and return when the server has ended."""
    print(f"NextReel is at {address} until you press Ctrl-C", flush=True)
    if has_screen():
        webbrowser.open(address)
    server.wait()


def page(body: str, **texts: str) -> str:
    """What the window shows before the app does, as HTML."""
    return PAGE.format(body=body.format(mark=icon().read_text("utf-8"), **texts))


def icon() -> Path:
    """The mark of the app."""
    return paths.ASSETS / "style" / "mark.svg"
