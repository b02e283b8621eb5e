"""Read files of any usual format as tables of text.

Formats: delimited text, sequences (each line has a user and all items of this user), JSON lines and arrays, Python
literals, parquet. All can be gzipped. The format is detected by content, not by file name. Shapes: R rows, C columns.
"""

import ast
import csv
import gzip
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from recsys.data import columns
from recsys.data.dataset import DataError, read_errors
from recsys.data.text_encoding import UnreadableTextError, decode_text
from recsys.data.zip_files import MAX_COMPRESSION_RATIO, UNCHECKED_BYTES, ZIP_SIGNATURES

MAX_BYTES = 4 << 30  # of a gzipped file after decompression
MAX_COLUMNS = 1_000
MAX_NUMBER_COLUMNS = 4  # of a table of numbers without column names: user, item, rating, time
MAX_ID_DIGITS = 8  # of an item in a sequence file; times in seconds have nine or more
MAX_CELLS_PER_CHARACTER = 2  # of a text file
MAX_CELLS_PER_BYTE = 20  # of a parquet file; files of MovieLens have one
MAX_LITERAL_LENGTH = 1 << 20  # characters of a line that is parsed as a Python literal
SAMPLE_LINES = 50  # first lines, by which separator, header and layout are detected
MAX_SAMPLE_LENGTH = 1 << 20  # characters of these lines together
BLANKS = r"\s+"
SEPARATORS = ("\t", "::", ";", ",", "|", BLANKS)  # in order of preference
SEPARATOR_NAMES = {"tab": "\t", "\\t": "\t", "space": BLANKS, " ": BLANKS, "comma": ",", "semicolon": ";"}
# of csv, json, pandas and pyarrow for an invalid file
PARSER_ERRORS = (csv.Error, ValueError, OverflowError, RecursionError, NotImplementedError, OSError)
_SEQUENCE_GAP = re.compile(r"\s*,\s*|\s+")
_SEQUENCE_ITEM = re.compile(rf"\d{{1,{MAX_ID_DIGITS}}}")


@dataclass(frozen=True)
class Table:
    """The rows of a file. Columns without names are called "1", "2" and so on."""

    name: str  # file name
    rows: pd.DataFrame  # (R, C) str, "" for missing values
    has_header: bool
    is_encoding_guessed: bool = False  # whether the text was read as Windows-1252, see `text_encoding`
    can_have_decimal_commas: bool = False  # whether the separator of delimited text is not the comma
    is_ambiguous: bool = False  # whether the lines can also be sequences, see `_layout`
    n_multiline_rows: int = 0  # rows with a line break in a cell. A missing quotation mark also causes such a row


def read(path: Path, separator: str = "") -> Table:
    """Read a file as a table with `parse`."""
    with read_errors(path):
        data = path.read_bytes()
    return parse(path.name, data, separator)


def parse(name: str, data: bytes, separator: str = "") -> Table:
    """Parse the content of a file. Raises DataError if it is not a table.

    `separator` can also be a name in SEPARATOR_NAMES. If it is "", it is detected.
    """
    data = _decompress(name, data)
    try:
        if data[:4] == b"PAR1":
            return _table_from_frame(name, _parquet(name, data))
        if data.startswith(ZIP_SIGNATURES):
            raise DataError("{name} is a zip archive or a spreadsheet; unpack it, or save the sheet as CSV", name=name)
        text, is_encoding_guessed = decode_text(data)
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if text[:4].lower() == "sep=":  # Excel writes the separator in the first line
            text = text.partition("\n")[2]
        if not text.strip():
            raise DataError(
                "{name} is empty; choose a file with one row per event: who watched, read or bought which item",
                name=name,
            )
        if text.lstrip()[:1] in "{[":
            return _table_from_frame(name, pd.DataFrame(_records(name, text), dtype=object))
        layout = _layout(_sample(text))
        if layout == "sequences":
            return Table(name, _sequences(text), has_header=False, is_encoding_guessed=is_encoding_guessed)
        separator = SEPARATOR_NAMES.get(separator, separator) or detect_separator(name, text)
        table = _delimited(name, text, separator)
        return replace(
            table,
            is_encoding_guessed=is_encoding_guessed,
            can_have_decimal_commas=separator != ",",
            is_ambiguous=layout == "ambiguous" and not table.has_header,
        )
    except UnreadableTextError as error:
        raise DataError("{name} {message}; parquet and gzip are read too", name=name, message=error.message) from error
    except PARSER_ERRORS as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(
            "{name} cannot be read: {reason}; fix that line, or save the file again", name=name, reason=reason
        ) from error


