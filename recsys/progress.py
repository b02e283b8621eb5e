"""What work reports as it goes on: events, and what shows them to people and to programs.

An event is a dict that JSON can hold. {"stage", "done", "total"} counts something, where the stage is "download",
"parse", "describe", "fit", "encode", "rank" or "map"; {"stage": "note", "text"} says something, {"epoch", "epochs",
"loss", …} is an epoch of a training, {"stage": "wait"} is said while nothing happens, and {"stage": "keep"} before what
was made is written.

Whoever has had enough raises Cancelled from the report that was handed in: the work stops there, and keeps nothing. A
training that is told to end by SIGTERM raises it too, after having kept what it needs to go on.
"""

import io
import json
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

ProgressCallback = Callable[[dict[str, Any]], None]

STAGES = {  # what is being waited for, and in which unit it is counted
    "download": ("fetching from {from} …", "B"),
    "parse": ("reading …", ""),
    "describe": ("asking Wikidata about the films …", " films"),
    "fit": ("fitting the model, which is kept for the next time …", " steps"),
    "encode": ("reading what films are about …", " films"),
    "rank": ("{title}", " users"),
    "map": ("putting films on a map …", " iterations"),
}


CHECKSUM = "crc32"  # the first field of a line in a log
LINE_STARTS = (b'{"crc32": "', b'{"epoch": ', b'{"stage": ')  # the last two: written before lines had checksums
MAX_LOG_BYTES = 1 << 22  # about 15,000 epochs
MAX_LINE_BYTES = 1 << 14


class Cancelled(Exception):
    """Somebody called the work off; nobody has to be told why."""


def no_progress(event: dict[str, Any]) -> None:
    """Report to nobody."""


def as_json(event: dict[str, Any]) -> None:
    """Print an event as a line of JSON with a checksum."""
    print(line(event), flush=True)


def line(event: dict[str, Any]) -> str:
    """Return an event as a line of JSON whose first field is the CRC-32 of the rest."""
    text = json.dumps(event)
    return json.dumps({CHECKSUM: f"{zlib.crc32(text.encode()):08x}"} | event)


def read(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the events of a log that has one a line; skip lines that are damaged, or cut short by a kill.

    Of a log of more than MAX_LOG_BYTES, only the end is read.
    """
    lines, rest = _lines(path)
    for text in (*lines, rest):
        event = _event(text)
        if event is not None:
            yield event


def count_damaged(path: Path) -> int:
    """Return the number of damaged lines in a log. A last line that was cut short by a kill is not damaged."""
    lines, rest = _lines(path)
    damaged = sum(_event(text) is None for text in lines)
    return damaged + (bool(rest) and _event(rest) is None and not _is_cut_short(rest))


def _lines(path: Path) -> tuple[list[bytes], bytes]:
    """Return the complete lines in the last MAX_LOG_BYTES of a file, and what follows the last line break."""
    with path.open("rb") as file:
        start = max(0, file.seek(0, io.SEEK_END) - MAX_LOG_BYTES)
        file.seek(start)
        *lines, rest = file.read(MAX_LOG_BYTES).split(b"\n")
    return lines[1:] if start else lines, rest  # the first of them has no beginning


def _event(text: bytes) -> dict[str, Any] | None:
    """Return the event of a line; None if a byte of it differs from what was written."""
    if len(text) > MAX_LINE_BYTES or not text.startswith(LINE_STARTS):
        return None
    try:
        event = json.loads(text)
        if isinstance(event, dict) and CHECKSUM in event:
            event = {name: value for name, value in event.items() if name != CHECKSUM}
            return event if line(event).encode() == text else None
    except (ValueError, RecursionError):  # no JSON, or no UTF-8
        return None
    return event  # written before lines had checksums


def _is_cut_short(text: bytes) -> bool:
    """Return whether a line is the beginning of one; False if there is something after its end."""
    try:
        json.JSONDecoder().raw_decode(text.decode("utf-8", errors="replace"))
    except (ValueError, RecursionError):
        return text.startswith(LINE_STARTS) or any(start.startswith(text) for start in LINE_STARTS)
    return False


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
