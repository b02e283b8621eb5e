"""Limit the number of open pages. Further visitors see a page that reloads itself until a place is free."""

import os

from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from recsys import monitoring

STREAM_PATH = "/_stcore/stream"  # WebSocket of an open page
MAX_OPEN_PAGES = 150  # each uses about 5 MB, and four of the 1,024 files that Linux lets a process open by default
LIMIT_VARIABLE = "NEXTREEL_VISITORS"  # environment variable with a limit that replaces MAX_OPEN_PAGES
RETRY_SECONDS = 15
BUSY_PAGE_HTML = f"""<!doctype html><html lang="en"><meta charset="utf-8">
<meta http-equiv="refresh" content="{RETRY_SECONDS}"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>NextReel</title><style>body{{display:grid;place-content:center;min-height:90vh;text-align:center;font-family:sans-serif;padding:1rem}}
</style><h1>Full house</h1>
<p>All seats are taken at the moment. This page tries again every {RETRY_SECONDS} seconds.</p>
<p lang="uk">Зараз усі місця зайняті. Сторінка спробує ще раз за {RETRY_SECONDS} секунд.</p></html>"""


class Admission:
    """ASGI middleware that refuses further pages, with status 503, while `max_pages` pages are open.

    Without the argument `max_pages`, the limit is LIMIT_VARIABLE or MAX_OPEN_PAGES.
    """

    def __init__(self, app: ASGIApp, max_pages: int | None = None) -> None:
        self.app = app
        limit = os.environ.get(LIMIT_VARIABLE, "")  # ignored if it is not a positive integer
        self.max_pages = max_pages or (int(limit) if limit.isdecimal() else 0) or MAX_OPEN_PAGES
        self.n_open_pages = 0
        monitoring.register_gauge("open_pages", lambda: self.n_open_pages)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "websocket" and scope["path"].endswith(STREAM_PATH):
            await self._open_page(scope, receive, send)
        elif self.n_open_pages >= self.max_pages and _is_page(scope):
            monitoring.count("pages_refused")
            headers = {"Retry-After": str(RETRY_SECONDS), "Cache-Control": "no-store"}
            await HTMLResponse(BUSY_PAGE_HTML, 503, headers)(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _open_page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count a page while its WebSocket is open, or close the WebSocket if too many pages are open."""
        if self.n_open_pages >= self.max_pages:
            monitoring.count("pages_refused")
            await receive()  # ASGI: "websocket.connect" is read before the connection is closed
            await send({"type": "websocket.close", "code": 1013, "reason": "busy"})  # 1013: try again later
            return
        self.n_open_pages += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.n_open_pages -= 1


def _is_page(scope: Scope) -> bool:
    """Return whether a request is for a page, not for a file or the state of the server."""
    is_get = scope["type"] == "http" and scope["method"] == "GET"
    return is_get and any(name == b"accept" and b"text/html" in value for name, value in scope["headers"])
