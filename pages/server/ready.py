"""GET /ready for load balancers: 200 if the app can recommend films, else 503.

`/_stcore/health` of Streamlit only reports that the server runs.
"""

import asyncio
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route


def route(is_ready: Callable[[], bool]) -> Route:
    """Return the route. is_ready: Returns whether the app can recommend films."""

    async def ready(_: Request) -> JSONResponse:
        can_recommend = await asyncio.to_thread(is_ready)
        return JSONResponse({"ready": can_recommend}, 200 if can_recommend else 503, {"Cache-Control": "no-store"})

    return Route("/ready", ready)
