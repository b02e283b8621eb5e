import gzip
import io
import json
import tracemalloc
from datetime import date

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recsys.data import tables
from recsys.data.dataset import DataError

ROWS = [("ann", "tea, green", "5"), ("bob", "soap", "3"), ("ann", "soap", "4")]
HEADER = ("user", "item", "rating")


def joined(separator, quote="", header=True):
    rows = [HEADER, *ROWS] if header else ROWS
    return "".join(separator.join(f"{quote}{cell}{quote}" for cell in row) + "\n" for row in rows)


def cells(table):
    return list(map(tuple, table.rows.itertuples(index=False)))


def as_parquet(table):
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def as_json_lines():
    return "".join(json.dumps(dict(zip(HEADER, row, strict=True))) + "\n" for row in ROWS)


FILES = {
    "comma": joined(",", '"').encode(),
    "semicolon": joined(";").encode(),
    "tab": joined("\t").encode(),
    "bar": joined("|").encode(),
    "double colon": joined("::").encode(),
    "a mark at the start": b"\xef\xbb\xbf" + joined("\t").encode(),
    "utf-16": joined("\t").encode("utf-16"),
    "line ends of Windows": joined(";").replace("\n", "\r\n").encode(),
    "json lines": as_json_lines().encode(),
    "a json array": json.dumps([dict(zip(HEADER, row, strict=True)) for row in ROWS]).encode(),
    "gzip": gzip.compress(joined(";").encode()),
    "parquet": pd.DataFrame(ROWS, columns=HEADER).to_parquet(),
}


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_every_kind_of_file_gives_the_same_table(data):
    table = tables.parse("some.file", data)
    assert table.has_header
    assert list(table.rows) == list(HEADER)
    assert cells(table) == ROWS


def strings(*values, wide=False):
    """A column of text whose bytes are not checked, as other writers of parquet leave them."""
    text, data = (pa.large_string(), pa.large_binary()) if wide else (pa.string(), pa.binary())
    return pa.Array.from_buffers(text, len(values), pa.array(values, data).buffers())


BROKEN = strings(b"ok", b"\xff\xfe", b"\x80abc")
INVALID_UTF8 = {
    "text": BROKEN,
    "long text": strings(b"ok", b"\xff\xfe", b"\x80abc", wide=True),
    "categories": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), BROKEN),
    "lists": pa.ListArray.from_arrays(pa.array([0, 1, 2, 3]), BROKEN),
    "objects": pa.StructArray.from_arrays([BROKEN], ["text"]),
    "bytes": pa.array([b"ok", b"\xff\xfe", b"\x80abc"]),
}


@pytest.mark.parametrize("column", INVALID_UTF8.values(), ids=INVALID_UTF8)
def test_parquet_with_invalid_utf8_is_one_sentence(column):
    data = as_parquet(pa.table({"user": [1, 2, 3], "item": column}))
    with pytest.raises(DataError, match=r"^some.parquet cannot be read[^\n]*save (it|the file) again[^\n]*$"):
        tables.parse("some.parquet", data)


def test_a_name_of_a_parquet_column_with_invalid_utf8_is_one_sentence():
    data = as_parquet(pa.table({"user": [1], "item": [2]})).replace(b"item", b"\xff\xfetm")
    with pytest.raises(DataError, match=r"^some.parquet cannot be read as parquet"):
        tables.parse("some.parquet", data)


@pytest.mark.parametrize("data", [b'{"user": 1, "item": "\\ud800"}', b'[{"user": 1, "\\udc00": 2}]'])
def test_json_with_half_a_character_is_one_sentence(data):
    with pytest.raises(DataError, match=r"^some.json cannot be read"):
        tables.parse("some.json", data)


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ({"day": date(2024, 1, 31)}, '{"day": "2024-01-31"}'),
        ({"sizes": [1, 2]}, '{"sizes": "1|2"}'),
        ({"name": b"tea"}, "tea"),  # a usual name
        (b"tea", "tea"),
    ],
)
def test_parquet_objects_and_bytes_are_written_as_text(value, cell):
    table = tables.parse("some.parquet", as_parquet(pa.table({"user": [1], "item": [value]})))
    assert cells(table) == [("1", cell)]


@pytest.mark.parametrize("separator", [" ", "\t", ",", "   "])
def test_a_file_without_a_header_keeps_its_first_row(separator):
    table = tables.parse("pairs", f"7{separator}9\n7{separator}12\n".encode())
    assert not table.has_header
    assert list(table.rows) == ["1", "2"]
    assert cells(table) == [("7", "9"), ("7", "12")]


def test_an_item_called_like_a_column_is_no_header():
    assert not tables.parse("pairs", b"ann,book\nbob,song\n").has_header


def test_words_above_numbers_are_a_header_whatever_they_are():
    table = tables.parse("german.csv", b"kunde;artikel\n1;5\n2;6\n")
    assert list(table.rows) == ["kunde", "artikel"]
    assert cells(table) == [("1", "5"), ("2", "6")]


def test_cells_stay_as_they_are_written():
    assert cells(tables.parse("ids", b"user,item\n007,1.0\n1e3,NA\n")) == [("007", "1.0"), ("1e3", "NA")]


