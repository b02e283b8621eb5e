"""A file server on this machine that misbehaves on command."""

import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Server:
    """Serves `content` for every path, with ranges and an ETag. `tricks` are spent one a request, then it behaves."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.etag = '"one"'
        self.tricks: list[Callable[[BaseHTTPRequestHandler], None]] = []
        self.requests: list[dict[str, str]] = []  # the headers of every request
        self.address = ""

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        self.requests.append(dict(request.headers))
        if self.tricks:
            self.tricks.pop(0)(request)
        else:
            self.behave(request)

    def behave(self, request: BaseHTTPRequestHandler, stop_after: int | None = None) -> None:
        wanted = request.headers.get("Range")
        start = 0
        if wanted and request.headers.get("If-Range") == self.etag:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        body = self.content[start:]
        request.send_response(206 if start else 200)
        request.send_header("Content-Length", str(len(body)))
        if start:
            request.send_header("Content-Range", f"bytes {start}-{len(self.content) - 1}/{len(self.content)}")
        request.send_header("ETag", self.etag)
        request.end_headers()
        request.wfile.write(body[:stop_after])

    def cut(self, after: int) -> Callable[[BaseHTTPRequestHandler], None]:
        """Promise everything, send `after` bytes, hang up."""
        return lambda request: self.behave(request, stop_after=after)


def status(code: int) -> Callable[[BaseHTTPRequestHandler], None]:
    """Answer with an error and nothing else."""

    def trick(request: BaseHTTPRequestHandler) -> None:
        request.send_response(code)
        request.send_header("Content-Length", "0")
        request.end_headers()

    return trick


def page(request: BaseHTTPRequestHandler) -> None:
    """Answer 200 with the log-in page of a hotel."""
    body = b"<html>Welcome to our wireless network</html>"
    request.send_response(200)
    request.send_header("Content-Type", "text/html; charset=utf-8")
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)


def slow(request: BaseHTTPRequestHandler) -> None:
    """Send a byte every tenth of a second: no single read ever times out."""
    request.send_response(200)
    request.send_header("Content-Length", "1000")
    request.end_headers()
    for _ in range(100):
        try:
            request.wfile.write(b"x")
        except OSError:
            return
        time.sleep(0.1)


@contextmanager
def serving(content: bytes, certificate: Path | None = None) -> Iterator[Server]:
    """A server for the time of a test; over TLS with a certificate (and its key, in the same file)."""
    server = Server(content)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.answer(self)

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    class Listener(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """Say nothing: clients hang up here on purpose."""

    listener = Listener(("127.0.0.1", 0), Handler)
    server.address = f"http{'s' if certificate else ''}://127.0.0.1:{listener.server_port}/file.zip"
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        listener.socket = context.wrap_socket(listener.socket, server_side=True)
    threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
