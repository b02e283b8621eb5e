"""GET /ready for load balancers: 200 if the app can recommend films, else 503.

`/_stcore/health` only reports that the server runs.
"""

import asyncio
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route


def route(is_ready: Callable[[], bool]) -> Route:
    """Return the route. is_ready: Returns whether the data set and a recommender are loaded."""

    async def ready(_: Request) -> JSONResponse:
        is_loaded = await asyncio.to_thread(is_ready)
        return JSONResponse({"ready": is_loaded}, 200 if is_loaded else 503, {"Cache-Control": "no-store"})

    return Route("/ready", ready)
