"""How long a visitor waits, in a real browser: p50 and p95 over many clicks, in milliseconds.

    python -m benchmarks.app --data ml-1m

Starts the app from this repository, opens a link to a sequence in the system's Chromium, and times from inside the
page: from the click until the last prediction has changed and been painted. Needs playwright, chromium and the data
set (python -m recsys data get ml-1m).
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np

from benchmarks.bar import Bar
from recsys import machine
from recsys.data import datasets
from recsys.desktop import window

FILMS = "260-1196-1210-1270-589-1240-2571-780-480-1580"  # a sequence of ten, in MovieLens ids
SMALL = "50-172-181-204-195-183-121-82-96-313"  # the same for ML-100K, which counts in its own way
MOST = {"move a film": 300, "add a film, undo": 300, "switch page": 1000, "first paint": 3000, "search": 500}
BARS = {name: Bar("p95", most) for name, most in MOST.items()}  # ms
WORDS = ("film", "terminator", "stra wars", "love", "the", "night")  # one with a typo
FLAGS = "--no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update"
READY = "document.querySelector('[data-test-script-state=notRunning]') && document.querySelector('.st-key-picks b')"
# From a click until the last change of the predictions is painted; they have settled when the script has ended and
# nothing has changed for 120 ms.
CLICK = """button => new Promise((done, fail) => {
  const text = () => [...document.querySelectorAll('.st-key-picks b')].map(b => b.innerText).join('|');
  const before = text(), start = performance.now();
  let last = before, changed = 0;
  const look = () => {
    const now = performance.now();
    if (text() !== last) { last = text(); changed = now; }
    const idle = document.querySelector('[data-test-script-state=notRunning]');
    if (now - start > 20000) fail(new Error('the predictions did not change'));
    else if (changed && last !== before && idle && now - changed > 120) done(changed - start);
    else requestAnimationFrame(look);
  };
  button.click();
  requestAnimationFrame(look);
})"""


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print, as JSON to a file too."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", default=datasets.DEFAULT_DATASET, help="a data set that is on this machine")
    parser.add_argument("--times", type=int, default=30, help="clicks of each kind (default: 30)")
    parser.add_argument("--only", nargs="+", choices=MEASURED, default=MEASURED, help="some actions (default: all)")
    parser.add_argument("--words", nargs="+", default=WORDS, help="what is searched for; each must find a film")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args(argv)
    with served() as address:
        link = f"{address}/?data={options.data}&s={SMALL if options.data == 'ml-100k' else FILMS}"
        measured = in_browser(link, options)
    described = machine.describe()
    for name, found in measured.items():
        print(
            f"{name:14} p50 {found['p50']:5.0f} ms, p95 {found['p95']:5.0f} ms, bar {BARS[name].verdict(found['p95'])}"
        )
    print(machine.format_description(described))
    if options.json:
        document = {"machine": described, "data": options.data, "times": options.times, "ms": measured}
        options.json.write_text(json.dumps(document, indent=1) + "\n")


@contextmanager
def served() -> Iterator[str]:
    """The address of the app, running on a free port."""
    with window.run_server() as (address, process):
        yield window.wait_for(address, process)


def chromium() -> str | None:
    """The system's browser."""
    return which("chromium") or which("chromium-browser") or which("google-chrome")


def in_browser(link: str, options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """What each action costs, by name."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS.split())
        open_page(browser, link).close()  # loads models and fills caches
        found = {"first paint": summary([first_paint(browser, link) for _ in range(max(3, options.times // 5))])}
        page = open_page(browser, link)
        actions = ACTIONS | {"search": lambda page, turn: search(page, options.words[turn % len(options.words)])}
        for name in options.only:
            found[name] = summary([actions[name](page, turn) for turn in range(options.times)])
        browser.close()
    return found


def open_page(browser: Any, link: str) -> Any:
    """A new tab that shows predictions."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(60_000)
    page.goto(link)
    page.wait_for_function(READY)
    return page


def first_paint(browser: Any, link: str) -> float:
    """From the address to the predictions, on a warm server, in a browser that has nothing in its cache."""
    start = time.perf_counter()
    open_page(browser, link).close()
    return 1000 * (time.perf_counter() - start)


def move(page: Any, turn: int) -> float:
    """Move the last film but one down, and the next time back."""
    rows = page.locator(".st-key-sequence [class*=st-key-down-] button")
    return float(rows.nth(rows.count() - 2).evaluate(CLICK))


def add(page: Any, turn: int) -> float:
    """Add the film that is recommended first."""
    return float(page.locator(".st-key-picks [class*=st-key-pick-] button").first.evaluate(CLICK))


def undo(page: Any, turn: int) -> float:
    """Take the last step back."""
    return float(page.locator(".st-key-undo button").evaluate(CLICK))


def switch(page: Any, turn: int) -> float:
    """To Compare and back; half of the time that both take."""
    start = time.perf_counter()
    page.get_by_role("link", name="Compare").click()
    page.wait_for_selector("ol.nr-list")
    page.get_by_role("link", name="Watch next").click()
    page.wait_for_function(READY)
    return 500 * (time.perf_counter() - start)


def add_or_undo(page: Any, turn: int) -> float:
    """By turns, so that the sequence does not grow."""
    return undo(page, turn) if turn % 2 else add(page, turn)


def search(page: Any, word: str) -> float:
    """From the last key of a word to the films that are found; the box itself waits 200 ms for the next key."""
    box = page.get_by_label("Add a film")
    box.fill("")
    page.wait_for_selector(".st-key-found button", state="detached")
    box.press_sequentially(word[:-1])
    start = time.perf_counter()
    box.press(word[-1])
    page.wait_for_selector(".st-key-found button")
    return 1000 * (time.perf_counter() - start)


ACTIONS: dict[str, Callable[[Any, int], float]] = {
    "move a film": move,
    "add a film, undo": add_or_undo,
    "switch page": switch,
}
MEASURED = ["search", *ACTIONS]


def summary(times: list[float]) -> dict[str, float]:
    """{"p50": …, "p95": …}, rounded to milliseconds."""
    return {f"p{percent}": round(float(np.percentile(times, percent))) for percent in (50, 95)}


if __name__ == "__main__":
    main()
