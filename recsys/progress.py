"""What work reports as it goes on: events, and what shows them to people and to programs.

An event is a dict that JSON can hold. {"stage", "done", "total"} counts something, where the stage is "download",
"parse", "describe", "fit", "encode", "rank" or "map"; {"stage": "note", "text"} says something, {"epoch", "epochs",
"loss", …} is an epoch of a training, {"stage": "wait"} is said while nothing happens, and {"stage": "keep"} before what
was made is written.

Whoever has had enough raises Cancelled from the report that was handed in: the work stops there, and keeps nothing. A
training that is told to end by SIGTERM raises it too, after having kept what it needs to go on.
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

Report = Callable[[dict[str, Any]], None]

STAGES = {  # what is being waited for, and in which unit it is counted
    "download": ("fetching from {from} …", "B"),
    "parse": ("reading …", ""),
    "describe": ("asking Wikidata about the films …", " films"),
    "fit": ("fitting the model, which is kept for the next time …", " steps"),
    "encode": ("reading what films are about …", " films"),
    "rank": ("{title}", " users"),
    "map": ("putting films on a map …", " iterations"),
}


class Cancelled(Exception):
    """Somebody called the work off; nobody has to be told why."""


def ignore(event: dict[str, Any]) -> None:
    """Report to nobody."""


def as_json(event: dict[str, Any]) -> None:
    """Print an event as a line of JSON."""
    print(json.dumps(event), flush=True)


def read(path: Path) -> Iterator[dict[str, Any]]:
    """The events of a log that has one a line. Lines that are damaged, or cut short by a kill, are left out."""
    for line in path.read_bytes().splitlines():
        try:
            event = json.loads(line)
        except ValueError:  # no JSON, or no UTF-8
            continue
        if isinstance(event, dict):
            yield event


class Terminal:
    """Shows events on stderr: a bar where somebody is watching and something is counted, else a line once per stage.

    Use it in a `with` block, which clears the bar away at its end.
    """

    def __init__(self, title: str = "", bars: bool | None = None) -> None:
        """title: what stands before the bar of a ranking; bars: None where stderr is a terminal."""
        self.title = title
        self.bars = sys.stderr.isatty() if bars is None else bars
        self._text = ""
        self._bar: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, event: dict[str, Any]) -> None:
        """Show one event."""
        if "epoch" in event:
            self.close()
            print(epoch_line(event), flush=True)
        elif event.get("stage") == "note":
            self._say(event["text"])
        elif event.get("stage") in STAGES:
            self._count(event)

    def close(self) -> None:
        """Clear the bar away, if there is one."""
        if self._bar is not None:
            self._bar.close()
        self._text, self._bar = "", None

    def _count(self, event: dict[str, Any]) -> None:
        """Move the bar on; another stage, or an end and a new beginning, starts another."""
        pattern, unit = STAGES[event["stage"]]
        text, done = pattern.format_map({"from": "somewhere", "title": self.title} | event), event.get("done", 0)
        if not (self.bars and event.get("total")):
            self._say(text if event["stage"] != "rank" else "")
            return
        if self._bar is None or text != self._text or done < self._bar.n:
            self.close()
            self._text, self._bar = text, _bar(text, unit, event["total"])
        self._bar.update(done - self._bar.n)

    def _say(self, text: str) -> None:
        """A line, unless it was the last one said."""
        if text and text != self._text:
            self.close()
            print(text, file=sys.stderr, flush=True)
            self._text = text


def epoch_line(event: dict[str, Any]) -> str:
    """`epoch  12/100  loss 5.912  640 sequences/s  413 MB  NDCG@10 .0981 (best .0981)  12:30 left`."""
    line = f"epoch {event['epoch']:>3}/{event['epochs']}  loss {event['loss']:.3f}"
    line += f"  {event['sequences_per_second']:,.0f} sequences/s  {event['memory_mb']:,.0f} MB"
    if "ndcg@10" in event:
        line += f"  NDCG@10 {event['ndcg@10']:.4f} (best {event['best']:.4f})"
    minutes, seconds = divmod(round(event["seconds_left"]), 60)
    return f"{line}  {minutes}:{seconds:02d} left"


def _bar(text: str, unit: str, total: int) -> Any:
    from tqdm import tqdm

    scaled = unit == "B"
    return tqdm(desc=text, total=total, unit=unit, unit_scale=scaled, leave=scaled, file=sys.stderr)
