"""Files from visitors: taken only from those whose page asks for one, and only so much of them.

Streamlit takes a file from any session that is open, whether a page has an uploader or not, and keeps it in memory as
long as the session lasts. A page that shows an uploader calls `expect`.
"""

import time
from dataclasses import dataclass, field

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from recsys import metrics

PATH = "/_stcore/upload_file/"  # then the session, and the file's id
FILES = 40  # that a session may have sent
BYTES = 200 << 20  # in all
OPEN = 6 * 3600.0  # seconds after which a page that asked for a file asks no more
REMEMBERED = 2000  # sessions, the newest


@dataclass
class Account:
    """What a session may send, and what it has sent."""

    until: float
    files: dict[str, int] = field(default_factory=dict)  # file id → bytes


_accounts: dict[str, Account] = {}  # session → account, the oldest first


def expect(session: str) -> None:
    """Let a session send files; call it where an uploader is shown."""
    until = time.monotonic() + OPEN
    if session in _accounts:
        _accounts[session].until = until
        return
    _accounts[session] = Account(until)
    while len(_accounts) > REMEMBERED:
        del _accounts[next(iter(_accounts))]


class Uploads:
    """Refuses files that nobody asked for (403), and what is too much (413)."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, as ASGI has it."""
        if scope["type"] == "http" and PATH in scope["path"] and (refusal := _refusal(scope)):
            metrics.count("uploads_refused", str(refusal.status_code))
            await refusal(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def _refusal(scope: Scope) -> PlainTextResponse | None:
    """Why a file is not taken; None: it may be."""
    session, _, file = scope["path"].partition(PATH)[2].partition("/")
    account = _accounts.get(session)
    if scope["method"] == "DELETE" and account:
        account.files.pop(file, None)
    if scope["method"] != "PUT":
        return None
    if account is None or account.until < time.monotonic():
        return PlainTextResponse("no page asks for a file", 403)
    size = _size(scope)
    if size is None:
        return PlainTextResponse("the size of the file is not given", 411)
    account.files[file] = size
    if len(account.files) > FILES or sum(account.files.values()) > BYTES:
        del account.files[file]
        return PlainTextResponse("that is too much for one visit", 413)
    return None


def _size(scope: Scope) -> int | None:
    """The bytes that are announced."""
    given = dict(scope["headers"]).get(b"content-length", b"")
    return int(given) if given.isdigit() else None
