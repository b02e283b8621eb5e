"""Settings of every test: a temporary home folder, and one thread for arithmetic.

The environment is set when this module is imported, so it also holds while tests are collected, in fixtures of every
scope, in xdist workers and in the processes that tests start.
"""

import os
import shutil
import tempfile
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("ci", deadline=None, derandomize=True)
hypothesis.settings.register_profile("local", deadline=None)  # searches for new examples
hypothesis.settings.load_profile("ci" if "CI" in os.environ else "local")

os.environ.setdefault("OMP_NUM_THREADS", "1")  # toys only wait for more threads; read when torch is first imported

SANDBOX = Path(tempfile.mkdtemp(prefix="nextreel-tests-"))
USER_DATA = SANDBOX / "user" / ".local" / "share"
DATA_FOLDERS = (SANDBOX / "recsys", USER_DATA / "nextreel")  # with RECSYS_HOME, and without
USER_DATA.mkdir(parents=True)
os.environ |= {
    "HOME": str(SANDBOX / "user"),
    "XDG_DATA_HOME": str(USER_DATA),
    "RECSYS_HOME": str(DATA_FOLDERS[0]),
}


def pytest_unconfigure():
    """Delete the temporary folders of this process."""
    shutil.rmtree(SANDBOX, ignore_errors=True)


@pytest.fixture(autouse=True)
def _writes_only_into_its_own_home():
    """Fail a test that writes into the data folder without having chosen one: set RECSYS_HOME in such a test."""
    yield
    written = [str(path) for folder in DATA_FOLDERS if folder.exists() for path in folder.rglob("*")]
    for folder in DATA_FOLDERS:
        shutil.rmtree(folder, ignore_errors=True)
    assert not written, f"the test wrote into the user's data folder: {written}"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Set an empty data folder, which does not exist yet, and return it."""
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def no_assets(tmp_path, monkeypatch):
    """Replace the files shipped with the project by an empty folder."""
    monkeypatch.setattr("recsys.paths.ASSETS", tmp_path / "assets")


@pytest.fixture
def toy_home(home, no_assets):
    """Store a toy data set of 60 users as ml-latest-sample. Splits by date are possible."""
    from recsys.data import prepared  # not at the top: RECSYS_HOME is set first
    from tests import toys

    histories = [[((user + day) % 20, day) for day in range(12)] for user in range(60)]
    prepared.save(toys.over_days(histories, 20, "ml-latest-sample"), toys.ARCHIVE)
    return home


@pytest.fixture(scope="session")
def playwright():
    """Start Playwright; a process can have one only."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    with sync_api.sync_playwright() as started:
        yield started
