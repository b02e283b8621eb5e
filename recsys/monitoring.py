"""Numbers about this process for whoever runs it: in Prometheus' format, on a port that this machine alone can reach.

They tell of nobody: no title, session, address or key is in them. Until `serve` is called nothing is counted, and the
package prometheus-client is not imported.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

HERE = "127.0.0.1"
COUNTED = {  # name → what is counted, and by what
    "page_failures": ("Runs of pages that ended in a bug", ""),
    "fit_failures": ("Fits of recommenders that failed", "model"),
    "recommendations": ("Lists of films made", "model"),
    "tmdb_questions": ("Questions put to TMDB", "outcome"),
    "visitors_refused": ("Visitors who found a full house", ""),
    "uploads_refused": ("Files that were not taken", "status"),
    "messages_refused": ("Messages of browsers that were not taken", "kind"),
}
TIMED = {
    "page": ("Seconds of a run of a page", "page"),
    "fit": ("Seconds of a fit", "model"),
}
WATCHED = {
    "visitors": "Pages that are open",
    "tmdb_resting": "1 while TMDB is not asked, because it failed",
}
SECONDS = (0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)  # limits of the histograms

_kept: dict[str, Any] = {}  # name → metric of prometheus-client; empty until they are served
_asked_for: dict[str, Callable[[], float]] = {}  # name → what tells its value


def serve(port: int) -> int:
    """Begin to count, and answer http://127.0.0.1:port/metrics; 0 takes a free port, which is returned.

    Raises OSError for a port in use, OverflowError for none at all, ImportError without prometheus-client.
    """
    from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, start_http_server

    registry = CollectorRegistry()
    server, _ = start_http_server(port, HERE, registry)
    ProcessCollector(registry=registry)  # memory, open files, seconds of the processor
    known: dict[str, Any] = {}
    for name, (told, label) in COUNTED.items():
        known[name] = Counter(f"nextreel_{name}", told, [label] if label else [], registry=registry)
    for name, (told, label) in TIMED.items():
        known[name] = Histogram(f"nextreel_{name}_seconds", told, [label], buckets=SECONDS, registry=registry)
    for name, told in WATCHED.items():
        Gauge(f"nextreel_{name}", told, registry=registry).set_function(partial(_value, name))
    _kept.update(known)
    return int(server.server_port)


def count(name: str, label: str = "", n: int = 1) -> None:
    """Add to one of COUNTED."""
    if metric := _kept.get(name):
        (metric.labels(label) if label else metric).inc(n)


@contextmanager
def timed(name: str, label: str) -> Iterator[None]:
    """Measure a block for one of TIMED, however it ends."""
    start = time.perf_counter()
    try:
        yield
    finally:
        if metric := _kept.get(name):
            metric.labels(label).observe(time.perf_counter() - start)


def register_gauge(name: str, value: Callable[[], float]) -> None:
    """Say where one of WATCHED is to be asked for, whenever somebody looks."""
    _asked_for[name] = value


def _value(name: str) -> float:
    return _asked_for[name]() if name in _asked_for else 0.0
