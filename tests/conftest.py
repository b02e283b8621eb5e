"""One thread for arithmetic: toys only wait for more, and on a busy machine they wait long."""

import os

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when torch is first imported, here and in what tests start


@pytest.fixture(scope="session")
def playwright():
    """Start Playwright; a process can have one only."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    with sync_api.sync_playwright() as started:
        yield started
