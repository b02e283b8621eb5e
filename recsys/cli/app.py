"""The command `app`."""

from importlib.util import find_spec
from typing import Annotated

from pydantic import Field

from recsys.cli.options import command


@command("app")
def app(
    browser: bool = False,
    port: Annotated[int, Field(ge=0, le=65_535)] = 0,
    public: bool = False,
    install: bool = False,
    uninstall: bool = False,
) -> None:
    """Open the app in a window if the package pywebview is installed, else in the browser.

    Args:
        browser: Open the browser, not a window.
        port: Port of the server. 0: any free port.
        public: Accept other computers of the network, without encryption or password. Training is switched off.
        install: Add NextReel to the menu of programs (Linux) and open nothing.
        uninstall: Remove NextReel from the menu of programs and open nothing.
    """
    from recsys.desktop import menu_entry, window
    from recsys.errors import MissingLibraryError

    if install:
        print(f"NextReel is now in the menu of programs: {menu_entry.install()}")
    elif uninstall:
        removed = ", ".join(map(str, menu_entry.remove()))
        print(f"removed {removed}" if removed else "NextReel was not in the menu of programs")
    elif find_spec("streamlit") is None:
        raise MissingLibraryError("the app", "streamlit")
    else:
        window.run(port, public, browser)