def _layout(lines: list[str]) -> Literal["table", "sequences", "ambiguous"]:
    """Return "table" for a line per event, "sequences" for a line per user with all items, or "ambiguous".

    Sequences have short integer ids of items, and lines with different numbers of cells. In a table, lines may lack
    trailing cells.
    """
    cells = [_SEQUENCE_GAP.split(line.strip()) for line in lines]
    can_be_sequences = all(_SEQUENCE_ITEM.fullmatch(cell) for row in cells for cell in row[1:])
    if not can_be_sequences:
        return "table"
    lengths = [len(row) for row in cells]
    longest = max(lengths)
    if longest <= MAX_NUMBER_COLUMNS:
        return "table" if min(lengths) == longest else "ambiguous"
    most_are_longest = 2 * lengths.count(longest) > len(lengths)  # usual in a table, unusual for histories
    return "ambiguous" if most_are_longest else "sequences"


def _sequences(text: str) -> pd.DataFrame:
    """Return a table with a row (user, item) for each item of each line, in the columns "1" and "2"."""
    cells = [_SEQUENCE_GAP.split(line.strip()) for line in text.split("\n") if line.strip()]
    users = np.repeat([row[0] for row in cells], [len(row) - 1 for row in cells])
    items = [cell for row in cells for cell in row[1:]]
    return pd.DataFrame({"1": users, "2": items}, dtype="str")


def detect_separator(name: str, text: str) -> str:
    """Return the separator that splits most sample lines into equally many cells. Raises DataError if none does."""
    shares: dict[str, float] = {}  # separator → share of the lines with the most frequent number of cells
    for separator in SEPARATORS:
        widths = Counter(len(cells) for cells in _split(_sample(text), separator))
        usual_width, n_lines = widths.most_common(1)[0]
        if usual_width > 1 and 2 * n_lines > widths.total():
            shares[separator] = n_lines / widths.total()
    if not shares:
        raise DataError(
            "{name}: no column separator was detected in its first lines; give one, such as --sep ';'",
            app_text="{name}: no column separator was detected in its first lines; save the file as CSV",
            name=name,
        )
    return max(shares, key=lambda separator: shares[separator])


def _delimited(name: str, text: str, separator: str) -> Table:
    """Parse delimited text."""
    if len(separator) > 1 and separator != BLANKS:  # pandas needs a separator of one character
        text, separator = text.replace(separator, "\x1f"), "\x1f"
    cells = _split(_sample(text), separator)
    _check_size(name, text.count("\n"), max(map(len, cells)), MAX_CELLS_PER_CHARACTER * len(text))
    has_header = columns.is_header(cells)
    lines = io.BytesIO(text.encode())  # a quarter of the memory of StringIO
    rows = pd.read_csv(lines, sep=separator, header=None, dtype=str, keep_default_na=False, na_filter=False)
    n_multiline_rows = 0
    if '"' in text:
        is_multiline = [rows[column].str.contains("\n", regex=False) for column in rows]
        n_multiline_rows = int(np.logical_or.reduce(is_multiline).sum())
    names = [str(number) for number in range(1, rows.shape[1] + 1)]
    if has_header:
        names = _distinct([str(cell).strip() for cell in rows.iloc[0]])
        rows = rows.iloc[1:].reset_index(drop=True)
    return Table(name, rows.set_axis(names, axis=1), has_header, n_multiline_rows=n_multiline_rows)


def _check_size(name: str, n_rows: int, n_columns: int, max_cells: int) -> None:
    """Raise DataError for more than MAX_COLUMNS columns or `max_cells` cells. Such a file could fill the memory."""
    if n_columns > MAX_COLUMNS:
        text = "{name} has {width:,} columns; choose a file with a column for each of person, item and time"
        raise DataError(text, name=name, width=n_columns)
    if n_rows * n_columns > max_cells:
        text = "{name} has {width:,} columns that are empty in most rows; remove the columns that are not needed"
        raise DataError(text, name=name, width=n_columns)


def _parquet(name: str, data: bytes) -> pd.DataFrame:
    """Read a parquet file. Its size is checked first, because a billion equal cells take a few bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(data))
        _check_size(name, file.metadata.num_rows, file.metadata.num_columns, MAX_CELLS_PER_BYTE * len(data))
        table = file.read()
        table.validate(full=True)  # checks UTF-8; pandas would check it only when a text is used
        # pandas does not check its own metadata; a column of large ids with missing values would become float64
        return _flatten(table).to_pandas(ignore_metadata=True, integer_object_nulls=True)
    except (pa.ArrowException, UnicodeDecodeError) as error:  # pyarrow raises either of them for invalid UTF-8
        reason = (str(error) or type(error).__name__).splitlines()[0].encode("utf-8", "replace").decode()
        text = "{name} cannot be read as parquet: {reason}; save it again, with text in UTF-8"
        raise DataError(text, name=name, reason=reason) from error


def _flatten(table: Any) -> Any:
    """Replace each struct column of an Arrow table by its fields, if one of the fields has a usual name.

    The name of a field can be usual by itself, such as "user", or after the name of the struct, such as "user.id". For
    usual names, see `columns.is_usual_name`.
    """
    import pyarrow as pa

    for position, field in enumerate(table.schema):
        if not pa.types.is_struct(field.type):
            continue
        parts = [part.name for part in field.type]
        full_names = [f"{field.name}.{part}" for part in parts]
        has_usual_part = not columns.is_usual_name(field.name) and any(map(columns.is_usual_name, parts))
        if has_usual_part or any(map(columns.is_usual_name, full_names)):
            fields = table.select([position]).flatten().columns
            table = table.remove_column(position)
            for full_name, part, column in zip(full_names, parts, fields, strict=True):
                table = table.append_column(full_name if columns.is_usual_name(full_name) else part, column)
            return _flatten(table)  # for nested structs and the other structs
    return table


def _table_from_frame(name: str, frame: pd.DataFrame) -> Table:
    """Convert the values of a frame, which can have any type, to text."""
    column_names = _distinct(map(str, frame))
    cells = {column: _as_text(frame.iloc[:, position]) for position, column in enumerate(column_names)}
    return Table(name, pd.DataFrame(cells), has_header=True)


def _as_text(column: pd.Series) -> pd.Series:
    """Return values as in a CSV file: 7 for 7.0, ISO dates, lists joined by |, "" for missing values."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return column.map(lambda time: "" if pd.isna(time) else time.isoformat()).astype("str")
    if pd.api.types.is_integer_dtype(column) and not column.isna().any():
        return column.astype("str")
    return column.map(_value_text).astype("str")


