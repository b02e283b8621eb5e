"""Errors that the user can fix, which are reported in one sentence. Other exceptions are bugs and keep their traceback.

A `Message` stores the English text and the values of its placeholders apart, so that pages can translate the text.
"""

import errno
import shlex
import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Self

from recsys import paths

# access is denied, or a part of the path is no folder
ACCESS_ERRORS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ELOOP}


@dataclass(frozen=True, init=False)
class Message:
    """An English sentence with {placeholders} and their values. `str` fills in the values."""

    text: str  # for the command line and, without `app_text`, for pages; literal braces are doubled
    plural: str  # replaces `text` if the field n is not 1; "": `text` is for every n
    app_text: str  # replaces `text` on pages, if `text` names an option of the command line; "": no replacement
    fields: dict[str, Any] = field(hash=False)  # the values of the placeholders: numbers, strings and messages

    def __init__(self, text: str, /, *, plural: str = "", app_text: str = "", **fields: Any) -> None:
        values = {name: _to_field(value) for name, value in fields.items()}
        self.__dict__.update(text=text, plural=plural, app_text=app_text, fields=values)  # the class is frozen

    @classmethod
    def literal(cls, text: str) -> Self:
        """Create a message from a text without placeholders, which may contain braces."""
        return cls(text.replace("{", "{{").replace("}", "}}"))

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Self:
        """Create a message from the result of `dataclasses.asdict`. Raises ValueError if it is invalid."""
        try:
            values = {
                name: cls.from_document(value) if isinstance(value, dict) else value
                for name, value in document["fields"].items()
            }
            app_text = document.get("app_text", "")  # older documents have none
            message = cls(document["text"], plural=document["plural"], app_text=app_text, **values)
            str(message)  # raises LookupError if a placeholder has no value
        except (LookupError, TypeError, AttributeError) as error:
            raise ValueError("no message") from error
        return message

    def __str__(self) -> str:
        text = self.plural if self.plural and self.fields["n"] != 1 else self.text
        return text.format(**self.fields)


class RecsysError(Exception):
    """An error that the user can fix."""

    def __init__(self, text: str | Message, command: str | None = None, /, **fields: Any) -> None:
        """Create the error from a message, or from the arguments of `Message`.

        The text has no full stop, because "; run: …" may follow. `command` is a shell command that fixes the problem.
        """
        self.message = text if isinstance(text, Message) else Message(text, **fields)
        self.command = command
        super().__init__(self.message, command)

    def __str__(self) -> str:
        return str(self.sentence)

    @property
    def sentence(self) -> Message:
        """The message, followed by the command if there is one."""
        if not self.command:
            return self.message
        return Message("{message}; run: {command}", message=self.message, command=self.command)


def N_(text: str) -> str:  # noqa: N802 - the usual name, which tools for translators search for
    """Mark a constant for translation."""
    return text


class MissingLibraryError(RecsysError):
    """A package that one feature needs is not installed."""

    def __init__(self, feature: str, package: str, /) -> None:
        text, command = N_("{feature} needs the package {package}"), f"{python()} -m pip install {package}"
        super().__init__(text, command, feature=Message(feature), package=package)


def os_error_reason(error: OSError) -> Message:
    """Return the reason of a failed file operation: "Permission denied"."""
    return Message.literal(error.strerror or str(error))


def disk_advice(error: OSError) -> Message:
    """Return what to do if a file cannot be written. More disk space does not help if access is denied."""
    if error.errno in ACCESS_ERRORS:
        return Message("set RECSYS_HOME to another folder")
    return Message("free up disk space, or set RECSYS_HOME to a folder elsewhere")


def warn(error: RecsysError) -> None:
    """Report an error as a warning."""
    warnings.warn(str(error), stacklevel=3)


@contextmanager
def disk_errors(path: Path, error_class: type[RecsysError] = RecsysError) -> Iterator[None]:
    """Turn an OSError in the block, which writes `path`, into an `error_class` that names the path and gives advice."""
    try:
        yield
    except OSError as error:
        text = "cannot write {path}: {reason}; {advice}"
        raise error_class(text, path=path, reason=os_error_reason(error), advice=disk_advice(error)) from error


@contextmanager
def exit_on_error() -> Iterator[None]:
    """Print a RecsysError of the block as one line, and exit with code 1. Scripts decorate `main` with it."""
    try:
        yield
    except RecsysError as error:
        raise SystemExit(str(error)) from error


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
        # with a slash, because a shell searches a bare name in PATH
        return shlex.quote(str(relative) if len(relative.parts) > 1 else f"./{relative}")
    return shlex.quote(str(executable))


def _to_field(value: Any) -> int | float | str | Message:
    """Convert the value of a placeholder to a type of `Message.fields`."""
    if isinstance(value, RecsysError):
        return value.sentence
    if isinstance(value, Real) and not isinstance(value, bool):
        return int(value) if isinstance(value, Integral) else float(value)
    return value if isinstance(value, Message) else str(value)
