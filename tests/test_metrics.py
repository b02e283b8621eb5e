import subprocess
import sys
import urllib.request

import pytest

from recsys import metrics
from recsys.paths import REPOSITORY


@pytest.fixture
def told(monkeypatch):
    """What the port says, as {"nextreel_visitors": 3.0}; counting begins anew."""
    monkeypatch.setattr(metrics, "_kept", {})
    monkeypatch.setattr(metrics, "_asked_for", {})
    port = metrics.serve(0)

    def read():
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            lines = answer.read().decode().splitlines()
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")}

    return read


def test_what_is_counted_is_told_by_its_label(told):
    metrics.count("recommendations", "bert4rec")
    metrics.count("recommendations", "bert4rec", 4)
    metrics.count("visitors_refused")
    found = told()
    assert found['nextreel_recommendations_total{model="bert4rec"}'] == 5
    assert found["nextreel_visitors_refused_total"] == 1
    assert found["nextreel_page_failures_total"] == 0


def test_a_block_is_measured_however_it_ends(told):
    with pytest.raises(KeyError), metrics.timed("page", "compare"):
        raise KeyError
    with metrics.timed("page", "compare"):
        pass
    found = told()
    assert found['nextreel_page_seconds_count{page="compare"}'] == 2
    assert found['nextreel_page_seconds_bucket{le="60.0",page="compare"}'] == 2


def test_what_is_watched_is_asked_for_when_somebody_looks(told):
    here = [3]
    assert told()["nextreel_visitors"] == 0
    metrics.watch("visitors", lambda: here[0])
    assert told()["nextreel_visitors"] == 3
    here[0] = 4
    assert told()["nextreel_visitors"] == 4


def test_memory_and_open_files_of_the_process_are_told(told):
    assert told()["process_resident_memory_bytes"] > 1e6
    assert told()["process_open_fds"] > 0


def test_a_port_in_use_is_an_error_and_nothing_is_counted_then(told, monkeypatch):
    port = metrics.serve(0)
    monkeypatch.setattr(metrics, "_kept", {})
    with pytest.raises(OSError, match="in use"):
        metrics.serve(port)
    assert metrics._kept == {}


def test_nobody_who_does_not_ask_pays_for_it():
    code = "import sys; from recsys import metrics; metrics.count('uploads_refused', '413'); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert "recsys.metrics" in ran.stdout.split()
    assert "prometheus_client" not in ran.stdout.split()
