"""L1–L8: many visitors at once, over the app's own WebSocket protocol (benchmarks/visitors.py).

Figures mean something on an idle machine only; L5 to L8 but their seconds hold on any.
"""

import asyncio
import functools
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import requests
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.typing import Subprotocol

from benchmarks.reliability import served
from benchmarks.reliability.promise import Outcome, Promise, judged
from benchmarks.visitors import LARGEST, PRESSED, Visitor, link
from pages.server.admission import MOST
from recsys.data import datasets
from recsys.desktop import window
from recsys.paths import REPOSITORY
from recsys.serving import predictor
from recsys.serving.history import to_query
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Request, recommend

FILMS = 20  # in a visitor's list
LEAVES, SETTLED = 1000, 200  # visits of L4; those before it has what it keeps
DROPS = 20  # of connections, in L7
COUNTER = """
import sys
import recsys.checkpoints as store
load = store._load
def counted(folder, *rest):
    print("LOADED", folder.name if folder.name[:5] != "seed-" else folder.parent.name, flush=True)
    return load(folder, *rest)
store._load = counted
import uvicorn
uvicorn.run("app:app", host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
"""


@dataclass
class Stays:
    """What visitors saw, in seconds."""

    first: list[float] = field(default_factory=list)  # until the first page was complete
    again: list[float] = field(default_factory=list)  # until it was, after a press
    failed: list[str] = field(default_factory=list)

    def p95(self, seconds: Sequence[float]) -> float:
        """The 95th percentile; inf where there are none."""
        return float(np.quantile(seconds, 0.95)) if seconds else float("inf")

    def __str__(self) -> str:
        presses = f"; rerun p50 {np.median(self.again):.2f} s, p95 {self.p95(self.again):.2f} s" if self.again else ""
        return (
            f"{len(self.first)} visits, {len(self.failed)} failed; first page p95 {self.p95(self.first):.2f} s{presses}"
        )


@functools.cache
def query() -> str:
    """The link that visitors open."""
    datasets.ensure(datasets.DEFAULT_DATASET)
    return link(datasets.DEFAULT_DATASET, FILMS)


async def stay(host: str, number: int, presses: int, pause: float, found: Stays) -> None:
    """One visitor: comes within the first pause, presses, thinks, presses again."""
    rng = random.Random(number)
    await asyncio.sleep(rng.uniform(0, pause))
    try:
        began = time.perf_counter()
        visitor = await Visitor.arrive(host, query())
        found.first.append(time.perf_counter() - began)
        for _ in range(presses):
            await asyncio.sleep(pause * rng.uniform(0.5, 1.5))
            found.again.append(await visitor.press(PRESSED, rng))
        await visitor.connection.close()
    except (OSError, RuntimeError, TimeoutError, websockets.WebSocketException) as error:
        found.failed.append(f"{type(error).__name__}: {error}")


async def crowd(host: str, visitors: int, presses: int, pause: float) -> Stays:
    """Visitors that come to a warm app."""
    await stay(host, 0, 1, 0.1, Stays())
    found = Stays()
    await asyncio.gather(*(stay(host, number, presses, pause, found) for number in range(visitors)))
    return found


def with_app(use: Callable[[served.App], Awaitable], **options: str) -> object:
    """What a coroutine gives with a running app."""
    query()
    with tempfile.TemporaryDirectory() as folder, served.app(Path(folder), **options) as app:
        return asyncio.run(use(app))


def visitors(n: int, presses: int, pause: float, rerun: float | None, first: float) -> Outcome:
    """n at once; the limits are p95 in seconds."""
    found = with_app(lambda app: crowd(app.host, n, presses, pause))
    checks = {
        "nobody fails: " + ", ".join(found.failed[:1]): not found.failed,
        f"the first page within {first:g} s": found.p95(found.first) <= first,
    }
    if rerun:
        checks[f"a rerun within {rerun:g} s"] = found.p95(found.again) <= rerun
    return judged(str(found), checks)


def l1() -> Outcome:
    """Ten visitors for five minutes."""
    return visitors(10, 60, 5.0, 1.0, 3.0)


def l2() -> Outcome:
    """Twenty-five visitors for two minutes."""
    return visitors(25, 24, 5.0, 3.0, 10.0)


def l3() -> Outcome:
    """Fifty visitors for two minutes."""
    return visitors(50, 12, 10.0, None, 10.0)


