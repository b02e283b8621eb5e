import shutil
import subprocess
import sys

import pytest

from recsys.data import prepared
from recsys.jobs import queue, runner
from tests import toys

DATA = "ml-latest-sample"


@pytest.fixture(scope="session")
def stored_sets(tmp_path_factory):
    """Store two toy data sets once."""
    folder = tmp_path_factory.mktemp("two-sets")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECSYS_HOME", str(folder))
        for name in (DATA, "ml-100k"):
            prepared.save(toys.over_days([[(day % 20, day) for day in range(12)]] * 30, 20, name), toys.ARCHIVE)
    return folder


@pytest.fixture
def two_sets(stored_sets, home, no_assets):
    """Copy the two toy data sets into the data folder of the test."""
    shutil.copytree(stored_sets, home)


@pytest.fixture
def asleep(two_sets, monkeypatch):
    """Nobody works the queue off but the test itself."""
    monkeypatch.setattr(queue, "start_runner", lambda: None)


@pytest.fixture
def training(asleep, monkeypatch):
    """Training is what this script does: training("print(1)")."""

    def is_this(script):
        monkeypatch.setattr(runner, "command", lambda job: [sys.executable, "-c", script])

    is_this("")
    return is_this


@pytest.fixture
def started(two_sets, monkeypatch):
    """The runners that were started; they are ended with the test."""
    known, popen = [], subprocess.Popen

    def start(*arguments, **options):
        known.append(popen(*arguments, **options))
        return known[-1]

    monkeypatch.setattr(queue.subprocess, "Popen", start)
    yield known
    for process in known:
        process.kill()
        process.wait()
