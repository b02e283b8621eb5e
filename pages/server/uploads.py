"""Limits on the files that visitors upload.

Streamlit accepts a file from any open session, even if its page has no uploader, and keeps the file in memory until the
session ends. With this module, a session can only upload if its page has called `allow_uploads`. The limits count only
the files that Streamlit still stores, and files that are being received.
"""

import threading
import time
from dataclasses import dataclass

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import runtime

from recsys import monitoring

UPLOAD_PATH = "/_stcore/upload_file/"  # followed by the session id and the file id
MAX_SESSION_FILES = 40
MAX_SESSION_BYTES = 200 << 20
MAX_TOTAL_BYTES = 512 << 20  # of all sessions together
PERMISSION_SECONDS = 6 * 3600.0  # how long a session may upload after `allow_uploads`
MAX_SESSIONS = 2000  # sessions with a permission; a further session replaces the oldest permission
FRAMING_BYTES = 1024  # maximum size of a request without its file: the headers of one multipart part

FileKey = tuple[str, str]  # session id, file id


@dataclass
class Permission:
    """The permission of a session to upload files."""

    expires: float  # seconds of time.monotonic()
    max_file_bytes: int


_permissions: dict[str, Permission] = {}  # session id → permission, the oldest first
_lock = threading.Lock()  # pages call `allow_uploads` in threads
_incoming_sizes: dict[FileKey, int] = {}  # sizes in bytes of the files that are being received


def allow_uploads(session: str, max_file_bytes: int) -> None:
    """Allow a session to upload files for PERMISSION_SECONDS. Pages call this where they show an uploader."""
    with _lock:
        _permissions.pop(session, None)
        _permissions[session] = Permission(time.monotonic() + PERMISSION_SECONDS, max_file_bytes)
        while len(_permissions) > MAX_SESSIONS:
            del _permissions[next(iter(_permissions))]


class UploadLimits:
    """ASGI middleware that refuses uploads without permission or beyond the limits, see `_refusal`."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http" or scope["method"] != "PUT" or UPLOAD_PATH not in scope["path"]:
            await self.app(scope, receive, send)
            return
        _prefix, _path, ids = scope["path"].partition(UPLOAD_PATH)
        session, _slash, file_id = ids.partition("/")
        length = dict(scope["headers"]).get(b"content-length", b"")
        file, size = (session, file_id), (int(length) if length.isdigit() else None)
        if refusal := _refusal(file, size):
            monitoring.count("uploads_refused", str(refusal.status_code))
            await refusal(scope, receive, send)
            return
        _incoming_sizes[file] = size or 0  # never None: `_refusal` refuses a file without a size
        try:
            await self.app(scope, receive, send)
        finally:
            del _incoming_sizes[file]


def _refusal(file: FileKey, size: int | None) -> PlainTextResponse | None:
    """Return the response that refuses a file, or None if the file is accepted.

    Args:
        file: The session and the file.
        size: Bytes of the request, None without a valid Content-Length.
    """
    session, _file_id = file
    permission = _permissions.get(session)
    if permission is None or permission.expires < time.monotonic():
        return PlainTextResponse("no page asks for a file", 403)
    if size is None:
        return PlainTextResponse("the size of the file is not given", 411)
    if size > permission.max_file_bytes + FRAMING_BYTES:
        return PlainTextResponse("the file is too large", 413)
    if file in _incoming_sizes:
        return PlainTextResponse("the file is being uploaded already", 409)
    sizes = _stored_sizes() | _incoming_sizes | {file: size}  # a file that is sent again replaces the old file
    session_sizes = [n_bytes for (file_session, _id), n_bytes in sizes.items() if file_session == session]
    if len(session_sizes) > MAX_SESSION_FILES or sum(session_sizes) > MAX_SESSION_BYTES:
        return PlainTextResponse("too many or too large files for one visit", 413)
    if sum(sizes.values()) > MAX_TOTAL_BYTES:
        return PlainTextResponse("the visitors have uploaded all that the server can hold; try again later", 413)
    return None


def _stored_sizes() -> dict[FileKey, int]:
    """Return file → size in bytes, for the files that Streamlit stores."""
    if not runtime.exists():
        return {}
    sessions = runtime.get_instance().uploaded_file_mgr.file_storage  # type: ignore[attr-defined]
    return {
        (session, file_id): len(file.data)
        for session, files in list(sessions.items())
        for file_id, file in list(files.items())
    }