def l4() -> Outcome:
    """Memory: fifty visitors that stay, then a thousand that come and leave."""

    async def use(app: served.App) -> tuple[float, float, int]:
        await crowd(app.host, 5, 1, 0.1)
        before = app.memory
        there = [await Visitor.arrive(app.host, query()) for _ in range(50)]
        grown = (app.memory - before) / 1e6
        for visitor in there:
            await visitor.connection.close()
        held = []
        for _ in range(LEAVES):
            visitor = await Visitor.arrive(app.host, query())
            await visitor.connection.close()
            held.append(app.memory)
        slope = np.polyfit(np.arange(SETTLED, LEAVES), held[SETTLED:], 1)[0] / 1024
        return grown, float(slope), len(held)

    grown, slope, visits = with_app(use)
    checks = {"≤ 100 MB for 50": grown <= 100, "≤ 20 KiB a visit": slope <= 20}
    return judged(f"{grown:.0f} MB for 50 that stay; {slope:.1f} KiB a visit after #{SETTLED} of {visits}", checks)


def l5() -> Outcome:
    """Fifty come at once to a server that has loaded nothing."""
    query()
    port = window.free_port(0)
    with tempfile.TemporaryFile("w+") as told:
        command = [sys.executable, "-c", COUNTER, str(port)]
        process = subprocess.Popen(command, cwd=REPOSITORY, stdout=told, stderr=subprocess.DEVNULL)
        try:
            window.wait_for(f"http://localhost:{port}", process)
            found = asyncio.run(_all_at_once(f"localhost:{port}", 50))
        finally:
            process.terminate()
            process.wait()
        told.seek(0)
        loaded = [line.split()[1] for line in told if line.startswith("LOADED")]
    most = max((loaded.count(name) for name in loaded), default=0)
    figure = f"{found}; loaded: {', '.join(f'{name} {loaded.count(name)}×' for name in sorted(set(loaded)))}"
    return judged(figure, {"nobody fails": not found.failed, "each model is loaded once": most == 1})


async def _all_at_once(host: str, n: int) -> Stays:
    found = Stays()
    await asyncio.gather(*(stay(host, number, 0, 0.0, found) for number in range(n)))
    return found


def l6() -> Outcome:
    """Eight threads ask each trained recommender for 200 histories, each in another order."""
    dataset = datasets.ensure(datasets.DEFAULT_DATASET)
    asked = [Request(tuple(history.tolist())) for history in dataset.histories[:200]]
    names = [*(variant.name for variant in predictor.trained(dataset.name)), predictor.FALLBACK, "markov"]
    other = {}
    for name in names:
        ready = predictor.load(name, dataset)
        alone = [recommend(ready, request) for request in asked]
        with ThreadPoolExecutor(8) as threads:
            work = [threads.submit(_others, ready, asked, alone, 25 * thread) for thread in range(8)]
            other[name] = sum(one.result() for one in work)
    n = len(names) * 8 * len(asked)
    figure = f"{n:,} answers of {len(names)} recommenders, {sum(other.values())} differ from those of one thread"
    return judged(figure, {f"{name} gives the same": not wrong for name, wrong in other.items()})


def _others(ready: Predictor, asked: list[Request], alone: list, first: int) -> int:
    """How many answers, beginning with one of them, are not those that one thread got."""
    rows = np.roll(np.arange(len(asked)), -first).tolist()
    return sum(recommend(ready, asked[row]) != alone[row] for row in rows)


@dataclass
class Returning:
    """A visitor whose connection breaks."""

    host: str
    visitor: Visitor
    session: str = ""

    async def come(self, first_query: str = "") -> None:
        """Connect, as the session that one was, and run the page."""
        names = ["streamlit", "none", *([self.session] if self.session else [])]
        protocols = [Subprotocol(name) for name in names]
        uri = f"ws://{self.host}/_stcore/stream"
        connection = await websockets.connect(uri, subprotocols=protocols, max_size=LARGEST)
        self.visitor = Visitor(connection, first_query)
        read = self.visitor.read

        def also_session(message: ForwardMsg) -> bool:
            if message.WhichOneof("type") == "new_session":
                self.session = message.new_session.initialize.session_id
            return read(message)

        self.visitor.read = also_session  # type: ignore[method-assign]
        await self.visitor.run_page(None)

    async def break_off(self) -> None:
        """Ask for the page, and be gone before it comes."""
        message = BackMsg()
        message.rerun_script.query_string = ""
        await self.visitor.connection.send(message.SerializeToString())
        self.visitor.connection.transport.abort()

    @property
    def films(self) -> list[str]:
        """What stands in the list: the buttons that move it."""
        return sorted(label for label in self.visitor.buttons if label.startswith(PRESSED))


