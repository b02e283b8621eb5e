"""Metrics of this process for Prometheus, on a port that only this machine can reach.

The metrics contain no titles, sessions, addresses or keys. Nothing is counted until `serve` is called.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

HOST = "127.0.0.1"
COUNTERS = {  # name → description, name of the label ("" for none)
    "page_failures": ("Page runs that raised an unexpected exception", ""),
    "fit_failures": ("Failed fits of recommenders", "model"),
    "recommendations": ("Lists of recommended films", "model"),
    "tmdb_requests": ("Requests to TMDB", "outcome"),
    "pages_refused": ("Pages refused because too many were open", ""),
    "uploads_refused": ("Uploaded files that were refused", "status"),
    "messages_refused": ("Browser messages that were refused", "kind"),
}
TIMERS = {  # name → description, name of the label
    "page": ("Duration of a page run in seconds", "page"),
    "fit": ("Duration of a fit in seconds", "model"),
}
GAUGES = {  # name → description
    "open_pages": "Open pages",
    "tmdb_paused": "1 while requests to TMDB are paused after a failure",
}
BUCKET_SECONDS = (0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)

_metrics: dict[str, Any] = {}  # name → metric of prometheus-client; empty until `serve` is called
_gauge_functions: dict[str, Callable[[], float]] = {}  # name → function that returns the value


def serve(port: int) -> int:
    """Serve http://127.0.0.1:port/metrics and return the port; 0 selects a free port.

    Raises OSError if the port is in use, OverflowError for an invalid port, and ImportError without prometheus-client.
    """
    from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, start_http_server

    registry = CollectorRegistry()
    server, _ = start_http_server(port, HOST, registry)
    ProcessCollector(registry=registry)  # memory, open files, processor time
    metrics: dict[str, Any] = {}
    for name, (description, label) in COUNTERS.items():
        metrics[name] = Counter(f"nextreel_{name}", description, [label] if label else [], registry=registry)
    for name, (description, label) in TIMERS.items():
        full_name = f"nextreel_{name}_seconds"
        metrics[name] = Histogram(full_name, description, [label], buckets=BUCKET_SECONDS, registry=registry)
    for name, description in GAUGES.items():
        Gauge(f"nextreel_{name}", description, registry=registry).set_function(partial(_gauge_value, name))
    _metrics.update(metrics)
    return int(server.server_port)


def count(name: str, label: str = "", n: int = 1) -> None:
    """Increase a counter by n. `label` is the value of its label, "" for a counter without a label."""
    if metric := _metrics.get(name):
        (metric.labels(label) if label else metric).inc(n)


@contextmanager
def timed(name: str, label: str) -> Iterator[None]:
    """Measure the duration of the block with a timer, also if it raises. `label` is the value of the timer's label."""
    start = time.perf_counter()
    try:
        yield
    finally:
        if metric := _metrics.get(name):
            metric.labels(label).observe(time.perf_counter() - start)


def register_gauge(name: str, get_value: Callable[[], float]) -> None:
    """Register the function that returns the value of a gauge. It is called whenever Prometheus reads the gauge."""
    _gauge_functions[name] = get_value


def _gauge_value(name: str) -> float:
    """Return the value of a gauge, 0 if no function is registered."""
    return _gauge_functions[name]() if name in _gauge_functions else 0.0
