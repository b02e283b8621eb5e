import pytest

from recsys import paths
from recsys.data import prepared
from tests import toys


@pytest.fixture
def toy_home(tmp_path, monkeypatch):
    """A toy data set of sixty users, stored as ml-latest-sample in an empty home; assets are empty."""
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(paths, "ASSETS", tmp_path / "assets")
    world = toys.dataset([[(user + step) % 20 for step in range(12)] for user in range(60)], 20, "ml-latest-sample")
    prepared.save(world, toys.ARCHIVE)
    return world
