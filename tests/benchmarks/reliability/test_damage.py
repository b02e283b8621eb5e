import json

import numpy as np
import pytest

from benchmarks.reliability import damage


@pytest.fixture(scope="module")
def measured():
    return damage.measure(truncations=10, flips=20)


def test_no_damage_goes_unnoticed_and_none_ends_in_a_traceback(measured):
    for found in measured:
        assert found.silent == found.tracebacks == [], found.name
        assert found.typed + found.done_without == found.trials == 30


def test_every_kind_of_file_is_damaged(measured):
    kinds = {found.name.partition("/")[0] for found in measured}
    assert kinds >= {"data", "details", "film_vectors", "maps", "checkpoints", "results", "trials", "jobs", "encoder"}


def test_a_reader_that_checks_nothing_is_seen(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"a": 12345678901234567890}')
    careless = damage.Kind("x", path, lambda: json.loads(path.read_bytes()))
    found = damage._try(careless, 10, 20, np.random.default_rng(0))
    assert not found.holds
    assert found.silent
    assert found.tracebacks
    assert path.read_text() == '{"a": 12345678901234567890}'
