import io
import stat
import struct
import tracemalloc
import warnings
import zipfile

import pytest

from recsys.data import zip_files
from recsys.data.zip_files import ArchiveError

LARGEST = 50_000_000


def packed(*files, method=zipfile.ZIP_DEFLATED):
    """A ZIP of (name or ZipInfo, content), written as they stand."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as zipped, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, content in files:
            zipped.writestr(name, content, method)
    return out.getvalue()


def everything(data, largest=LARGEST):
    with zip_files.open_archive(io.BytesIO(data), largest) as archive:
        return {path: archive.read(path) for path in archive.paths}


def link():
    made = zipfile.ZipInfo("link.csv")
    made.external_attr = (stat.S_IFLNK | 0o777) << 16
    return made


def overlapping(times=20):
    """One file, listed many times under different names."""
    data = packed(("a0.csv", bytes(range(256)) * 90))
    central, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    entries = b"".join(data[central:end].replace(b"a0.csv", b"a%c.csv" % (65 + n)) for n in range(times))
    sizes = struct.pack("<HHI", times, times, len(entries))
    return data[:central] + entries + data[end : end + 8] + sizes + data[end + 16 :]


def altered(data, old, new, where=b"PK\x01\x02", at=0):
    """A file in whose list of members some bytes are others."""
    place = data.index(where) + at
    assert data[place : place + len(old)] == old
    return data[:place] + new + data[place + len(old) :]


def lying(said):
    """A file that says it is small and unpacks to 100 MB."""
    content = bytes(100 << 20)
    data = packed(("a.csv", content))
    size = struct.pack("<I", len(content))
    return data.replace(size, struct.pack("<I", said))


PLAIN = packed(("a.csv", b"1,2"))
REFUSED = {
    "leads up": (packed(("../a.csv", b"")), "outside its folder"),
    "leads up further in": (packed(("a/../../b.csv", b"")), "outside its folder"),
    "leads up in Windows": (packed(("a\\..\\..\\b.csv", b"")), "outside its folder"),
    "absolute": (packed(("/etc/a.csv", b"")), "outside its folder"),
    "absolute in Windows": (packed(("\\a.csv", b"")), "outside its folder"),
    "a drive": (packed(("C:\\a.csv", b"")), "outside its folder"),
    "no name": (altered(PLAIN.replace(b"a.csv", b"\0.csv"), b"", b""), "outside its folder"),
    "a link": (packed((link(), b"/etc/passwd")), "outside its folder"),
    "there twice": (packed(("a.csv", b"1"), ("a.csv", b"2")), "is in it 2 times"),
    "there twice in another case": (packed(("a/B.csv", b"1"), ("A/b.csv", b"2")), "is in it 2 times"),
    "there twice in other signs": (packed(("é.csv", b"1"), ("e\u0301.csv", b"2")), "is in it 2 times"),
    "there twice with a backslash": (packed(("a/b.csv", b"1"), ("a\\b.csv", b"2")), "is in it 2 times"),
    "too many files": (packed(*((f"{n}", b"") for n in range(zip_files.MAX_MEMBERS + 1))), r"too many files \(2,001\)"),
    "too long a list": (packed(*((f"{n}" + "a" * 60_000, b"") for n in range(20))), "lists too many files"),
    "a steep file": (packed(("a.csv", bytes(5_000_000))), r"a.csv would be too large when unpacked \(5,000,000"),
    "too large in all": (packed(*((str(n), bytes(range(256)) * 99) for n in range(2_000))), "unpacked .50,688,000"),
    "shared bytes": (overlapping(), "files in it overlap"),
    "a file in the list of files": (altered(PLAIN, b"\5\0\0\0", b"\xff\0\0\0", at=20), "files in it overlap"),
    "bzip2": (packed(("a.csv", b"1"), method=zipfile.ZIP_BZIP2), "unsupported compression"),
    "LZMA": (packed(("a.csv", b"1"), method=zipfile.ZIP_LZMA), "unsupported compression"),
    "a password": (altered(PLAIN, b"\0\0", b"\1\0", at=8), "has a password"),
    "larger than it says": (lying(said=1_000), "CRC"),
    "no archive": (b"PK\x03\x04 something", "not a zip file"),
    "half of one": (PLAIN[:-9], "not a zip file"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "told"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_to_be_trusted_is_refused_with_the_reason_and_little_memory(data, told):
    tracemalloc.start()
    with pytest.raises(ArchiveError, match=f"^[^\n]*{told}[^\n]*$"):
        everything(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20


def test_a_sound_archive_gives_its_files_whatever_stands_between_folders():
    data = packed(("b/", b""), ("b/one.csv", b"1" * 60_000), ("b\\two.csv", b"2"), ("three.zip", PLAIN))
    assert everything(data) == {"b/one.csv": b"1" * 60_000, "b/two.csv": b"2", "three.zip": PLAIN}


def test_a_file_may_hold_more_than_is_unpacked_at_a_time():
    content = bytes(range(256)) * 3_000  # packed to a fiftieth, stored to a byte each
    assert everything(packed(("a.csv", content), method=zipfile.ZIP_STORED)) == {"a.csv": content}


def test_what_is_not_wanted_is_not_judged_by_its_size():
    data = packed(("a.csv", b"1"), ("film.bin", bytes(5_000_000)))
    with zip_files.open_archive(io.BytesIO(data), 1_000, lambda path: path.endswith(".csv")) as archive:
        assert archive.read("a.csv") == b"1"


@pytest.mark.parametrize("error", [ValueError, RuntimeError, OverflowError])
def test_an_error_of_the_caller_is_not_reported_as_a_damaged_archive(error):
    with pytest.raises(error, match="a bug"), zip_files.open_archive(io.BytesIO(PLAIN), LARGEST):
        raise error("a bug")


def test_an_archive_may_follow_other_bytes():
    assert everything(b"#!/bin/sh\n" + PLAIN) == {"a.csv": b"1,2"}


def test_an_archive_whose_hash_is_known_may_be_packed_in_any_way():
    data = packed(("a.csv", b"1"), method=zipfile.ZIP_LZMA)
    with zip_files.open_archive(io.BytesIO(data), LARGEST, is_verified=True) as archive:
        assert archive.read("a.csv") == b"1"
