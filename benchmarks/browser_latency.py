"""Measure how long a visitor of the app waits in a real browser: p50 and p95 in milliseconds.

    python -m benchmarks.browser_latency --data ml-1m

The script starts the app and opens a link to a list of films in Chromium. "move a film" and "add a film, undo" are
clicks that change the predictions. Their time ends with the last change of the predictions. "switch page" ends when the
predictions are shown, "search" when the results are shown. "first paint" is the time from opening the link to the first
predictions.

The script needs playwright, chromium and the data set (python -m recsys data get ml-1m).
"""

import argparse
import time
from collections.abc import Callable, Sequence
from shutil import which
from typing import Any

import numpy as np

from benchmarks.bench_targets import Target
from benchmarks.script import parser, write_json
from recsys import machine
from recsys.data import datasets
from tests.served_app import served_app

FILMS = "260-1196-1210-1270-589-1240-2571-780-480-1580"  # MovieLens ids of the ten films in the list
FILMS_OF_ML_100K = "50-172-181-204-195-183-121-82-96-313"  # a list for ML-100K, which has other ids
WORDS = ("film", "terminator", "stra wars", "love", "the", "night")  # search terms; "stra" is a typo
CHROMIUM_FLAGS = "--no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update"
# whether the script of the page has ended and predictions are shown
READY_JS = "document.querySelector('[data-test-script-state=notRunning]') && document.querySelector('.st-key-picks b')"
# Click a button, and return the milliseconds until the last change of the predictions. A change is the last if the
# script of the page has ended and nothing has changed for 120 ms.
CLICK_JS = """button => new Promise((done, fail) => {
  const text = () => [...document.querySelectorAll('.st-key-picks b')].map(b => b.innerText).join('|');
  const oldText = text(), start = performance.now();
  let lastText = oldText, changeTime = 0;
  const check = () => {
    const now = performance.now();
    if (text() !== lastText) { lastText = text(); changeTime = now; }
    const isIdle = document.querySelector('[data-test-script-state=notRunning]');
    if (now - start > 20000) fail(new Error('the predictions did not change'));
    else if (lastText !== oldText && isIdle && now - changeTime > 120) done(changeTime - start);
    else requestAnimationFrame(check);
  };
  button.click();
  requestAnimationFrame(check);
})"""


def move(page: Any, turn: int) -> float:
    """Swap the last two films of the list. The next turn restores the order."""
    rows = page.locator(".st-key-sequence [class*=st-key-down-] button")
    return float(rows.nth(rows.count() - 2).evaluate(CLICK_JS))


def add_or_undo(page: Any, turn: int) -> float:
    """Add the top recommendation. The next turn undoes it, so the list does not grow."""
    button = ".st-key-undo button" if turn % 2 else ".st-key-picks [class*=st-key-pick-] button"
    return float(page.locator(button).first.evaluate(CLICK_JS))


def switch_page(page: Any, turn: int) -> float:
    """Go to Compare and back. Return half of the time."""
    start = time.perf_counter()
    page.get_by_role("link", name="Compare").click()
    page.wait_for_selector("ol.nr-list")
    page.get_by_role("link", name="Watch next").click()
    page.wait_for_function(READY_JS)
    return 1000 * (time.perf_counter() - start) / 2


def search(page: Any, word: str) -> float:
    """Type a word and return the time from its last key to the results. It includes 200 ms in which the box waits."""
    box = page.get_by_label("Add a film")
    box.fill("")
    page.wait_for_selector(".st-key-found button", state="detached")
    box.press_sequentially(word[:-1])
    start = time.perf_counter()
    box.press(word[-1])
    page.wait_for_selector(".st-key-found button")
    return 1000 * (time.perf_counter() - start)


# name → function of a page and the turn (0, 1, 2 …) that returns milliseconds
ACTIONS: dict[str, Callable[[Any, int], float]] = {
    "move a film": move,
    "add a film, undo": add_or_undo,
    "switch page": switch_page,
}
P95_TARGETS_MS = {"move a film": 300, "add a film, undo": 300, "switch page": 1000, "first paint": 3000, "search": 500}


def main(argv: Sequence[str] | None = None) -> None:
    """Measure each action and print its times."""
    names = ["search", *ACTIONS]
    arguments = parser(__doc__)
    arguments.add_argument("--data", default=datasets.DEFAULT_DATASET, help="a data set on this machine")
    arguments.add_argument("--times", type=int, default=30, help="clicks of each kind (default: 30)")
    arguments.add_argument("--only", nargs="+", choices=names, default=names, help="some actions (default: all)")
    arguments.add_argument("--words", nargs="+", default=WORDS, help="search terms; each must match a film")
    options = arguments.parse_args(argv)
    films = FILMS_OF_ML_100K if options.data == "ml-100k" else FILMS
    with served_app() as app:
        results = measure(f"{app.address}/?data={options.data}&s={films}", options)
    description = machine.describe()
    for name, percentiles in results.items():
        verdict = Target("p95", P95_TARGETS_MS[name]).verdict(percentiles["p95"])
        print(f"{name:16} p50 {percentiles['p50']:5.0f} ms, p95 {percentiles['p95']:5.0f} ms, target {verdict}")
    print(machine.format_description(description))
    write_json(options.json, {"machine": description, "data": options.data, "times": options.times, "ms": results})


def chromium_path() -> str | None:
    """Return the path of the system's Chromium or Chrome, None without one."""
    return which("chromium") or which("chromium-browser") or which("google-chrome")


def measure(link: str, options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Return p50 and p95 of each action in milliseconds, {action: {"p50": …, "p95": …}}."""
    from playwright.sync_api import sync_playwright

    actions = ACTIONS | {"search": lambda page, turn: search(page, options.words[turn % len(options.words)])}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_FLAGS.split())
        open_page(browser, link).close()  # loads models and fills caches
        milliseconds: dict[str, list[float]] = {"first paint": []}  # the server is warm, the browser cache is empty
        for _ in range(max(3, options.times // 5)):  # fewer than clicks, because each takes seconds
            start = time.perf_counter()
            open_page(browser, link).close()
            milliseconds["first paint"].append(1000 * (time.perf_counter() - start))
        page = open_page(browser, link)
        for name in options.only:
            milliseconds[name] = [actions[name](page, turn) for turn in range(options.times)]
        browser.close()
    return {
        name: {f"p{percent}": round(float(np.percentile(values, percent))) for percent in (50, 95)}
        for name, values in milliseconds.items()
    }


def open_page(browser: Any, link: str) -> Any:
    """Open a tab, wait for the predictions and return the page."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(60_000)
    page.goto(link)
    page.wait_for_function(READY_JS)
    return page


if __name__ == "__main__":
    main()
