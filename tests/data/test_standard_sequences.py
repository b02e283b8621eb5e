"""Our ML-1M is the file that the papers on SASRec, BERT4Rec and gSASRec use, to the last byte."""

import hashlib
import time
from collections.abc import Iterable

import pytest

from recsys.data import datasets

STANDARD = "b725f3acb3986fe3130bffd1e77a74d182a1f51799567a236dbd60270f95b0a2"  # SHA-256 of the unpacked text file


@pytest.fixture(scope="module")
def ml_1m():
    try:
        return datasets.load("ml-1m")
    except datasets.MissingData as error:
        pytest.skip(str(error))


def test_ml_1m_gives_the_standard_sequences(ml_1m):
    text = standard_text(ml_1m)
    assert text.count("\n") == 999_611
    assert hashlib.sha256(text.encode()).hexdigest() == STANDARD


def test_ml_1m_has_the_published_size(ml_1m):
    assert (ml_1m.n_users, ml_1m.n_items, len(ml_1m.interactions)) == (6040, 3416, 999_611)


def test_the_second_load_of_ml_1m_takes_less_than_half_a_second(ml_1m):
    begin = time.perf_counter()
    datasets.load("ml-1m")
    assert time.perf_counter() - begin < 0.5


def standard_text(dataset):
    """ "user item" lines in the file's own numbers: users as Python 2 walked a dict, items by first appearance."""
    order = python2_dict_order([str(user) for user in dataset.user_ids])
    row = {str(user): row for row, user in enumerate(dataset.user_ids)}
    number: dict[int, int] = {}
    lines = []
    for user, name in enumerate(order, start=1):
        for item in dataset.history(row[name]).tolist():
            lines.append(f"{user} {number.setdefault(item, len(number) + 1)}\n")
    return "".join(lines)


def python2_dict_order(keys: Iterable[str]) -> list[str]:
    """The order in which CPython 2 (64 bits) lists the keys of a dict that was filled in the given order."""
    size, slots = 8, {}
    for key in keys:
        _put(slots, size, key)
        if 3 * len(slots) >= 2 * size:
            size, old = 4 * size, [slots[slot] for slot in sorted(slots)]
            slots = {}
            for earlier in old:
                _put(slots, size, earlier)
    return [slots[slot] for slot in sorted(slots)]


def _put(slots: dict[int, str], size: int, key: str) -> None:
    """Into the first free slot of the probe sequence of dictobject.c."""
    bits = 2**64
    hashed = ord(key[0]) << 7
    for letter in key:
        hashed = (1000003 * hashed ^ ord(letter)) % bits
    slot = perturb = hashed ^ len(key)
    while slot % size in slots:
        slot = (5 * slot + perturb + 1) % bits
        perturb >>= 5
    slots[slot % size] = key


def test_the_order_of_a_python_2_dict_is_known():
    # dict.fromkeys("abcdefgh").keys() in CPython 2.7, 64 bits
    assert python2_dict_order("abcdefgh") == ["a", "c", "b", "e", "d", "g", "f", "h"]
