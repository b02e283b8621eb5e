import urllib.request

import pytest

from pages.server import health
from recsys import monitoring


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch):
    monkeypatch.setattr(monitoring, "_metrics", {})


def test_numbers_are_served_on_the_port_that_is_asked_for(monkeypatch):
    ports = []
    serve = monitoring.serve
    monkeypatch.setattr(monitoring, "serve", lambda port: ports.append(serve(port)))
    monkeypatch.setenv(health.PORT_VARIABLE, "0")
    health.serve_metrics()
    with urllib.request.urlopen(f"http://127.0.0.1:{ports[0]}/metrics") as answer:
        assert b"nextreel_open_pages 0.0" in answer.read()


def test_unless_somebody_asks_there_are_none(monkeypatch):
    monkeypatch.delenv(health.PORT_VARIABLE, raising=False)
    health.serve_metrics()
    assert monitoring._metrics == {}


@pytest.mark.parametrize("port", ["http", "-1", "99999"])
def test_a_port_that_cannot_be_had_is_said_and_the_app_goes_on(monkeypatch, caplog, port):
    monkeypatch.setenv(health.PORT_VARIABLE, port)
    health.serve_metrics()
    assert f"no metrics on port {port}" in caplog.text
