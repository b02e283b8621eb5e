"""No test writes into the data folder of whoever runs it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from recsys import paths

CARELESS = """
import os
import subprocess
import sys

import pytest

from recsys import paths
from recsys.data import prepared
from tests import toys

AT_COLLECTION = str(paths.home())
WRITE = "from recsys.data import prepared; from tests import toys; prepared.save(toys.cycle(), {})"


@pytest.fixture(scope="session")
def shared():
    prepared.save(toys.cycle(), {})


def test_after_a_fixture_of_the_session(shared):
    pass


def test_at_collection():
    os.makedirs(AT_COLLECTION)
    open(AT_COLLECTION + "/file", "w").close()


def test_after_undo(monkeypatch, tmp_path):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    monkeypatch.undo()
    prepared.save(toys.cycle(), {})


def test_without_the_variable(monkeypatch):
    monkeypatch.delenv("RECSYS_HOME")
    prepared.save(toys.cycle(), {})


def test_in_a_process():
    subprocess.run([sys.executable, "-c", WRITE], check=True)


def test_careful(monkeypatch, tmp_path):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    prepared.save(toys.cycle(), {})
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [[], ["-n", "1"]])
def test_a_test_that_writes_into_the_users_data_folder_fails_and_leaves_nothing(tmp_path, workers):
    user = tmp_path / "user"
    user.mkdir()
    (tmp_path / "test_careless.py").write_text(CARELESS)
    environment = {key: value for key, value in os.environ.items() if key not in ("RECSYS_HOME", "XDG_DATA_HOME")}
    environment |= {"HOME": str(user), "PYTHONPATH": str(paths.REPOSITORY)}
    line = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", *workers, str(tmp_path)]
    done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert not list(user.rglob("*nextreel*"))
    assert "6 passed, 5 errors" in done.stdout, done.stdout + done.stderr
    assert done.stdout.count("wrote into the user's data folder") >= 5


def test_the_home_of_a_test_is_a_temporary_folder(monkeypatch):
    user = Path(os.environ["HOME"])
    assert paths.home().parent == user.parent
    monkeypatch.delenv("RECSYS_HOME")
    assert paths.home().is_relative_to(user)
