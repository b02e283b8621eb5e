"""Whatever the bytes are, every reader answers, or refuses with an error of its own."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.reliability import fuzz
from benchmarks.reliability.readers import ODD, READERS, Reader, altered, takes
from recsys.data.dataset import DataError

PIECES = st.lists(st.sampled_from(ODD) | st.binary(max_size=4), max_size=3).map(b"".join)


@pytest.mark.parametrize("name", READERS)
def test_sound_bytes_are_read(name):
    assert all(takes(READERS[name], data) for data in READERS[name].sound)


@pytest.mark.filterwarnings("error")  # a command would print them
@pytest.mark.parametrize("name", READERS)
def test_sound_bytes_with_a_piece_cut_out_or_replaced(name):
    @settings(max_examples=60, deadline=None)
    @given(st.sampled_from(READERS[name].sound), st.data())
    def check(sound, draw):
        start = draw.draw(st.integers(0, len(sound)))
        end = draw.draw(st.integers(start, min(len(sound), start + 40)))
        takes(READERS[name], sound[:start] + draw.draw(PIECES) + sound[end:])

    check()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", READERS)
def test_any_bytes(name):
    @settings(max_examples=40, deadline=None)
    @given(st.binary(max_size=80) | PIECES)
    def check(data):
        takes(READERS[name], data)

    check()


def test_a_reader_that_raises_something_else_is_found():
    def fussy(data):
        if b"\0" in data:
            raise KeyError("nul")
        raise DataError("no")

    reader = Reader(fussy, [b"1,2,3"])
    assert takes(Reader(lambda data: data, [b""]), b"")
    assert not takes(reader, b"")
    found = fuzz.checks("fussy", reader, times=500)
    assert any("KeyError: 'nul'" in what and not holds for what, holds in found.items())


def test_altered_bytes_are_others_and_the_same_ones_again():
    made = [altered(b"1,2,3\n" * 9, random.Random(seed)) for seed in range(50)]
    assert made == [altered(b"1,2,3\n" * 9, random.Random(seed)) for seed in range(50)]
    assert len(set(made)) > 40
