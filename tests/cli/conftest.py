import pytest

from recsys import paths
from recsys.data import prepared
from tests import toys


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with one toy data set that is called ml-latest-sample and can be cut by date, and nothing shipped."""
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(paths, "ASSETS", tmp_path / "assets")
    histories = [[((user + day) % 20, day) for day in range(12)] for user in range(60)]
    prepared.save(toys.over_days(histories, 20, "ml-latest-sample"), toys.ARCHIVE)
    return tmp_path / "home"
