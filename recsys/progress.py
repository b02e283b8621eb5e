"""Progress events of long computations and downloads, their display in a terminal, and the log of a training.

An event is a dictionary of JSON values. {"stage", "done", "total"} counts work in one of STAGES. {"stage": "note",
"text"} is a message. {"stage": "wait"} is repeated while a download waits for its next attempt. {"stage": "keep"}, the
last event of a download, means that the data set is stored. The event of a training epoch is {"epoch", "epochs",
"loss", …}.

A callback that raises Cancelled stops the work. Then no result is written.
"""

import io
import json
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

ProgressCallback = Callable[[dict[str, Any]], None]

# name → (text in the terminal, unit of "done" and "total"); {from}: field of the event, {title}: of TerminalProgress
STAGES = {
    "download": ("downloading from {from} …", "B"),
    "parse": ("reading …", ""),
    "describe": ("asking Wikidata about the films …", " films"),
    "fit": ("fitting the model, which is done once …", " steps"),
    "encode": ("encoding the texts of films …", " films"),
    "rank": ("{title}", " users"),
    "map": ("computing the map of films …", " iterations"),
}
CHECKSUM = "crc32"  # field at the start of a line in a log
LINE_STARTS = (b'{"crc32": "', b'{"epoch": ', b'{"stage": ')  # the last two: lines of older versions, without checksums
MAX_LOG_BYTES = 1 << 22  # about 15,000 epochs
MAX_LINE_BYTES = 1 << 14
MAX_NUMBER = 2**53  # a larger number in the event of an epoch is damaged


class Cancelled(Exception):  # not an error
    """The user or SIGTERM stopped the work."""


def no_progress(event: dict[str, Any]) -> None:
    """Ignore an event."""


def print_json(event: dict[str, Any]) -> None:
    """Print an event in the format of `to_line`."""
    print(to_line(event), flush=True)


def to_line(event: dict[str, Any]) -> str:
    """Return an event as a line of JSON that starts with the CRC-32 of the rest."""
    event = json.loads(json.dumps(event, default=str))  # a message becomes its text
    text = json.dumps(event)
    return json.dumps({CHECKSUM: f"{zlib.crc32(text.encode()):08x}"} | event)


def read(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the events in the last MAX_LOG_BYTES of a log. Damaged and incomplete lines are skipped."""
    lines, last_text = _lines(path)
    for line in (*lines, last_text):
        event = _parse(line)
        if event is not None:
            yield event


def read_epochs(path: Path) -> list[dict[str, Any]]:
    """Return the epochs of a training log, ascending. If a resumed training repeated an epoch, the last event counts.

    Values other than plausible numbers are left out, except the name of the device. Raises OSError.
    """
    epochs: list[dict[str, Any]] = []
    for event in read(path):
        # `type` and not isinstance, because a bool is an int; NaN is not below MAX_NUMBER
        is_plausible = {name: type(value) in (int, float) and abs(value) < MAX_NUMBER for name, value in event.items()}
        if is_plausible.get("epoch"):
            while epochs and epochs[-1]["epoch"] >= event["epoch"]:  # repeated by a resumed training
                epochs.pop()
            epochs.append({name: value for name, value in event.items() if is_plausible[name] or name == "device"})
    return epochs


def count_damaged(path: Path) -> int:
    """Return the number of damaged lines in a log. An incomplete last line, left by a kill, is not damaged."""
    lines, last_text = _lines(path)
    if last_text and not _is_incomplete(last_text):
        lines.append(last_text)
    return sum(_parse(line) is None for line in lines)


def _lines(path: Path) -> tuple[list[bytes], bytes]:
    """Return the complete lines in the last MAX_LOG_BYTES of a file, and the text after the last line break."""
    with path.open("rb") as file:
        start = max(0, file.seek(0, io.SEEK_END) - MAX_LOG_BYTES)
        file.seek(start)
        *lines, last_text = file.read(MAX_LOG_BYTES).split(b"\n")
    return lines[1:] if start else lines, last_text  # a start within the file cuts the first line


def _parse(line: bytes) -> dict[str, Any] | None:
    """Return the event of a line, or None for a damaged line."""
    if len(line) > MAX_LINE_BYTES or not line.startswith(LINE_STARTS):
        return None
    try:
        event = json.loads(line)
        if isinstance(event, dict) and CHECKSUM in event:
            event = {name: value for name, value in event.items() if name != CHECKSUM}
            return event if to_line(event).encode() == line else None
    except (ValueError, RecursionError):  # not JSON, not UTF-8 or nested too deeply
        return None
    return event  # a line of an older version has no checksum


def _is_incomplete(text: bytes) -> bool:
    """Return whether a text is the start of a line, but not a complete JSON document."""
    try:
        json.JSONDecoder().raw_decode(text.decode("utf-8", errors="replace"))
    except (ValueError, RecursionError):
        return text.startswith(LINE_STARTS) or any(start.startswith(text) for start in LINE_STARTS)
    return False


class TerminalProgress:
    """A progress callback that shows a bar on stderr. At the end of a `with` block, the bar is closed.

    If stderr is not a terminal, a line per stage is printed instead. Stage "rank" has no line, because its text is only
    a title. The events of epochs are printed to stdout, one line each.
    """

    def __init__(self, title: str = "") -> None:
        """Create the callback. `title` is the text before the bar of stage "rank"."""
        self.title = title
        self._text = ""  # of the current stage
        self._bar: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, event: dict[str, Any]) -> None:
        """Show an event."""
        if "epoch" in event:
            self.close()
            print(format_epoch(event), flush=True)
        elif event.get("stage") == "note":
            self._print_once(str(event["text"]))
        elif event.get("stage") in STAGES:
            self._update_bar(event)

    def close(self) -> None:
        """Remove the bar. A bar of a download stays visible."""
        if self._bar is not None:
            self._bar.close()
        self._text, self._bar = "", None

    def _update_bar(self, event: dict[str, Any]) -> None:
        """Advance the bar. A new stage, or a lower "done", starts a new bar."""
        pattern, unit = STAGES[event["stage"]]
        text = pattern.format_map({"from": "somewhere", "title": self.title} | event)
        done = event.get("done", 0)
        if not (sys.stderr.isatty() and event.get("total")):
            if event["stage"] != "rank":
                self._print_once(text)
            return
        if self._bar is None or text != self._text or done < self._bar.n:
            from tqdm import tqdm

            self.close()
            is_bytes, total = unit == "B", event["total"]
            self._text = text
            self._bar = tqdm(desc=text, total=total, unit=unit, unit_scale=is_bytes, leave=is_bytes, file=sys.stderr)
        self._bar.update(done - self._bar.n)

    def _print_once(self, text: str) -> None:
        """Print a line unless the line before was the same."""
        if text and text != self._text:
            self.close()
            print(text, file=sys.stderr, flush=True)
            self._text = text


def format_epoch(event: dict[str, Any]) -> str:
    """Format an epoch: `epoch  12/100  loss 5.912  64 sequences/s  413 MB  NDCG@10 0.0981 (best 0.0981)  9:30 left`."""
    text = f"epoch {event['epoch']:>3}/{event['epochs']}  loss {event['loss']:.3f}"
    text += f"  {event['sequences_per_second']:,.0f} sequences/s  {event['memory_mb']:,.0f} MB"
    if "ndcg@10" in event:
        text += f"  NDCG@10 {event['ndcg@10']:.4f} (best {event['best']:.4f})"
    minutes, seconds = divmod(round(event["seconds_left"]), 60)
    return f"{text}  {minutes}:{seconds:02d} left"
