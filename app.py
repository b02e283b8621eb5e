"""The ASGI app of NextReel, for `streamlit run app.py` or any ASGI server. Its main script is `pages/main.py`."""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Thread
from typing import Any

import streamlit as st
from starlette.middleware import Middleware

from pages.server import health, logs
from pages.server.admission import Admission
from pages.server.headers import AllowedHosts, SecurityHeaders
from pages.server.messages import MessageFilter
from pages.server.uploads import UploadLimits
from recsys import monitoring, paths, runtime


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[dict[str, Any]]:
    """Set up malloc, the logs and the metrics server. Load torch and the films in the background."""
    runtime.tune_malloc_for_serving()
    logs.set_up()
    health.serve_metrics()
    Thread(target=_warm_up, daemon=True).start()
    yield {}


def _warm_up() -> None:
    """Import the slow modules, and run `warm.preload`."""
    gc.disable()  # the garbage collector takes a sixth of the import time
    try:
        if paths.is_public():  # visitors of a public server must not start downloads
            from recsys.text import encoder

            encoder.disable_downloads()
        from pages.ui import warm  # imported late, so that the server answers before pandas is loaded

        warm.preload()
    finally:
        gc.enable()


def _is_ready() -> bool:
    from pages.ui import warm  # imported late, as in `_warm_up`

    return warm.is_ready()


def _count_failure(error: Exception) -> None:
    """Count an exception of a page, unless the client has sent a widget value that the app does not offer."""
    if not logs.is_caused_by_forged_value(error):
        monitoring.count("page_failures")


app = st.App(
    "pages/main.py",
    lifespan=lifespan,
    middleware=[Middleware(cls) for cls in (SecurityHeaders, AllowedHosts, Admission, UploadLimits, MessageFilter)],
    routes=[health.ready_route(_is_ready)],
    on_script_error=_count_failure,
)
