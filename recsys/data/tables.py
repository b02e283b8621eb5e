"""Anybody's file as a table of text: CSV and its kin, columns separated by spaces, JSON lines, parquet; gzipped or not.

What kind of file it is shows in its first bytes, whatever it is called. Shapes: R rows, C columns.
"""

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
from typing import Any

import numpy as np
import pandas as pd

from recsys.data import columns
from recsys.data.dataset import DataError
from recsys.data.text_encoding import NoTextError, decode_text
from recsys.data.zip_files import MAX_COMPRESSION_RATIO, UNCHECKED_BYTES

LARGEST = 4 << 30  # bytes that a gzipped file may unpack to
MOST_COLUMNS = 1_000
FULLEST = 10  # cells of a parquet file for each of its bytes, at most; those of MovieLens have one
LOOKED_AT = 50  # lines from which separator and header are told
BLANKS = r"\s+"
SEPARATORS = ("\t", "::", ";", ",", "|", BLANKS)  # the first that gives every line as many columns
NAMED = {"tab": "\t", "\\t": "\t", "space": BLANKS, " ": BLANKS, "comma": ",", "semicolon": ";"}
UNREADABLE = (csv.Error, ValueError, OverflowError, RecursionError, NotImplementedError, OSError)


@dataclass(frozen=True)
class Table:
    """A file's rows; its columns are called by its header or, where it has none, "1", "2", …"""

    name: str  # of the file
    rows: pd.DataFrame  # (R, C) str, "" where nothing stands
    has_header: bool
    guessed: bool = False  # whether its encoding was


def read(path: Path, separator: str = "") -> Table:
    """The table in a file; see `parse`. Raises DataError where it cannot be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}; check the path") from error
    return parse(path.name, data, separator)


def parse(name: str, data: bytes, separator: str = "") -> Table:
    """The table in the bytes of a file. separator: of its columns, "" to find it; "tab" and "space" may be written out.

    Raises DataError, in one sentence, for what is no table.
    """
    data = _unpacked(name, data)
    try:
        if data[:4] == b"PAR1":
            return _named(name, _parquet(name, data))
        if data[:2] == b"PK":
            raise DataError(f"{name} is a zip archive or a spreadsheet; unpack it, or save the sheet as CSV")
        text, guessed = decode_text(data)
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if not text.strip():
            raise DataError(f"{name} is empty; choose a file with one row per event: who had which item")
        if text.lstrip()[:1] in "{[":
            return _named(name, pd.DataFrame(_records(name, text), dtype=object))
        table = _separated(name, text, NAMED.get(separator, separator) or separator_of(name, text))
        return replace(table, guessed=guessed)
    except NoTextError as error:
        raise DataError(f"{name} {error.message}; parquet and gzip are read too") from error
    except UNREADABLE as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{name} cannot be read: {reason}; mend that line, or save the file anew") from error


def separator_of(name: str, text: str) -> str:
    """What stands between the columns: whatever cuts all of the first lines into equally many. Raises DataError."""
    lines = _first_lines(text)
    counts = {separator: [len(cells) for cells in _cut(lines, separator)] for separator in SEPARATORS}
    for separator, found in counts.items():
        if min(found) > 1 and min(found) == max(found):
            return separator
    usual = {separator: Counter(found).most_common(1)[0] for separator, found in counts.items()}
    likely = [separator for separator, (width, times) in usual.items() if width > 1 and 2 * times > len(lines)]
    if not likely:
        raise DataError(f"{name}: nothing separates columns in its first lines; name it, such as --sep ';'")
    return max(likely, key=lambda separator: usual[separator][1])


def _separated(name: str, text: str, separator: str) -> Table:
    """A table of lines; a separator of several signs, such as ::, is first made one."""
    if len(separator) > 1 and separator != BLANKS:
        text, separator = text.replace(separator, "\x1f"), "\x1f"
    cells = _cut(_first_lines(text), separator)
    _refuse_wide(name, text.count("\n"), max(map(len, cells)), len(text))
    has_header = columns.is_header(cells)
    lines = io.BytesIO(text.encode())  # a fourth of what StringIO takes
    rows = pd.read_csv(lines, sep=separator, header=None, dtype=str, keep_default_na=False, na_filter=False)
    rows = rows.fillna("")
    if not has_header:
        return Table(name, rows.set_axis([str(place + 1) for place in range(rows.shape[1])], axis=1), False)
    names = _distinct([str(cell).strip() for cell in rows.iloc[0]])
    return Table(name, rows.iloc[1:].reset_index(drop=True).set_axis(names, axis=1), True)


def _refuse_wide(name: str, rows: int, width: int, size: int) -> None:
    """DataError for a table of too many columns, or of more cells than a file of `size` characters can fill."""
    if width > MOST_COLUMNS:
        raise DataError(f"{name} has {width:,} columns; choose a file with a column for each of person, item and time")
    if rows * width > 2 * size:
        raise DataError(
            f"{name} has {width:,} columns, of which most rows fill few; leave out those that are not needed"
        )


def _parquet(name: str, data: bytes) -> pd.DataFrame:
    """The table of a parquet file, once its size is known: a billion equal cells take a few bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(data))
        _refuse_wide(name, file.metadata.num_rows, file.metadata.num_columns, FULLEST * len(data))
        table = file.read()
        table.validate(full=True)  # UTF-8, which pandas would check only when it uses a text
        return table.to_pandas(ignore_metadata=True)  # pandas does not check its own metadata
    except (pa.ArrowException, UnicodeDecodeError) as error:  # for invalid UTF-8 pyarrow raises either of them
        reason = (str(error) or type(error).__name__).splitlines()[0].encode("utf-8", "replace").decode()
        raise DataError(f"{name} cannot be read as parquet: {reason}; save it anew, with text in UTF-8") from error


