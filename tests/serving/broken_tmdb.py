"""A TMDB on this machine that answers every request with the same fault."""

import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from recsys.serving.tmdb import FilmRef

FILMS = {item: FilmRef(f"Film {item}", 1990, item) for item in range(24)}
GOOD = b'{"poster_path": "/poster.jpg"}'
Fault = Callable[[socket.socket], object]  # answers a request that has been read


def reply(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    """Return a whole answer, which is the last one of its connection."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def trickle(data: bytes, pause: float) -> Fault:
    """Send one byte, wait, send the next."""

    def send(connection: socket.socket) -> None:
        for byte in data:
            connection.sendall(bytes([byte]))
            time.sleep(pause)

    return send


def says(answer: bytes) -> Fault:
    """Send the same answer to every request."""
    return lambda connection: connection.sendall(answer)


def bomb(megabytes: int) -> bytes:
    """Return an answer with blanks that gzip compresses to a thousandth of their size."""
    packing = zlib.compressobj(9, wbits=31)
    packed = b"".join(packing.compress(b" " * (1 << 20)) for _ in range(megabytes))
    return reply(packed + packing.compress(GOOD) + packing.flush(), "200 OK", "Content-Encoding: gzip")


FAULTS: dict[str, Fault] = {
    "none": says(reply(GOOD)),
    "no answer": lambda connection: connection.recv(1),
    "one byte a second": trickle(reply(GOOD), 1.0),
    "429, Retry-After: 30": says(reply(b"", "429 Too Many Requests", "Retry-After: 30")),
    "500": says(reply(b"", "500 Internal Server Error")),
    "an HTML page": says(reply(b"<html>Welcome to our wireless network</html>", "200 OK", "Content-Type: text/html")),
    "10 MB": says(reply(b" " * 10_000_000 + GOOD)),
    "1 GB packed into 1 MB": says(bomb(1000)),
    "the connection is cut": says(reply(GOOD)[:40]),
}


@dataclass
class Service:
    """A broken TMDB: the times (seconds of the monotonic clock) and the bytes of its requests."""

    address: str
    asked: list[float] = field(default_factory=list)
    heard: list[bytes] = field(default_factory=list)


@contextmanager
def broken(fault: Fault) -> Iterator[Service]:
    """Serve a fault until the end of the block."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listening:
        service = Service(f"http://127.0.0.1:{listening.getsockname()[1]}")

        def answer(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                service.heard.append(connection.recv(1 << 16))
                service.asked.append(time.monotonic())
                fault(connection)

        def listen() -> None:
            with suppress(OSError):  # closed
                while True:
                    threading.Thread(target=answer, args=(listening.accept()[0],), daemon=True).start()

        threading.Thread(target=listen, daemon=True).start()
        yield service
        listening.shutdown(socket.SHUT_RDWR)
