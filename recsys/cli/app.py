"""`python -m recsys app`: the pages in a browser."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from recsys import paths
from recsys.cli import flags
from recsys.errors import MissingLibraryError


@dataclass(frozen=True)
class App:
    """Open the app in a browser."""

    def run(self) -> int:
        """Serve the pages until they are stopped."""
        if find_spec("streamlit") is None:
            raise MissingLibraryError("the app", "streamlit")
        return subprocess.call([sys.executable, "-m", "streamlit", "run", str(paths.REPOSITORY / "app.py")])


def read(arguments: Sequence[str]) -> App:
    """The options of `app`."""
    return flags.read(App, "app", arguments)
