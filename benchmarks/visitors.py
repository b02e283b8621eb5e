"""Ten people at once: scripted visitors speak the app's own WebSocket protocol, without a browser.

    python -m benchmarks.visitors                          ten visitors, 5 s of thought, ML-100K
    python -m benchmarks.visitors --data ml-1m --json FILE

Starts the app, warms it with one visitor, then lets each open Watch next with a list of films and move one of them up,
again and again. Times run from the message that presses the button to the one that says the page is complete, so the
predictions are there before it ends. Nothing is drawn: for what a browser adds see benchmarks.app.
"""

import argparse
import asyncio
import json
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import urlencode

import numpy as np
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.typing import Subprotocol

from benchmarks.app import served
from benchmarks.bar import Bar
from recsys import machine
from recsys.data import datasets
from recsys.errors import RecsysError
from recsys.serving.history import to_query

LARGEST = 1 << 26  # bytes of a message
PATIENCE = 60.0  # seconds after which a visitor gives up
BAR = Bar("p95_ms", 1000)  # ten visitors
PRESSED = "*Move "  # the buttons that reorder the list
COMPLETE = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)  # not: "again, at once"


class Stuck(RuntimeError):
    """The app did not answer as a page does; the message says what was missing."""


@dataclass(frozen=True)
class Button:
    """What must be sent to press a button."""

    label: str
    widget: str
    fragment: str  # the part of the page that runs then; "": all of it


class Visitor:
    """One open page."""

    def __init__(self, connection: websockets.ClientConnection, query: str) -> None:
        self.connection, self.query = connection, query
        self.buttons: dict[str, Button] = {}  # by label, as the page stands

    @classmethod
    async def arrive(cls, address: str, query: str) -> Self:
        """Open the app at a link and wait until the page is complete."""
        uri = f"ws://{address}/_stcore/stream"
        connection = await websockets.connect(uri, subprotocols=[Subprotocol("streamlit")], max_size=LARGEST)
        visitor = cls(connection, query)
        await visitor.run_page(None)
        return visitor

    async def press(self, label: str, rng: random.Random) -> float:
        """Press one of the buttons whose labels start so; the seconds until the page was complete again."""
        found = [button for button in self.buttons.values() if button.label.startswith(label)]
        if not found:
            raise Stuck(f'the page has no button "{label}…"; it has {", ".join(self.buttons) or "none"}')
        return await self.run_page(rng.choice(found))

    async def run_page(self, button: Button | None) -> float:
        """Run the page, with a button pressed or without; the seconds until it was complete."""
        message = BackMsg()
        message.rerun_script.query_string = self.query
        if button:
            message.rerun_script.widget_states.widgets.add(id=button.widget, trigger_value=True)
            message.rerun_script.fragment_id = button.fragment
        began = time.perf_counter()
        await self.connection.send(message.SerializeToString())
        if not (button and button.fragment):
            self.buttons = {}
        async with asyncio.timeout(PATIENCE):
            while not self.read(ForwardMsg.FromString(await self.connection.recv(decode=False))):
                pass
        return time.perf_counter() - began

    def read(self, message: ForwardMsg) -> bool:
        """Take in one message of the app; whether it was the last of a run."""
        kind = message.WhichOneof("type")
        if kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            element = message.delta.new_element
            if element.WhichOneof("type") == "button" and not element.button.disabled:
                button = Button(element.button.label, element.button.id, message.delta.fragment_id)
                self.buttons[button.label] = button
            if element.WhichOneof("type") == "exception":
                raise Stuck(f"the page shows an error: {element.exception.message}")
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        return kind == "script_finished" and message.script_finished in COMPLETE


async def visit(address: str, query: str, options: argparse.Namespace, number: int) -> list[float]:
    """One visitor's stay: the seconds of each press, after thinking about as long as asked."""
    rng = random.Random(number)
    await asyncio.sleep(rng.uniform(0, options.pause))  # people do not come on the stroke of a clock
    visitor = await Visitor.arrive(address, query)
    seconds = []
    for _ in range(options.presses):
        await asyncio.sleep(options.pause * rng.uniform(0.5, 1.5))
        seconds.append(await visitor.press(PRESSED, rng))
    await visitor.connection.close()
    return seconds


async def crowd(address: str, query: str, options: argparse.Namespace) -> np.ndarray:
    """(visitors · presses,) seconds, of visitors that come after a first one has warmed the app."""
    warm = await Visitor.arrive(address, query)
    await warm.press(PRESSED, random.Random(0))
    await warm.connection.close()
    stays = await asyncio.gather(*(visit(address, query, options, number) for number in range(options.visitors)))
    return np.concatenate([np.array(stay) for stay in stays])


def link(name: str, films: int) -> str:
    """The query of a link to the newest films of the first user who has watched so many."""
    dataset = datasets.load(name)
    history = next(history for history in dataset.histories if len(history) >= films)
    return urlencode(to_query(name, dataset.catalog, history[-films:].tolist()))


def main(argv: list[str] | None = None) -> int:
    """Measure and print, as JSON to a file too; 0 if nobody waited longer than the bar allows."""
    options = parser().parse_args(argv)
    try:
        query = link(options.data, options.films)
        with served() as page:
            seconds = asyncio.run(crowd(page.removeprefix("http://"), query, options))
    except (RecsysError, Stuck, OSError, websockets.WebSocketException) as error:
        print(error or f"the app did not answer within {PATIENCE:.0f} s", file=sys.stderr)
        return 1
    p50, p95, worst = (1000 * np.quantile(seconds, level) for level in (0.5, 0.95, 1))
    result = {"data": options.data, "films": options.films, "visitors": options.visitors, "pause_s": options.pause}
    result |= {"presses": len(seconds), "p50_ms": round(p50), "p95_ms": round(p95), "worst_ms": round(worst)}
    print(f"{options.visitors} visitors, {options.pause:g} s of thought, {options.data}, {options.films} films each:")
    print(f"{len(seconds)} presses, p50 {p50:.0f} ms, worst {worst:.0f} ms, p95 {p95:.0f} ms, bar {BAR.verdict(p95)}")
    described = machine.describe()
    print(machine.format_description(described))
    if options.json:
        options.json.write_text(json.dumps({"machine": described, "result": result}, indent=1) + "\n")
    return 0 if BAR.holds(p95) else 1


def parser() -> argparse.ArgumentParser:
    """The flags."""
    flags = argparse.ArgumentParser(prog="python -m benchmarks.visitors", description="Ten people at once.")
    flags.add_argument("--data", default=datasets.DEFAULT_DATASET, help="data set, on this machine")
    flags.add_argument("--films", type=int, default=20, help="films in each visitor's list")
    flags.add_argument("--visitors", type=int, default=10)
    flags.add_argument("--presses", type=int, default=12, help="changes that each visitor makes")
    flags.add_argument("--pause", type=float, default=5.0, help="mean seconds of thought before each")
    flags.add_argument("--json", type=Path, help="also write the figures to this file")
    return flags


if __name__ == "__main__":
    sys.exit(main())