def l7() -> Outcome:
    """Two visitors with lists of their own lose their connections in the middle of a run, twenty times."""

    async def use(app: served.App) -> tuple[int, int, float]:
        people = [Returning(app.host, None), Returning(app.host, None)]
        dataset = datasets.load(datasets.DEFAULT_DATASET)
        lists = [history[-number:] for number, history in zip((6, 9), dataset.histories, strict=False)]
        for person, films in zip(people, lists, strict=True):
            await person.come(urlencode(to_query(dataset.name, dataset.catalog, films.tolist())))
        expected = [(person.films, person.session) for person in people]
        back = crossed = 0
        longest = 0.0
        for turn in range(DROPS):
            person, (films, session) = people[turn % 2], expected[turn % 2]
            await person.break_off()
            began = time.perf_counter()
            await person.come()
            await person.visitor.run_page(None)  # the run that ended first may have been the one that was broken off
            longest = max(longest, time.perf_counter() - began)
            back += person.films == films and person.session == session
            crossed += person.films == expected[1 - turn % 2][0]
        return back, crossed, longest

    back, crossed, longest = with_app(use)
    figure = f"{back} of {DROPS} lists came back, the slowest after {longest:.1f} s; {crossed} were somebody else's"
    return judged(figure, {"20 of 20 come back": back == DROPS, "no list is somebody else's": not crossed})


def l8() -> Outcome:
    """As many as may come, at 1,024 open files; then one more."""

    async def use(app: served.App) -> tuple[int, list[float], tuple[int, float], str]:
        await crowd(app.host, 1, 0, 0.1)
        there, health = [], []
        for _ in range(MOST):
            there.append(await Visitor.arrive(app.host, query()))
            health.append((await asyncio.to_thread(_page, f"{app.address}/_stcore/health"))[1])
        busy = await asyncio.to_thread(_page, app.address)
        said = await _refused(app.host)
        for visitor in there:
            with suppress(websockets.WebSocketException):
                await visitor.connection.close()
        await asyncio.sleep(1)
        return len(there), health, busy, f"{said}, then {(await asyncio.to_thread(_page, app.address))[0]}"

    there, health, (status, seconds), said = with_app(use, files=1024)
    slow = float(np.quantile(health, 0.95))
    figure = (
        f"{there} are served; the next: {status} in {1000 * seconds:.0f} ms, {said}; health p95 {1000 * slow:.0f} ms"
    )
    checks = {
        f"{MOST} are served at 1,024 files": there == MOST,
        "the next is told within 2 s": status == 503 and seconds <= 2,
        "one whose page is open already is refused too": said.startswith("closed"),
        "there is room again": said.endswith("then 200"),
        "health p95 ≤ 500 ms": slow <= 0.5,
    }
    return judged(figure, checks)


def _page(address: str) -> tuple[int, float]:
    """The status of an address, and the seconds until all of it is there."""
    began = time.perf_counter()
    status = requests.get(address, headers={"Accept": "text/html"}, timeout=30).status_code
    return status, time.perf_counter() - began


async def _refused(host: str) -> str:
    """What somebody hears who connects while it is full."""
    try:
        visitor = await asyncio.wait_for(Visitor.arrive(host, query()), 10)
    except websockets.InvalidStatus as error:
        return f"closed {error.response.status_code}"
    except websockets.ConnectionClosed as error:
        return f"closed {error.rcvd.code if error.rcvd else 'without a word'}"
    except TimeoutError:
        return "silence"
    await visitor.connection.close()
    return "let in"


BARS = (
    Promise("L1", "10 visitors, 5 s of thought, 5 min: none fails, rerun p95 ≤ 1 s, first page p95 ≤ 3 s", 6, l1),
    Promise("L2", "25 visitors: none fails, rerun p95 ≤ 3 s", 3, l2),
    Promise("L3", "50 visitors, 10 s of thought: none fails, first page p95 < 10 s", 3, l3),
    Promise("L4", "≤ 100 MB for 50 visitors; over 1,000 that come and leave ≤ 20 KiB each after #200", 6, l4),
    Promise("L5", "50 come at once to a cold server: each model is loaded once", 0.5, l5),
    Promise("L6", "8 threads × 200 histories: the answers of one thread, bit by bit", 1, l6),
    Promise(
        "L7", "the connection breaks in the middle of a run, 20 times: the list comes back, nobody else's", 0.5, l7
    ),
    Promise("L8", "too many visitors hear so within 2 s at 1,024 open files; health p95 ≤ 500 ms", 2, l8),
)
