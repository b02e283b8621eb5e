import pytest

from recsys import paths
from recsys.models import registry
from tests import fakes


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """An empty home and empty assets; the fakes are the only models."""

    def get(name):
        if name not in fakes.VARIANTS:
            raise registry.UnknownModelError(f"no model is called {name}; there are: {', '.join(fakes.VARIANTS)}")
        return fakes.VARIANTS[name]

    monkeypatch.setenv("RECSYS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(paths, "ASSETS", tmp_path / "assets")
    monkeypatch.setattr(registry, "get", get)
    monkeypatch.setattr(registry, "names", lambda: list(fakes.VARIANTS))
    return tmp_path / "home"
