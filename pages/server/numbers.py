"""Serve the metrics of `recsys.monitoring` if the environment names a port: NEXTREEL_METRICS=9150."""

import logging
import os

from recsys import monitoring

PORT = "NEXTREEL_METRICS"  # in the environment: the port, on 127.0.0.1


def serve_if_asked() -> None:
    """Serve the metrics. A port that cannot be used is logged, and the app continues without metrics."""
    port = os.environ.get(PORT, "")
    if not port:
        return
    try:
        monitoring.serve(int(port))
    except (OSError, OverflowError, ValueError, ImportError) as error:
        log = logging.getLogger(__name__)
        log.warning(
            "no metrics on port %s: %s; set %s to a free port, or pip install prometheus-client", port, error, PORT
        )
