"""Whether the app can answer, for whoever starts it or balances its load: GET /ready, 200 or 503.

`/_stcore/health` says only that the server is there.
"""

import asyncio
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route


def route(is_ready: Callable[[], bool]) -> Route:
    """The address; is_ready: whether data and a recommender are there."""

    async def ready(_: Request) -> JSONResponse:
        there = await asyncio.to_thread(is_ready)
        return JSONResponse({"ready": there}, 200 if there else 503, {"Cache-Control": "no-store"})

    return Route("/ready", ready)
