import os

import pytest

from benchmarks import bench_load as load
from recsys.errors import RecsysError
from tests.data import archives


@pytest.mark.slow
def test_both_loads_are_timed_in_processes_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path / "home"))
    source = archives.write(tmp_path, archives.comma(), "toy.zip")
    result = load.measure(load.Options(source=source, dataset="ml-latest-small"))
    assert (result["users"], result["films"], result["ratings"]) == (5, 5, 25)  # those of the toy archive
    for name in ("first", "second"):
        assert 0 < result[name]["seconds"] < result[name]["process_seconds"] < 60
        assert 10 < result[name]["memory_mb"] < 1_000
    printed = "\n".join(load.format_lines(result))
    assert "toy.zip" in printed
    assert "first load" in printed
    assert "second load" in printed
    assert not (tmp_path / "home").exists()  # measured in a folder of its own
    assert os.environ["RECSYS_HOME"] == str(tmp_path / "home")


def test_a_missing_archive_is_named_with_the_line_to_type(tmp_path):
    with pytest.raises(RecsysError) as error:
        load.measure(load.Options(source=tmp_path / "none.zip"))
    assert f"-m benchmarks.generate_movielens --out {tmp_path / 'none.zip'}" in str(error.value.command)


def test_a_missing_archive_may_have_braces_in_its_name(tmp_path):
    with pytest.raises(RecsysError, match=r"there is no file .*\{a\}\.zip"):
        load.measure(load.Options(source=tmp_path / "{a}.zip"))


def test_an_error_of_the_loader_is_passed_on(tmp_path):
    source = archives.write(tmp_path, archives.hundred_k())
    with pytest.raises(RecsysError, match=r"^some\.zip .*holds no ratings\.csv"):
        load.measure(load.Options(source=source))