def test_parquet_is_written_as_a_person_would():
    table = pd.DataFrame(
        {
            "user": [7.0, None],
            "item": [2**53 + 1, 2],
            "time": pd.to_datetime(["2024-01-31T10:00:00", None]),
            "genres": [["a", "b"], []],
        }
    )
    assert cells(tables.parse("some.parquet", table.to_parquet())) == [
        ("7", str(2**53 + 1), "2024-01-31T10:00:00", "a|b"),
        ("", "2", "", ""),
    ]


def test_a_short_row_lacks_what_it_lacks():
    assert cells(tables.parse("short.csv", b"user,item,rating\n1,2,3\n1,4\n")) == [("1", "2", "3"), ("1", "4", "")]


def test_a_separator_can_be_named():
    assert cells(tables.parse("odd", b"user~item\n1~2\n", "~")) == [("1", "2")]
    assert cells(tables.parse("odd", b"user\titem\n1,5\t2\n", "tab")) == [("1,5", "2")]


def test_a_text_that_begins_like_a_zip_archive_is_a_table():
    assert list(tables.parse("keys.csv", b"PK,user,item\n1,2,3\n").rows) == ["PK", "user", "item"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b" \n \n", "is empty"),
        (b"just\nwords\n", "no column separator"),
        (b"user,item\n1,2\n1,2,3\n", "cannot be read: .*line 3"),
        (b"PK\x03\x04rest", "zip archive or a spreadsheet"),
        (b"\x1f\x8bbroken", "not a complete gzip file"),
        (gzip.compress(b"1 2\n" * 1000, mtime=0)[:-20], "not a complete gzip file"),
        (b"PAR1broken", "cannot be read"),
        (b'{"user": 1}\n{"user": \n', "line 2 is not JSON"),
        (b"[1, 2]", "not a list of objects"),
        (b"1,2\n\x00\x00,3\n", "not a text file"),
    ],
)
def test_what_is_no_table_is_one_sentence_that_names_the_file(data, words):
    with pytest.raises(DataError, match=f"^some.file[^\n]*{words}[^\n]*$"):
        tables.parse("some.file", data)


WIDE = b",".join(b"c%d" % n for n in range(20_000)) + b"\n" + b"," * 19_999
BILLION = pa.table({"user": pa.array([1]).take(pa.array([0] * 2_000_000)), "item": pa.nulls(2_000_000, pa.int64())})
TOO_MUCH = {
    "columns": (WIDE, "has 20,000 columns"),
    "columns that few rows fill": (b",".join(b"c%d" % n for n in range(900)) + b"\n" + b"1,2\n" * 99_000, "most rows"),
    "names in JSON": (b"".join(b'{"a%d":1}\n' % n for n in range(20_000)), "has 20,000 columns"),
    "names in JSON that few objects have": (b"".join(b'{"a%d":1}\n' % (n % 900) for n in range(20_000)), "most rows"),
    "one cell": (b'user,item\n"' + b"x" * 5_000_000 + b'",1\n', "field larger than field limit"),
    "gzip": (gzip.compress(bytes(10_000_000)), "is larger than"),
    "parquet": (as_parquet(BILLION), "most rows"),
    "Shift-JIS": ("user,item\nマトリックス,1\n".encode("shift_jis"), "has an unknown encoding; save it"),
    "a mark alone": (b"\xef\xbb\xbf", "is empty"),
    "JSON, deep": (b"[" * 100_000, "cannot be read: maximum recursion depth"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "words"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_what_would_become_too_much_is_refused_before_it_does(data, words):
    tracemalloc.start()
    with pytest.raises(DataError, match=f"^some.file[^\n]*{words}[^\n]*$"):
        tables.parse("some.file", data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30 << 20


def test_what_pandas_notes_in_a_parquet_file_is_not_believed():
    noted = pa.table({"user": ["a"], "item": ["b"]}).replace_schema_metadata(
        {"pandas": '{"columns": [{"name": "user"}]}'}
    )
    assert cells(tables.parse("a", as_parquet(noted))) == [("a", "b")]
    by_user = pd.DataFrame({"item": ["b"]}, index=pd.Index(["a"], name="user"))
    assert sorted(tables.parse("a", by_user.to_parquet()).rows) == ["item", "user"]


def test_large_numbers_beside_a_missing_one_keep_their_last_digit():
    table = pa.table({"user": pa.array([2**53 + 1, None]), "item": pa.array([1, 2])})
    assert cells(tables.parse("a", as_parquet(table))) == [(str(2**53 + 1), "1"), ("", "2")]


def test_the_line_in_which_excel_writes_the_separator_is_no_row():
    assert cells(tables.parse("a", b"sep=;\r\nuser;item\r\n1;2\r\n")) == [("1", "2")]


def test_equal_names_of_columns_become_different():
    assert list(tables.parse("a", b"user,item,item (4),item\n1,2,3,4\n").rows) == [
        "user",
        "item",
        "item (4)",
        "item (4) (4)",
    ]


def test_an_encoding_that_was_guessed_is_remembered():
    table = tables.parse("a", "user,item\n1,Amélie\n".encode("cp1252"))
    assert table.is_encoding_guessed
    assert cells(table) == [("1", "Amélie")]
    assert not tables.parse("a", "user,item\n1,Amélie\n".encode()).is_encoding_guessed


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(DataError, match="check the path"):
        tables.read(tmp_path / "none.csv")
