import pytest

from recsys import paths
from recsys.models import registry
from tests import fakes


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """An empty home and empty assets; the fakes are the only models."""
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(paths, "ASSETS", tmp_path / "assets")
    monkeypatch.setattr(registry, "get", fakes.VARIANTS.__getitem__)
    monkeypatch.setattr(registry, "names", lambda: list(fakes.VARIANTS))
    return tmp_path / "home"
