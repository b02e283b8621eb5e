from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from recsys.desktop import window
from recsys.desktop.window import ServerError

ADDRESS = "http://localhost:1234"


class Server:
    """A server that has already ended when somebody waits for it."""

    waited = False

    def wait(self):
        self.waited = True


class NoWebView(Exception):
    """What pywebview raises where it has nothing to show pages with."""


class Window:
    """A window that notes what it shows."""

    def __init__(self, title, html, **how):
        self.shown = [html]

    def load_url(self, address):
        self.shown.append(address)

    load_html = load_url


@pytest.fixture
def desktop(monkeypatch):
    """A machine with a screen, pywebview and a browser, where the app is served; what was done to them."""
    done = SimpleNamespace(windows=[], browsed=[], served=[], ended=False, server=Server())

    def create_window(*arguments, **how):
        done.windows.append(Window(*arguments, **how))
        return done.windows[-1]

    @contextmanager
    def served(port, public):
        done.served.append((port, public))
        yield ADDRESS, done.server
        done.ended = True

    library = SimpleNamespace(
        settings={},
        create_window=create_window,
        start=lambda show, **how: show(),
        errors=SimpleNamespace(WebViewException=NoWebView),
    )
    monkeypatch.setitem(window.sys.modules, "webview", library)
    monkeypatch.setattr(window, "find_spec", lambda name: object())
    monkeypatch.setattr(window, "run_server", served)
    monkeypatch.setattr(window, "wait_for", lambda address, server: address)
    monkeypatch.setattr(window.webbrowser, "open", done.browsed.append)
    monkeypatch.setattr(window.sys, "platform", "linux")
    monkeypatch.setenv("DISPLAY", ":0")
    done.library = library
    return done


def test_the_window_says_that_the_app_starts_and_then_shows_it(desktop):
    window.run()
    (opened,) = desktop.windows
    assert "starting" in opened.shown[0]
    assert "<svg" in opened.shown[0]
    assert opened.shown[1:] == [ADDRESS]
    assert desktop.browsed == []


def test_the_server_ends_when_the_window_is_closed(desktop):
    window.run()
    assert desktop.ended
    assert not desktop.server.waited


def test_an_app_that_does_not_start_says_so_in_the_window(desktop, monkeypatch):
    def fail(address, server):
        raise ServerError("it stopped <at once>")

    monkeypatch.setattr(window, "wait_for", fail)
    window.run()
    assert "it stopped &lt;at once&gt;" in desktop.windows[0].shown[1]


def test_without_pywebview_the_browser_is_opened_and_the_server_goes_on(desktop, monkeypatch, capsys):
    monkeypatch.setattr(window, "find_spec", lambda name: None)
    window.run()
    assert (desktop.windows, desktop.browsed) == ([], [ADDRESS])
    assert desktop.server.waited
    assert ADDRESS in capsys.readouterr().out


def test_without_a_screen_nothing_is_opened(desktop, monkeypatch, capsys):
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    window.run()
    assert (desktop.windows, desktop.browsed) == ([], [])
    assert ADDRESS in capsys.readouterr().out


def test_the_browser_can_be_preferred(desktop):
    window.run(browser=True)
    assert (desktop.windows, desktop.browsed) == ([], [ADDRESS])


def test_a_public_server_is_no_window(desktop):
    window.run(port=80, public=True)
    assert desktop.windows == []
    assert desktop.served == [(80, True)]


def test_a_pywebview_without_a_web_view_falls_back_on_the_browser_and_says_what_to_install(desktop, capsys):
    def refuse(show, **how):
        raise NoWebView

    desktop.library.start = refuse
    window.run()
    assert desktop.browsed == [ADDRESS]
    assert "pywebview[qt]" in capsys.readouterr().err
