"""Bytes as text, and text as a table: whatever encoding and separator a spreadsheet or a service has written."""

import csv
import io
from dataclasses import dataclass

from recsys.data.history_import.entries import MOST_BYTES, MOST_LINES, HistoryError
from recsys.data.text_encoding import GUESSED, NoTextError, UnknownEncodingError, decode_text

MOST_COLUMNS = 200
SEPARATORS = (",", ";", "\t", "|")
_NO_TEXT = {b"%PDF": "a PDF", b"\x89PNG": "a picture", b"\xff\xd8\xff": "a picture", b"GIF8": "a picture"}


@dataclass(frozen=True)
class Table:
    """A CSV file: a header, and lines with as many cells or fewer."""

    header: tuple[str, ...]  # as written
    rows: list[tuple[int, tuple[str, ...]]]  # (line of the file, cells), with more cells than the header where ragged

    @property
    def names(self) -> tuple[str, ...]:
        """The header in small letters; of equal names the later ones are "" (they cannot be asked for)."""
        plain = [name.strip().lower() for name in self.header]
        return tuple(name if name not in plain[:at] else "" for at, name in enumerate(plain))


def decode(name: str, data: bytes) -> tuple[str, tuple[str, ...]]:
    """The text of a file and, where its encoding had to be guessed, a sentence. Raises HistoryError for no text."""
    if len(data) > MOST_BYTES:
        raise HistoryError(
            f"“{name}” has more than {MOST_BYTES >> 20} MB, far more than a history of films; bring a smaller export"
        )
    if not data.strip(b"\0 \t\r\n\xef\xbb\xbf\xff\xfe"):
        raise HistoryError(f"“{name}” is empty; export it again")
    if kind := next((kind for begins, kind in _NO_TEXT.items() if data.startswith(begins)), None):
        raise HistoryError(f"“{name}” is {kind}, not a list of films; bring a CSV, JSON or ZIP file")
    try:
        text, guessed = decode_text(data)
    except UnknownEncodingError as error:
        raise HistoryError(f"“{name}” {error.message}, and bring it again") from error
    except NoTextError as error:
        raise HistoryError(f"“{name}” is not a text file; bring a CSV, JSON or ZIP file") from error
    return text, (GUESSED,) if guessed else ()


def table(name: str, text: str) -> Table:
    """The table in a text. Raises HistoryError where there is none, or where quotation marks make a riddle of it."""
    first, _, rest = text.partition("\n")
    said = first.strip().lower().startswith("sep=")  # Excel writes it
    body = rest if said else text
    separator = _separator(body)
    lines = _lines(name, body, separator)
    if not lines:
        raise HistoryError(f"“{name}” is empty; export it again")
    (_, header), *rows = lines
    if len(header) > MOST_COLUMNS:
        raise HistoryError(f"“{name}” has {len(header):,} columns, so it is no list of films; bring another file")
    return Table(tuple(header), [(line + said, cells) for line, cells in rows])


def _separator(text: str) -> str:
    """Which of SEPARATORS divides the first line into most cells."""
    lines = io.StringIO(text, newline="")  # old Macs end theirs with a carriage return alone
    first = next((line for line in lines if line.strip()), "").strip("\r\n")[: csv.field_size_limit()]
    return max(SEPARATORS, key=lambda separator: len(next(csv.reader([first], delimiter=separator), [])))


def _lines(name: str, text: str, separator: str) -> list[tuple[int, tuple[str, ...]]]:
    """Line numbers and cells, blank lines left out."""
    try:
        return _parsed(name, text, separator, strict=True)
    except csv.Error as error:
        if "unexpected end" in str(error):  # without it, all that follows the mark would be one cell
            raise HistoryError(
                f'“{name}”: a quotation mark (") is never closed; mend the line, or export it again'
            ) from error
    try:
        return _parsed(name, text, separator, strict=False)
    except csv.Error as error:
        raise HistoryError(f"“{name}” is not a CSV file ({error}); export it again") from error


def _parsed(name: str, text: str, separator: str, strict: bool) -> list[tuple[int, tuple[str, ...]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=strict)
    lines: list[tuple[int, tuple[str, ...]]] = []
    begins = 1
    for cells in reader:
        if any(map(str.strip, cells)):
            lines.append((begins, tuple(cells)))  # which the garbage collector leaves alone
        begins = reader.line_num + 1
        if len(lines) > MOST_LINES + 1:
            raise HistoryError(f"“{name}” has more than {MOST_LINES:,} lines; bring the years that count")
    return lines
