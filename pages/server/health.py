"""Health of the server: GET /ready for load balancers, and the metrics of `recsys.monitoring` for Prometheus.

Streamlit's route `/_stcore/health` only reports that the server runs.
"""

import asyncio
import logging
import os
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from recsys import monitoring

PORT_VARIABLE = "NEXTREEL_METRICS"  # environment variable with the port of the metrics, on 127.0.0.1


def ready_route(is_ready: Callable[[], bool]) -> Route:
    """Return the route /ready. It answers 200 if `is_ready` returns True, else 503."""

    async def ready(_: Request) -> JSONResponse:
        can_recommend = await asyncio.to_thread(is_ready)
        return JSONResponse({"ready": can_recommend}, 200 if can_recommend else 503, {"Cache-Control": "no-store"})

    return Route("/ready", ready)


def serve_metrics() -> None:
    """Serve the metrics if PORT_VARIABLE is set. If the port cannot be used, log a warning."""
    if not (port := os.environ.get(PORT_VARIABLE)):
        return
    try:
        monitoring.serve(int(port))
    except (OSError, OverflowError, ValueError, ImportError) as error:
        warning = "no metrics on port %s: %s; set %s to a free port, or pip install prometheus-client"
        logging.getLogger(__name__).warning(warning, port, error, PORT_VARIABLE)
