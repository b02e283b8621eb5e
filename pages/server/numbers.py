"""Serve the metrics of `recsys.monitoring` for Prometheus if the environment has a port: NEXTREEL_METRICS=9150."""

import logging
import os

from recsys import monitoring

PORT_VARIABLE = "NEXTREEL_METRICS"  # environment variable with the port, on 127.0.0.1


def serve_if_asked() -> None:
    """Serve the metrics if the environment has a port. If it cannot be used, log a warning."""
    port = os.environ.get(PORT_VARIABLE, "")
    if not port:
        return
    try:
        monitoring.serve(int(port))
    except (OSError, OverflowError, ValueError, ImportError) as error:
        log = logging.getLogger(__name__)
        log.warning(
            "no metrics on port %s: %s; set %s to a free port, or pip install prometheus-client",
            port,
            error,
            PORT_VARIABLE,
        )
