r"""Output without control characters, because titles come from untrusted files.

An escape sequence in a title could clear the screen, forge a line or reverse the direction of text. Such characters are
printed as in JSON (\u001b), so that JSON output stays valid and complete.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO

# Control characters except tabs and line breaks, direction marks, Unicode line separators, and surrogates. A carriage
# return is allowed before a line break, and at the start and end of a text, because progress bars need it.
CONTROLS = re.compile(
    r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
    r"|(?<!\A)\r(?!\n|\Z)"
)


def escape_controls(text: str) -> str:
    """Return a text with escaped control characters."""
    return CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


class SafeStream:
    """A text stream that escapes control characters."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text and return its length."""
        self._stream.write(escape_controls(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts one after the other."""
        self.write("".join(lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def safe_output() -> Iterator[None]:
    """Escape control characters in stdout and stderr during the block."""
    with redirect_stdout(SafeStream(sys.stdout)), redirect_stderr(SafeStream(sys.stderr)):  # type: ignore[type-var]
        yield
