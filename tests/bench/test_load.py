import argparse
import os

import pytest

from recsys.bench import load
from recsys.data.schema import DataError
from tests.data import archives


def measured(*arguments):
    parser = argparse.ArgumentParser()
    load.add_flags(parser)
    return load.measure(parser.parse_args([str(argument) for argument in arguments]))


def test_both_loads_are_timed_in_processes_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path / "home"))
    source = archives.write(tmp_path, archives.comma(), "toy.zip")
    result = measured("--from", source, "--dataset", "ml-latest-small")
    assert (result["users"], result["films"], result["ratings"]) == (5, 5, 25)  # those of the toy archive
    for name in ("first", "second"):
        assert 0 < result[name]["seconds"] < result[name]["process_seconds"] < 60
        assert 10 < result[name]["memory_mb"] < 1_000
    told = "\n".join(load.lines(result))
    assert "toy.zip" in told
    assert "first load" in told
    assert "second load" in told
    assert not (tmp_path / "home").exists()  # measured in a folder of its own
    assert os.environ["RECSYS_HOME"] == str(tmp_path / "home")


def test_a_missing_archive_is_told_with_the_line_to_type(tmp_path):
    with pytest.raises(DataError, match=r"python -m benchmarks\.generate_movielens"):
        measured("--from", tmp_path / "none.zip")


def test_what_the_loader_says_is_passed_on(tmp_path):
    source = archives.write(tmp_path, archives.hundred_k())
    with pytest.raises(DataError, match=r"holds no ratings\.csv"):
        measured("--from", source, "--dataset", "ml-20m")
