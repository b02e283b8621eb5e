"""Whatever the bytes are, every reader returns, or raises an error of this project."""

import gc
import random
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recsys.data import own_data, tables
from recsys.data.dataset import DataError
from recsys.data.history_import.read import read as read_history
from recsys.errors import RecsysError
from recsys.runtime import peak_memory_mb
from tests.readers.readers import ODD, READERS, Reader, accepts, altered

N_ALTERED = 2_000
LARGE_BYTES = 10_000_000
MAX_CPU_SECONDS = 15  # of LARGE_BYTES: 2 on an idle machine; a quadratic reader takes minutes
MAX_MEMORY_MB = 200
PIECES = st.lists(st.sampled_from(ODD) | st.binary(max_size=4), max_size=3).map(b"".join)
EVENTS = "user,item,rating,timestamp\n" + "".join(f"{n // 9},{n % 9},4,{n}\n" for n in range(81))
FILM = "Date,Name,Year,Letterboxd URI\n2020-01-01,Heat,1995,https://boxd.it/f1\n"
WIDE = ",".join(f"c{n}" for n in range(1_000_000)).encode()
UPLOADS = {
    "UTF-16": EVENTS.encode("utf-16"),
    "Shift-JIS": FILM.replace("Heat", "七人の侍").encode("shift-jis"),
    "NUL": b"\0" + EVENTS.encode() + b"\0" * 10,
    "ragged rows": EVENTS.encode() + b"1\n1,2,3,4,5,6,7,8\n",
    "a million columns": WIDE + b"\n" + b"," * 999_999,
    "a line of 10 MB": b"x" * LARGE_BYTES,
    "a field of 10 MB": b'Name,Year\n"' + b"x" * (LARGE_BYTES - 20) + b'",1995\n',
    "an unclosed quote": b'Name,Year\n"' + b"a,1\n" * 100_000,
    "blanks": b" \n\t\n" * 1000,
    "large numbers": b"user,item,rating,timestamp\n" + b"9" * 400 + b",1,1e999,-9" + b"9" * 300 + b"\n",
    "deep JSON": b"[" * 100_000,
    "damaged gzip": b"\x1f\x8b\x08\x00" + b"\xff" * 100,
    "damaged parquet": b"PAR1" + b"\xff" * 100 + b"PAR1",
}


@pytest.mark.parametrize("name", READERS)
def test_intact_bytes_are_accepted(name):
    assert all(accepts(READERS[name], data) for data in READERS[name].intact)


@pytest.mark.filterwarnings("error")  # a command would print them
@pytest.mark.parametrize("name", READERS)
def test_intact_bytes_with_a_piece_cut_out_or_replaced(name):
    @settings(max_examples=60, deadline=None)
    @given(st.sampled_from(READERS[name].intact), st.data())
    def check(intact, draw):
        start = draw.draw(st.integers(0, len(intact)))
        end = draw.draw(st.integers(start, min(len(intact), start + 40)))
        accepts(READERS[name], intact[:start] + draw.draw(PIECES) + intact[end:])

    check()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", READERS)
def test_any_bytes(name):
    @settings(max_examples=40, deadline=None)
    @given(st.binary(max_size=80) | PIECES)
    def check(data):
        accepts(READERS[name], data)

    check()


@pytest.mark.reliability
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", READERS)
def test_many_altered_files(name):
    rng = random.Random(name)
    for _ in range(N_ALTERED):
        accepts(READERS[name], altered(rng.choice(READERS[name].intact), rng))


def cost(work):
    """Return the CPU seconds of a call, and by how many MB it raised the peak memory of this process (Linux only)."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before, start = peak_memory_mb(), time.process_time()
    work()
    return time.process_time() - start, peak_memory_mb() - before


@pytest.mark.reliability
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", READERS)
def test_large_files_take_little_time_and_memory(name, record_property):
    reader, costs = READERS[name], []
    for intact in reader.intact:
        data = (intact * (LARGE_BYTES // len(intact) + 1))[:LARGE_BYTES]
        data = data[: data.rfind(b"\n") + 1 or None]
        seconds, megabytes = cost(lambda data=data: accepts(reader, data))
        assert (seconds < MAX_CPU_SECONDS, megabytes < MAX_MEMORY_MB) == (True, True), intact[:40]
        costs.append((seconds, megabytes))
    seconds, megabytes = map(max, zip(*costs, strict=True))
    record_property("figure", f"{name} {seconds:.1f} s, {megabytes:.0f} MB")


@pytest.mark.reliability
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", UPLOADS)
def test_odd_uploads_take_little_time_and_memory(name):
    readers = {
        "history": Reader(lambda data: [part.entries for part in read_history("file.csv", data)], [FILM.encode()]),
        "own data": Reader(lambda data: own_data.check(tables.parse("file.csv", data)), [EVENTS.encode()]),
    }
    for kind, reader in readers.items():
        accepts(reader, reader.intact[0])  # loads libraries
        seconds, megabytes = cost(lambda reader=reader: accepts(reader, UPLOADS[name]))
        assert (seconds < MAX_CPU_SECONDS, megabytes < MAX_MEMORY_MB) == (True, True), kind


def test_other_errors_are_passed_on():
    def fussy(data):
        raise KeyError("nul") if b"\0" in data else DataError("no")

    assert accepts(Reader(lambda data: data, []), b"")
    assert not accepts(Reader(fussy, []), b"")
    with pytest.raises(KeyError):
        accepts(Reader(fussy, []), b"\0")
    assert issubclass(DataError, RecsysError)


def test_a_seed_alters_bytes_always_in_the_same_way():
    versions = [altered(b"1,2,3\n" * 9, random.Random(seed)) for seed in range(50)]
    assert versions == [altered(b"1,2,3\n" * 9, random.Random(seed)) for seed in range(50)]
    assert len(set(versions)) > 40