def _value_text(value: Any) -> str:
    """Return the text of one value, see `_as_text`."""
    if isinstance(value, list | tuple | np.ndarray):
        return "|".join(map(_value_text, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, default=_value_text)
    if isinstance(value, bytes):
        return value.decode()
    if value is None or value is pd.NA or value is pd.NaT or value != value:  # NaN differs from itself
        return ""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _records(name: str, text: str) -> list[dict[str, Any]]:
    """Parse JSON lines, lines of Python literals, or one JSON array. Nested lists of items become rows."""
    if text.lstrip()[:1] == "[":
        records = json.loads(text)
    else:
        lines = ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())
        records = [_record(name, number, line) for number, line in lines]
    if not any(records) or not all(isinstance(record, dict) for record in records):
        raise DataError(
            "{name}: its JSON is not a list of objects; write one object per line, such as {{'user': 1, 'item': 2}}",
            name=name,
        )
    rows = [row for record in records for row in _nested_rows(record)]
    names = {key for row in rows for key in row}
    _check_size(name, len(rows), len(names), MAX_CELLS_PER_CHARACTER * len(text))
    return rows


def _record(name: str, number: int, line: str) -> Any:
    """Parse one line as JSON or, as in the Steam files, as a Python literal."""
    try:
        return json.loads(line)
    except ValueError as error:
        try:
            if len(line) <= MAX_LITERAL_LENGTH:  # a longer literal can exhaust the stack or the memory
                return ast.literal_eval(line.strip())
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            pass
        raise DataError("{name}: line {number} is not JSON; fix it, or remove it", name=name, number=number) from error


def _nested_rows(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Split a record {"user_id": …, "items": [{"item_id": …}, …]} into a row per item. Another record is one row."""
    item_names = columns.ROLES["item"]
    for key, value in record.items():
        if isinstance(value, list) and value and all(isinstance(element, dict) for element in value):
            outer = {name: cell for name, cell in record.items() if name != key}
            is_item_list = bool(columns.matching_names(list(value[0]), item_names))
            if is_item_list and not columns.matching_names(list(outer), item_names):
                return [outer | element for element in value]
    return [record]


def _decompress(name: str, data: bytes) -> bytes:
    """Decompress gzipped data. Return other data as it is."""
    if data[:2] != b"\x1f\x8b":
        return data
    max_bytes = min(MAX_BYTES, max(UNCHECKED_BYTES, MAX_COMPRESSION_RATIO * len(data)))
    try:
        with gzip.open(io.BytesIO(data)) as file:
            content = file.read(max_bytes + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError("{name} is not a complete gzip file; compress it again", name=name) from error
    if len(content) > max_bytes:
        text = "{name} is larger than {max_bytes:,} bytes after decompression; use a part of it"
        raise DataError(text, name=name, max_bytes=max_bytes)
    return content


def _sample(text: str) -> list[str]:
    """Return the lines among the first SAMPLE_LINES that are not blank, [""] if all are blank."""
    lines = text[:MAX_SAMPLE_LENGTH].split("\n", SAMPLE_LINES)[:SAMPLE_LINES]
    return [line for line in lines if line.strip()] or [""]


def _split(lines: list[str], separator: str) -> list[list[str]]:
    """Split lines into cells."""
    if separator == BLANKS:
        return [re.split(BLANKS, line.strip()) for line in lines]
    if len(separator) > 1:
        return [line.split(separator) for line in lines]
    return [row for row in csv.reader(lines, delimiter=separator) if row]


def _distinct(names: Iterable[str]) -> list[str]:
    """Make column names unique. An empty name becomes the column number, and a repeated name gets it in brackets."""
    unique: dict[str, None] = {}
    for number, name in enumerate(names, 1):
        name = name or str(number)
        while name in unique:
            name = f"{name} ({number})"
        unique[name] = None
    return list(unique)
