"""Errors that a person can mend, each in one sentence; everything else is a bug and keeps its traceback."""

import shlex
import shutil
import sys
from pathlib import Path


class RecsysError(Exception):
    """Something that a person can mend: a sentence and, where there is one, the command that mends it."""

    def __init__(self, message: str, command: str | None = None) -> None:
        """message: without a full stop at its end; command: a line that works when pasted into a terminal."""
        super().__init__(message, command)
        self.message, self.command = message, command

    def __str__(self) -> str:
        return f"{self.message}; run: {self.command}" if self.command else self.message


class MissingLibraryError(RecsysError):
    """A package that one feature needs and that is not installed."""

    def __init__(self, feature: str, package: str) -> None:
        super().__init__(f"{feature} needs the package {package}", f"{python()} -m pip install {package}")


def recsys_command(*arguments: str) -> str:
    """A line for the terminal: recsys_command("data", "get", "ml-1m") → ".venv/bin/python -m recsys data get ml-1m"."""
    return f"{python()} -m recsys {shlex.join(arguments)}"


def python() -> str:
    """How the Python of this environment is called from the working directory, whether or not it is active."""
    executable, found = Path(sys.executable), shutil.which("python")
    if found and Path(found).samefile(executable) and Path(found).parent.samefile(executable.parent):
        return "python"
    if executable.is_relative_to(Path.cwd()):
        inside = executable.relative_to(Path.cwd())
        return shlex.quote(str(inside) if len(inside.parts) > 1 else f"./{inside}")
    return shlex.quote(str(executable))
