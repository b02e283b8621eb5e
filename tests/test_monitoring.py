import subprocess
import sys
import urllib.request

import pytest

from recsys import monitoring
from recsys.paths import REPOSITORY


@pytest.fixture
def told(monkeypatch):
    """What the port says, as {"nextreel_open_pages": 3.0}; counting begins anew."""
    monkeypatch.setattr(monitoring, "_metrics", {})
    monkeypatch.setattr(monitoring, "_gauge_functions", {})
    port = monitoring.serve(0)

    def read():
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            lines = answer.read().decode().splitlines()
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")}

    return read


def test_what_is_counted_is_told_by_its_label(told):
    monitoring.count("recommendations", "bert4rec")
    monitoring.count("recommendations", "bert4rec", 4)
    monitoring.count("pages_refused")
    found = told()
    assert found['nextreel_recommendations_total{model="bert4rec"}'] == 5
    assert found["nextreel_pages_refused_total"] == 1
    assert found["nextreel_page_failures_total"] == 0


def test_a_block_is_measured_however_it_ends(told):
    with pytest.raises(KeyError), monitoring.timed("page", "compare"):
        raise KeyError
    with monitoring.timed("page", "compare"):
        pass
    found = told()
    assert found['nextreel_page_seconds_count{page="compare"}'] == 2
    assert found['nextreel_page_seconds_bucket{le="60.0",page="compare"}'] == 2


def test_what_is_watched_is_asked_for_when_somebody_looks(told):
    here = [3]
    assert told()["nextreel_open_pages"] == 0
    monitoring.register_gauge("open_pages", lambda: here[0])
    assert told()["nextreel_open_pages"] == 3
    here[0] = 4
    assert told()["nextreel_open_pages"] == 4


def test_memory_and_open_files_of_the_process_are_told(told):
    assert told()["process_resident_memory_bytes"] > 1e6
    assert told()["process_open_fds"] > 0


def test_a_port_in_use_is_an_error_and_nothing_is_counted_then(told, monkeypatch):
    port = monitoring.serve(0)
    monkeypatch.setattr(monitoring, "_metrics", {})
    with pytest.raises(OSError, match="in use"):
        monitoring.serve(port)
    assert monitoring._metrics == {}


def test_nobody_who_does_not_ask_pays_for_it():
    code = "import sys; from recsys import monitoring; monitoring.count('uploads_refused', '413'); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert "recsys.monitoring" in ran.stdout.split()
    assert "prometheus_client" not in ran.stdout.split()
