"""Decode history files, and parse CSV tables with line numbers."""

import csv
import io
import re
from dataclasses import dataclass

from recsys.data.history_import.entries import MAX_FILE_BYTES, MAX_LINES, HistoryError
from recsys.data.text_encoding import GUESSED_WARNING, UnknownEncodingError, UnreadableTextError, decode_text
from recsys.errors import N_, Message

MAX_COLUMNS = 200
SEPARATORS = (",", ";", "\t", "|")
# "sep=;", the first line of a CSV file for Excel
_SEPARATOR_LINE = re.compile(r"[ \t]*sep=([^\r\n]?)[^\r\n]*(?:\r\n?|\n)?", re.IGNORECASE)
_PICTURE = N_("a picture")
# first bytes of files that are often chosen by mistake
_KIND_BY_SIGNATURE = {b"%PDF": N_("a PDF"), b"\x89PNG": _PICTURE, b"\xff\xd8\xff": _PICTURE, b"GIF8": _PICTURE}

Lines = list[tuple[int, tuple[str, ...]]]  # (line number in the file, cells) of the lines that are not blank


@dataclass(frozen=True)
class CsvTable:
    """A CSV file."""

    header: tuple[str, ...]  # as written in the file
    rows: Lines  # a row can have more or fewer cells than the header
    header_line: int  # line number of the header in the file

    @property
    def names(self) -> tuple[str, ...]:
        """The header in lower case. A name that repeats an earlier name is replaced by ""."""
        lower_case = [name.strip().lower() for name in self.header]
        return tuple(name if name not in lower_case[:index] else "" for index, name in enumerate(lower_case))


def decode(name: str, data: bytes) -> tuple[str, tuple[Message, ...]]:
    """Return the text of a file, and notes for the visitor. Raises HistoryError for a large, empty or binary file."""
    if len(data) > MAX_FILE_BYTES:
        raise HistoryError(
            "“{name}” is larger than {megabytes} MB, too much for a watch history; choose a smaller export",
            name=name,
            megabytes=MAX_FILE_BYTES >> 20,
        )
    if not data.strip(b"\0 \t\r\n\xef\xbb\xbf\xff\xfe"):  # blanks and byte order marks
        raise HistoryError("“{name}” is empty; export it again", name=name)
    for signature, kind in _KIND_BY_SIGNATURE.items():
        if data.startswith(signature):
            text = "“{name}” is {kind}, not a list of films; choose a CSV, JSON or ZIP file"
            raise HistoryError(text, name=name, kind=Message(kind))
    try:
        text, is_encoding_guessed = decode_text(data)
    except UnknownEncodingError as error:
        # `error.message` is "has an unknown encoding; save it as UTF-8" or similar
        raise HistoryError("“{name}” {message}, and choose it again", name=name, message=error.message) from error
    except UnreadableTextError as error:
        raise HistoryError("“{name}” is not a text file; choose a CSV, JSON or ZIP file", name=name) from error
    return text, (Message(GUESSED_WARNING),) if is_encoding_guessed else ()


def parse_table(name: str, text: str) -> CsvTable:
    """Parse a CSV file. Raises HistoryError if it cannot be parsed or is too large."""
    match = _SEPARATOR_LINE.match(text)
    n_skipped = 1 if match else 0
    text = text[match.end() :] if match else text
    lines = _lines(name, text, match[1] if match and match[1] in SEPARATORS else _separator(text))
    if not lines:
        raise HistoryError("“{name}” is empty; export it again", name=name)
    (header_line, header), *rows = lines
    if len(header) > MAX_COLUMNS:
        raise HistoryError(
            "“{name}” has {n_columns:,} columns, so it is not a list of films; choose another file",
            name=name,
            n_columns=len(header),
        )
    numbered_rows = [(n_skipped + number, cells) for number, cells in rows]
    return CsvTable(tuple(header), numbered_rows, n_skipped + header_line)


def _separator(text: str) -> str:
    """Return the separator that splits the first non-blank line into the most cells."""
    lines = io.StringIO(text, newline="")  # accepts a carriage return as line break (old Macs)
    line = next((line for line in lines if line.strip()), "").strip("\r\n")
    line = line[: csv.field_size_limit()]  # for a longer cell, `csv` would raise an exception
    return max(SEPARATORS, key=lambda separator: len(next(csv.reader([line], delimiter=separator), [])))


def _lines(name: str, text: str, separator: str) -> Lines:
    """Parse the lines of a CSV file strictly or, if this fails, leniently. Raises HistoryError if both fail."""
    try:
        return _parse(name, text, separator, strict=True)
    except csv.Error as error:
        if "unexpected end" in str(error):  # lenient parsing would put the rest of the file into one cell
            raise HistoryError(
                '“{name}”: a quotation mark (") is never closed; fix the line, or export the file again', name=name
            ) from error
    try:
        return _parse(name, text, separator, strict=False)
    except csv.Error as error:
        raise HistoryError("“{name}” is not a CSV file ({reason}); export it again", name=name, reason=error) from error


def _parse(name: str, text: str, separator: str, strict: bool) -> Lines:
    """Parse CSV. Raises csv.Error, and HistoryError if there are too many lines."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=strict)
    lines: Lines = []
    line_number = 1
    for cells in reader:
        if any(map(str.strip, cells)):
            lines.append((line_number, tuple(cells)))  # the garbage collector does not scan tuples of strings
        line_number = reader.line_num + 1  # a quoted cell can have several lines
        if len(lines) > MAX_LINES + 1:
            raise HistoryError(
                "“{name}” has more than {max_lines:,} lines; choose a file that covers fewer years",
                name=name,
                max_lines=MAX_LINES,
            )
    return lines
