"""Visitors in Chromium reach the real app through the shipped nginx file and the shipped command lines."""

import pytest

from benchmarks.browser_latency import CHROMIUM_FLAGS, chromium_path
from tests.browser.test_app import CARDS, ROWS, wait_for_texts
from tests.browser.test_own_history import bring, use
from tests.deploy import shipped

TIMEOUT_MS = 1000 * shipped.TIMEOUT_SECONDS
NAME = "cinema.example.net"  # a name of your own, as in docs/deployment.md
LINK = "?data=ml-latest-sample&s=260-1196"  # the first two Star Wars films
FILMS = ["Star Wars: Episode IV - A New Hope", "Star Wars: Episode V - The Empire Strikes Back"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shipped.HAS_NGINX, reason=shipped.NO_NGINX),
    pytest.mark.skipif(not chromium_path(), reason="Chromium is not installed: apt install chromium"),
]


@pytest.mark.parametrize("read", [shipped.unit, shipped.container])
def test_visitors_use_the_app_through_nginx(read, playwright, tmp_path):
    (port,) = shipped.free_ports(1)
    with (
        shipped.app(read(NAME, port, tmp_path), tmp_path) as app_log,
        shipped.nginx(tmp_path, port, NAME) as site,
        browser(playwright, site) as chrome,
    ):
        address = f"https://{NAME}/"
        first = visitor(chrome)
        first.goto(address)
        first.wait_for_selector(CARDS)
        bring(first, "trakt.zip")  # the upload of a file
        use(first)
        wait_for_texts(first, ROWS, ["Alien", "Heat"])

        second = visitor(chrome)  # while the first page is still open
        second.goto(address + LINK)
        wait_for_texts(second, ROWS, FILMS)
        second.wait_for_selector(CARDS)

        logs = site.logs() + app_log.read_text("utf-8")
    assert "PUT /_stcore/upload_file/ 204" in logs
    assert "260-1196" not in logs


def browser(playwright, site):
    """Launch a Chromium that finds the name of the site on this machine and accepts its certificate."""
    rules = f"--host-resolver-rules=MAP {NAME}:443 127.0.0.1:{site.port}"
    arguments = [*CHROMIUM_FLAGS.split(), rules, "--ignore-certificate-errors"]
    return playwright.chromium.launch(executable_path=chromium_path(), args=arguments)


def visitor(chrome):
    """Open a page with its own cookies."""
    page = chrome.new_context(viewport={"width": 1280, "height": 1000}).new_page()
    page.set_default_timeout(TIMEOUT_MS)
    return page
