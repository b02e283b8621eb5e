"""Expected errors, which are reported in one sentence. Other exceptions are bugs and keep their traceback."""

import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recsys import paths


class RecsysError(Exception):
    """An error that the user can fix."""

    def __init__(self, message: str, command: str | None = None) -> None:
        """Create the error.

        `message` has no full stop, because "; run: …" may follow. `command` is a shell command that fixes the problem.
        """
        super().__init__(message, command)
        self.message, self.command = message, command

    def __str__(self) -> str:
        return f"{self.message}; run: {self.command}" if self.command else self.message


class MissingLibraryError(RecsysError):
    """A package that one feature needs is not installed."""

    def __init__(self, feature: str, package: str) -> None:
        super().__init__(f"{feature} needs the package {package}", f"{python()} -m pip install {package}")


@contextmanager
def disk_errors(path: Path, error_class: type[RecsysError] = RecsysError) -> Iterator[None]:
    """Turn an OSError in the block into an `error_class` with advice for a `path` that cannot be written."""
    try:
        yield
    except OSError as error:
        advice = "make room or set RECSYS_HOME to a folder elsewhere"
        raise error_class(f"cannot write {path}: {error.strerror or error}; {advice}") from error


def recsys_command(*arguments: str) -> str:
    """Return a shell command: `recsys_command("data", "get", "ml-1m")` → "python -m recsys data get ml-1m"."""
    return f"{python()} -m recsys {shlex.join(arguments)}"


def restore_command(*files: Path) -> str:
    """Return the shell command that restores files or folders of the repository."""
    root = paths.REPOSITORY
    names = [str(path.relative_to(root) if path.is_relative_to(root) else path) for path in files]
    return shlex.join(["git", "-C", str(root), "checkout", "--", *names])


def python() -> str:
    """Return the shell command that starts this Python in the working directory: "python" if it is active."""
    executable, active = Path(sys.executable), shutil.which("python")
    # compares the folders too, because the Python of a virtual environment is a link
    if active and Path(active).samefile(executable) and Path(active).parent.samefile(executable.parent):
        return "python"
    if executable.is_relative_to(Path.cwd()):
        relative = executable.relative_to(Path.cwd())
        # a shell searches a bare name in PATH
        return shlex.quote(str(relative) if len(relative.parts) > 1 else f"./{relative}")
    return shlex.quote(str(executable))
