"""`python -m recsys app`: the app in a window of its own, or in the browser."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Annotated

from pydantic import Field

from recsys.cli import options
from recsys.config import config_class
from recsys.desktop import menu_entry, window
from recsys.errors import MissingLibraryError


@config_class
class App:
    """Open the app in a window, where the package pywebview is installed, or in the browser."""

    browser: options.Flag = False  # in the browser, even where a window could be opened
    port: Annotated[int, Field(ge=0, le=65_535)] = 0  # of the server; 0: a free one
    public: options.Flag = False  # let the network in, without encryption or password; nobody can train or change data
    install: options.Flag = False  # put NextReel into the menu of programs (Linux), and open nothing
    uninstall: options.Flag = False  # take it out of there again

    def run(self) -> int:
        """Do what was asked for; serves until the window is closed or Ctrl-C is pressed."""
        if self.install:
            print(f"NextReel is in the menu of programs: {menu_entry.install()}")
        elif self.uninstall:
            removed = ", ".join(map(str, menu_entry.remove()))
            print(f"removed {removed}" if removed else "NextReel was not in the menu of programs")
        elif find_spec("streamlit") is None:
            raise MissingLibraryError("the app", "streamlit")
        else:
            window.run(self.port, self.public, self.browser)
        return 0


def read(arguments: Sequence[str]) -> App:
    """The options of `app`."""
    return options.read(App, "app", arguments)
