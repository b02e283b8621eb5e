import pytest

from recsys.models import registry
from tests import fakes


@pytest.fixture(autouse=True)
def fake_models(home, no_assets, monkeypatch):
    """An empty home and empty assets; the fakes are the only models."""

    def get(name):
        if name not in fakes.VARIANTS:
            raise registry.UnknownModelError(
                f"no recommender is called {name}; choose one of: {', '.join(fakes.VARIANTS)}"
            )
        return fakes.VARIANTS[name]

    monkeypatch.setattr(registry, "get", get)
    monkeypatch.setattr(registry, "names", lambda: list(fakes.VARIANTS))