def _named(name: str, found: pd.DataFrame) -> Table:
    """A table whose columns have names and types."""
    found = found.reset_index() if found.index.name else found
    cells = {column: _as_text(found[old]) for column, old in zip(_distinct(map(str, found)), found, strict=True)}
    return Table(name, pd.DataFrame(cells), True)


def _as_text(column: pd.Series) -> pd.Series:
    """Each value as a person would write it: 7 for 7.0, dates in ISO, lists joined by |, "" for what is missing."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return column.map(lambda time: "" if pd.isna(time) else time.isoformat()).astype("str")
    if pd.api.types.is_integer_dtype(column) and not column.isna().any():
        return column.astype("str")
    return column.map(_written).astype("str")


def _written(value: Any) -> str:
    if isinstance(value, list | tuple | np.ndarray):
        return "|".join(map(_written, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, default=_written)
    if isinstance(value, bytes):
        return value.decode()
    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return ""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _records(name: str, text: str) -> list[dict[str, Any]]:
    """JSON lines, or one array of objects."""
    if text.lstrip()[:1] == "[":
        found = json.loads(text)
    else:
        found = []
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                try:
                    found.append(json.loads(line))
                except ValueError as error:
                    raise DataError(f"{name}: line {number} is no JSON; mend it, or leave it out") from error
    if not any(found) or not all(isinstance(one, dict) for one in found):
        raise DataError(f"{name}: its JSON is no list of objects; write one such as {{'user': 1, 'item': 2}} a line")
    _refuse_wide(name, len(found), len({key for one in found for key in one}), len(text))
    return found


def _unpacked(name: str, data: bytes) -> bytes:
    """The bytes without gzip."""
    if data[:2] != b"\x1f\x8b":
        return data
    most = min(LARGEST, max(UNCHECKED_BYTES, MAX_COMPRESSION_RATIO * len(data)))
    try:
        with gzip.open(io.BytesIO(data)) as file:
            unpacked = file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{name} is no whole gzip file; pack it anew") from error
    if len(unpacked) > most:
        raise DataError(f"{name} unpacks to more than {most:,} bytes; take a part of it")
    return unpacked


def _first_lines(text: str) -> list[str]:
    found = [line for line in text[: 1 << 20].split("\n", LOOKED_AT)[:LOOKED_AT] if line.strip()]
    return found or [""]


def _cut(lines: list[str], separator: str) -> list[list[str]]:
    """The cells of each line."""
    if separator == BLANKS:
        return [re.split(BLANKS, line.strip()) for line in lines]
    if len(separator) > 1:
        return [line.split(separator) for line in lines]
    return [row for row in csv.reader(lines, delimiter=separator) if row]


def _distinct(names: Iterable[str]) -> list[str]:
    """The names of columns, with a number after those that came before."""
    found: dict[str, None] = {}
    for place, name in enumerate(names, 1):
        name = name or str(place)
        while name in found:
            name = f"{name} ({place})"
        found[name] = None
    return list(found)
