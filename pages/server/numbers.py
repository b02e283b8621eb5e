"""Starts to count what `recsys.monitoring` tells, where whoever runs the server asks for it: NEXTREEL_METRICS=9150."""

import logging
import os

from recsys import monitoring

PORT = "NEXTREEL_METRICS"  # in the environment: the port, on 127.0.0.1


def serve_if_asked() -> None:
    """Serve the numbers; a port that cannot be had is said, and the app goes on without them."""
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
