"""No more visitors than the machine can serve: whoever comes when it is full is told so at once, and let in later."""

import os

from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from recsys import monitoring

STREAM = "/_stcore/stream"  # the connection that a page keeps open as long as it is shown
MOST = 150  # visitors at a time; each holds four of the 1,024 files that a process may have open, and some 5 MB
VISITORS = "NEXTREEL_VISITORS"  # in the environment: another number
AGAIN = 15  # seconds after which the page tries again
BUSY = f"""<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="{AGAIN}">
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>NextReel</title><style>body{{display:grid;place-content:center;min-height:90vh;text-align:center;font-family:sans-serif;padding:1rem}}
</style><h1>Full house</h1><p>All seats are taken at the moment. This page tries again every {AGAIN} seconds.</p>
<p lang="uk">Зараз усі місця зайняті. Сторінка спробує ще раз за {AGAIN} секунд.</p></html>"""


class Admission:
    """Counts the pages that are open, and answers "busy" (503) while there are `most`."""

    def __init__(self, app: ASGIApp, most: int | None = None) -> None:
        self.app = app
        self.most = most or _most()
        self.here = 0
        monitoring.register_gauge("visitors", lambda: self.here)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, as ASGI has it."""
        if scope["type"] == "websocket" and scope["path"].endswith(STREAM):
            await self._visit(scope, receive, send)
        elif self.here >= self.most and _is_page(scope):
            monitoring.count("visitors_refused")
            busy = HTMLResponse(BUSY, 503, {"Retry-After": str(AGAIN), "Cache-Control": "no-store"})
            await busy(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _visit(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one page in, until it is closed."""
        if self.here >= self.most:
            monitoring.count("visitors_refused")
            await receive()
            await send({"type": "websocket.close", "code": 1013, "reason": "busy"})  # 1013: try again later
            return
        self.here += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.here -= 1


def _is_page(scope: Scope) -> bool:
    """Whether somebody wants to see a page, not a file, a picture or the state of the server."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return False
    return any(name == b"accept" and b"text/html" in value for name, value in scope["headers"])


def _most() -> int:
    """The number of the environment, where it is one."""
    chosen = os.environ.get(VISITORS, "")
    return int(chosen) if chosen.isdecimal() and int(chosen) else MOST
