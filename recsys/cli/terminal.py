"""The one place through which a command prints: text of other people's files cannot steer the terminal.

A title may hold escape sequences that clear the screen, forge a line or reverse the direction of text. Such signs are
shown as JSON writes them, \\u001b, so that nothing is lost, and JSON that is printed stays JSON.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO

# Controls but tabs and ends of lines; marks and overrides of direction; other ends of lines; halves of letters. A
# carriage return stays at the beginning and the end of what is written, where progress bars have it.
_STEERS = re.compile(
    r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
    r"|(?<!\A)\r(?!\n|\Z)"
)


def escape_controls(text: str) -> str:
    """Text in which whatever would steer a terminal can be seen instead."""
    return _STEERS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


class SafeStream:
    """A stream that writes `escape_controls` text; all else is the stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write all of it; returns how many characters were asked for, as streams do."""
        self._stream.write(escape_controls(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write one after the other."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def shown() -> Iterator[None]:
    """Everything that is printed meanwhile is `escape_controls`."""
    with redirect_stdout(SafeStream(sys.stdout)), redirect_stderr(SafeStream(sys.stderr)):  # type: ignore[type-var]
        yield
