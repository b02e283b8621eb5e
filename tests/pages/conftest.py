import shutil
from functools import cache
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from pages.ui import browser, explanation, session, tasks
from pages.ui import page as ui_page
from recsys import paths
from recsys.paths import REPOSITORY
from recsys.text import encoder
from tests.models.conftest import words_as_vectors
from tests.pages import world

SCRIPTS = {Path(script).stem.partition("_")[2]: script for script in ui_page.PAGES}  # "compare": its file


@pytest.fixture(scope="session", autouse=True)
def _installed_components():
    """Look for Streamlit components among the installed packages once. Each new AppTest would do so, in 50 ms."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(scope="session")
def trained_home(tmp_path_factory):
    """A home with the toy MovieLens 100K and a BERT4Rec that knows it."""
    home = tmp_path_factory.mktemp("trained")
    world.furnish(home)
    return home


@pytest.fixture(autouse=True)
def app_home(trained_home, home, tmp_path, monkeypatch):
    """Copy that home for one test. Caches are empty, only sample lists are shipped, and no encoder is downloaded."""
    shutil.copytree(trained_home, home)
    assets = tmp_path / "assets"
    assets.mkdir()
    shutil.copy(paths.sample_lists(), assets)
    monkeypatch.setattr("recsys.paths.ASSETS", assets)
    assert browser.STYLE.is_dir()  # imported above, so the style is still that of the project
    monkeypatch.setattr(encoder, "encode", words_as_vectors)
    st.cache_resource.clear()
    tasks._tasks.cache_clear()
    explanation.tmdb_service.cache_clear()
    st.cache_data.clear()


@pytest.fixture
def visit():
    """Opens the app at an address, as `visit(s="1-2")`, on a page if one is given."""

    def open_app(page=None, **query):
        app = AppTest.from_file(REPOSITORY / "pages" / "main.py", default_timeout=60)
        app.query_params.update(query)
        return (app.switch_page(SCRIPTS[page]) if page else app).run()

    return open_app


@pytest.fixture
def follow(monkeypatch):
    """Has the browser go to an address that it knows; the browser tests show that it does so by Back and Forward."""

    def go(app, query):
        app.query_params.clear()
        app.query_params.update(query)
        monkeypatch.setattr(session, "_is_back_or_forward", lambda: True)
        app.run()
        monkeypatch.setattr(session, "_is_back_or_forward", lambda: False)
        return app

    return go
