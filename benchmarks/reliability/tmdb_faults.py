"""F6: Watch next with posters from a TMDB that is broken in each of several ways.

    python -m benchmarks.reliability.tmdb_faults

A page that shows 24 films is opened twice for each fault, with a service on this machine that answers every question
with it: how long the posters keep the page, how many questions are put within a second, and how much memory it takes.
"""

import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from recsys.runtime import peak_memory_mb
from recsys.serving.films.asking import DEADLINE, Key
from recsys.serving.films.tmdb import Posters, Wanted

KEY = Key("5e9713e15e9713e15e9713e15e9713e1")  # nobody's
FILMS = {item: Wanted(f"Film {item}", 1990, item) for item in range(24)}
GOOD = b'{"poster_path": "/poster.jpg"}'
Fault = Callable[[socket.socket], object]  # answers a question that has been read


def reply(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    """A whole answer, the last one of a connection."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def trickle(data: bytes, pause: float) -> Fault:
    """Send a byte, wait, send another one."""

    def send(connection: socket.socket) -> None:
        for byte in data:
            connection.sendall(bytes([byte]))
            time.sleep(pause)

    return send


def says(*answer: bytes) -> Fault:
    """Send the same to everybody."""
    return lambda connection: connection.sendall(b"".join(answer))


def bomb(megabytes: int) -> bytes:
    """Blanks before an answer, packed to a thousandth."""
    packing = zlib.compressobj(9, wbits=31)
    packed = b"".join(packing.compress(b" " * (1 << 20)) for _ in range(megabytes))
    return reply(packed + packing.compress(GOOD) + packing.flush(), "200 OK", "Content-Encoding: gzip")


FAULTS: dict[str, Fault] = {
    "none": says(reply(GOOD)),  # first, so that the others find everything loaded
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
    """A broken TMDB."""

    address: str
    asked: list[float] = field(default_factory=list)  # when; seconds of the monotonic clock
    heard: list[bytes] = field(default_factory=list)  # the questions


@contextmanager
def broken(fault: Fault) -> Iterator[Service]:
    """A service on this machine that answers every question with a fault."""
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


@dataclass(frozen=True)
class Found:
    """What a fault did to a page."""

    fault: str
    seconds: float  # that the posters kept the page, the longer one of two runs
    posters: int
    within_a_second: int  # questions
    megabytes: float  # by which the most that was in memory has grown


def measure(name: str) -> Found:
    """Open a page twice while the service has a fault."""
    before = peak_memory_mb()
    with broken(FAULTS[name]) as service:
        posters = Posters(service.address, "https://images")
        spent = []
        for _ in range(2):
            start = time.monotonic()
            found = posters.addresses(KEY, FILMS)
            spent.append(time.monotonic() - start)
        time.sleep(DEADLINE)  # those under way end
        return Found(name, max(spent), len(found), most_within_a_second(service.asked), peak_memory_mb() - before)


def most_within_a_second(asked: list[float]) -> int:
    """The largest number of questions in any second."""
    return max((sum(start <= other < start + 1 for other in asked) for start in asked), default=0)


def main() -> None:
    """Print a row for each fault, as Markdown."""
    print("| TMDB | the page waits, s | posters | questions within a second | memory at the most, MB more |")
    print("|---|---|---|---|---|")
    for name in FAULTS:
        found = measure(name)
        told = f"{found.seconds:.2f} | {found.posters} | {found.within_a_second} | {found.megabytes:.0f}"
        print(f"| {name} | {told} |")


if __name__ == "__main__":
    main()
