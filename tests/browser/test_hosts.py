"""The running app answers under the names of this machine only (DNS rebinding)."""

from urllib.parse import urlsplit

import pytest

from tests.browser.requests import http_status, request, websocket_status

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]"])
def test_the_names_of_this_machine_are_served(address, name):
    host = f"{name}:{urlsplit(address).port}"
    assert (http_status(address, host), websocket_status(address, host)) == (200, 101)


@pytest.mark.parametrize("path", ["/", "/evaluation", "/_stcore/health", "/ready"])
def test_a_foreign_host_gets_no_page(address, path):
    assert http_status(address, "rebound.example", path) == 400


def test_a_foreign_host_gets_no_websocket(address):
    assert websocket_status(address, f"rebound.example:{urlsplit(address).port}") in (400, 403)


@pytest.mark.parametrize("path", ["/.", "/%2e", "/evaluation/"])
def test_redirects_name_no_host(address, path):
    response = request(address, path, {"Host": f"127.0.0.1:{urlsplit(address).port}"})
    assert response.status in (301, 307, 308)
    assert not urlsplit(response.headers["Location"]).netloc
