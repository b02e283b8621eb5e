"""B1–B9: files, addresses, titles and numbers that nobody meant.

Fuzzing (B1) and models (B8, B9) have files of their own, which are loaded when they are asked.
"""

import csv
import gc
import io
import itertools
import os
import re
import tempfile
import time
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import app as browser
from benchmarks.reliability import served, uploading
from benchmarks.reliability.faults import TRAINING, elsewhere
from benchmarks.reliability.promise import Outcome, Promise, judged, unmeasured
from recsys import paths
from recsys.data import datasets, movielens_files, own_data, tables
from recsys.data.history_import.read import read as read_history
from recsys.errors import RecsysError
from recsys.runtime import peak_memory_mb

SECONDS, MEGABYTES = 2.0, 200  # that a file of 10 MB may take
AT_ONCE, LITTLE = 1.0, 50  # seconds, MB: in which a folded archive is refused
DIARY = "Date,Name,Year,Letterboxd URI\n2020-01-0{day},{name},1995,https://boxd.it/f{day}\n"
ROWS = "".join(f"{user},{item},4,{user * 100 + item}\n" for user in range(9) for item in range(9))
EVENTS = f"user,item,rating,timestamp\n{ROWS}"
JAPANESE = "七人の侍 千と千尋の神隠し 羅生門"


def history(name: str) -> str:
    """A history with one film."""
    return DIARY.format(day=1, name=name)


def corpus() -> dict[str, bytes]:
    """Files that people have, or that somebody has prepared."""
    events = EVENTS.encode()
    film = history("Amélie")
    wide = ",".join(f"c{n}" for n in range(1_000_000)).encode()
    return {
        "UTF-8 with BOM": film.encode("utf-8-sig"),
        "UTF-16": film.encode("utf-16"),
        "cp1252": film.encode("cp1252"),
        "Shift-JIS": history(JAPANESE).encode("shift-jis"),
        "events in UTF-16": EVENTS.encode("utf-16"),
        "NUL early": b"\0" + events,
        "NUL late": events + b"\0" * 10,
        "ragged rows": events + b"1\n1,2,3,4,5,6,7,8\n",
        "a million columns": wide + b"\n" + b"," * 999_999,
        "one line of 10 MB": b"x" * 10_000_000,
        "a field of 10 MB": b'Name,Year\n"' + b"x" * 9_990_000 + b'",1995\n',
        "a quote that never ends": b'Name,Year\n"' + b"a,1\n" * 100_000,
        "another separator": events.replace(b",", b"^"),
        "a header alone": b"user,item,rating,timestamp\n",
        "nothing": b"",
        "blanks": b" \n\t\n" * 1000,
        "numbers beyond all": b"user,item,rating,timestamp\n" + b"9" * 400 + b",1,1e999,-9" + b"9" * 300 + b"\n",
        "JSON, deep": b"[" * 100_000,
        "JSON that is no list": b'{"a": 1}',
        "gzip that is none": b"\x1f\x8b\x08\x00" + b"\xff" * 100,
        "parquet that is none": b"PAR1" + b"\xff" * 100 + b"PAR1",
    }


def as_history(data: bytes) -> Any:
    """Through *Bring your history*."""
    return [part.entries for part in read_history("file.csv", data)]


def as_own_data(data: bytes) -> Any:
    """Through *Add your own data*."""
    return own_data.check(tables.parse("file.csv", data)).facts


DOORS: dict[str, Callable[[bytes], Any]] = {"history": as_history, "own data": as_own_data}


def taken(door: Callable[[bytes], Any], data: bytes) -> tuple[str, float, float]:
    """ "read", "refused" or the name of an error that is not ours; seconds, and MB at the most on top."""
    gc.collect()
    reset_peak()
    before, began = peak_memory_mb(), time.perf_counter()
    try:
        door(data)
        how = "read"
    except RecsysError:
        how = "refused"
    except Exception as error:  # noqa: BLE001 - it is named
        how = type(error).__name__
    return how, time.perf_counter() - began, peak_memory_mb() - before


def reset_peak() -> None:
    """Let Linux count the peak of this process's memory from here on."""
    Path("/proc/self/clear_refs").write_text("5")


def b2() -> Outcome:
    """Each file through each door; what is read must be right."""
    checks, slowest, largest = {}, 0.0, 0.0
    files = corpus()
    for (door, through), (name, data) in itertools.product(DOORS.items(), files.items()):
        through(history("Heat").encode()) if door == "history" else through(EVENTS.encode())  # libraries are loaded
        how, seconds, megabytes = taken(through, data)
        slowest, largest = max(slowest, seconds), max(largest, megabytes)
        checks[f"{name}, {door}: {how}"] = how in ("read", "refused")
        checks[f"{name}, {door}: {seconds:.1f} s, {megabytes:.0f} MB"] = seconds <= SECONDS and megabytes <= MEGABYTES
    for name in ("UTF-8 with BOM", "UTF-16", "cp1252"):
        checks[f"{name} keeps its accents"] = as_history(files[name])[0][0].title == "Amélie"
    checks["Shift-JIS is not read as something else"] = not is_garbled(files["Shift-JIS"])
    once, twice = (
        own_data.check(tables.parse("a", EVENTS.encode())),
        own_data.check(tables.parse("a", (EVENTS + EVENTS[27:]).encode())),
    )
    checks["rows that repeat count once and are said"] = (
        once.facts.events == twice.facts.events and twice.facts.repeated == once.facts.events
    )
    n = len(files) * len(DOORS)
    return judged(f"{n} readings: the slowest {slowest:.1f} s, {largest:.0f} MB on top at the most", checks)


def is_garbled(data: bytes) -> bool:
    """Whether a title comes out as letters that nobody wrote."""
    try:
        return as_history(data)[0][0].title != JAPANESE
    except RecsysError:
        return False


def b3() -> Outcome:
    """Files that are too large, too many, or that nobody asked for, put to the running app."""
    return uploading.limits()


def zipped(files: dict[str, bytes]) -> bytes:
    """An archive."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


def overlapping(data: bytes, times: int = 500) -> bytes:
    """An archive of one file whose list of contents names it so often."""
    start, end = data.index(b"PK\x01\x02"), data.rindex(b"PK\x05\x06")
    entry, tail = data[start:end], bytearray(data[end:])
    tail[8:12] = times.to_bytes(2, "little") * 2
    tail[12:16] = (len(entry) * times).to_bytes(4, "little")
    return data[:start] + entry * times + bytes(tail)


def bombs() -> dict[str, bytes]:
    """Archives that unpack to far more than they are, by name."""
    ratings = b"userId,movieId,rating,timestamp\n" + b"1,1,4,1\n" * 12_000_000
    large = zipped({"set/ratings.csv": ratings, "set/movies.csv": b"movieId,title,genres\n1,A (1990),Drama\n"})
    nested = zipped({"ratings.csv": b"", "inner.zip": large})
    many = zipped({f"{n}.csv": b"a" for n in range(60_000)})
    folded = overlapping(zipped({"ratings.csv": ratings[:9_000_000]}))
    lies = bytearray(large)
    at = lies.index(b"PK\x01\x02")
    lies[at + 24 : at + 28] = (100).to_bytes(4, "little")  # says that it unpacks to a hundred bytes
    return {"96 MB in 0.1": large, "nested": nested, "60,000 files": many, "overlapping": folded, "a lie": bytes(lies)}


def as_published(data: bytes) -> Any:
    """As the archive of a MovieLens set, such as `data get --from`."""
    with tempfile.NamedTemporaryFile(suffix=".zip") as file:
        file.write(data)
        file.flush()
        with movielens_files.opened(Path(file.name), "ml-latest") as archive:
            return movielens_files.parse_csv(archive)


def b4() -> Outcome:
    """Each archive through both doors that take one."""
    checks, slowest, largest = {}, 0.0, 0.0
    doors = {"history": lambda data: read_history("file.zip", data), "set": as_published}
    for (name, data), (door, through) in itertools.product(bombs().items(), doors.items()):
        how, seconds, megabytes = taken(through, data)
        slowest, largest = max(slowest, seconds), max(largest, megabytes)
        checks[f"{name} as {door}: {how}, {seconds:.1f} s, {megabytes:.0f} MB"] = (
            how == "refused" and seconds <= AT_ONCE and megabytes <= LITTLE
        )
    return judged(f"{len(checks)} refusals: the slowest {slowest:.2f} s, {largest:.0f} MB on top at the most", checks)


FORMULA = [f"{sign}1+1" for sign in ("=", "+", "-", "@", "\t=", "\r=", "\n=", "\0=", "\ufeff=", *"＝＋－＠")]
BEGINS = re.compile("^[\ufeff\0\t\r\n]*[=+\\-@＝＋－＠]")


def b5() -> Outcome:
    """Titles that are formulas, in every file that the app writes."""
    from recsys.data.dataset import Film
    from recsys.serving import export
    from recsys.serving.recommend import Recommendation
    from tests.pages.world import build

    catalog = build().catalog
    catalog.movies.loc[: len(FORMULA) - 1, "title"] = FORMULA
    items = list(range(len(FORMULA)))
    picks = [Recommendation(n + 1, n, Film(n, FORMULA[n], 1990, "Drama"), 0.5, 0.1) for n in items]
    written = {
        "films": export.films_csv(catalog, items),
        "predictions": export.predictions_csv(catalog, picks),
        "Letterboxd": export.letterboxd(catalog, items),
    }
    checks = {}
    for name, text in written.items():
        cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row if not is_number(cell)]
        checks |= {f"{name}: {cell!r} is a formula": False for cell in cells if BEGINS.match(cell)}
        checks[name] = not any(BEGINS.match(cell) for cell in cells)
    return judged(f"{len(FORMULA)} formulas as titles in {len(written)} kinds of files", checks)


def is_number(cell: str) -> bool:
    """Whether a cell is a plain number, which may be negative."""
    return re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", cell) is not None


HOSTILE = [
    "<script>window.__xss=1</script>",
    "<img src=x onerror='window.__xss=1'>",
    "<svg/onload=window.__xss=1>",
    '"><script>window.__xss=1</script>',
    "'><img src=http://evil.example/a.png>",
    "</b></div></style></textarea><script>window.__xss=1</script>",
    "<iframe src='javascript:parent.__xss=1'></iframe>",
    "<a href='javascript:window.__xss=1'>here</a>",
    "[here](javascript:window.__xss=1)",
    "![here](http://evil.example/b.png)",
    "[here](http://evil.example/)",
    "http://evil.example/ here",
    "www.evil.example",
    "<form action=http://evil.example><input name=password></form>",
    "<style>@import 'http://evil.example/c.css';</style>",
    "<link rel=stylesheet href=http://evil.example/d.css>",
    "<base href=http://evil.example/>",
    "<meta http-equiv=refresh content='0;url=http://evil.example'>",
    "$\\href{javascript:window.__xss=1}{x}$",
    "$$\\require{html}$$",
    ":material/delete: :red[red] :smile:",
    "# Heading\n\n- item",
    "`code` **bold** ~~gone~~",
    "&lt;script&gt;window.__xss=1&lt;/script&gt;",
    "&#60;img src=x onerror=window.__xss=1&#62;",
    "{{constructor.constructor('window.__xss=1')()}}",
    "%s %(x)s {0} {title} \\",
    "\u202egnp.exe \u200b\u2066",
    "\x1b[31mred\x1b]0;title\x07",
    "<table background=http://evil.example/e.png><td>",
    "<object data=http://evil.example/f></object>",
    "<video poster=http://evil.example/g.png>",
]


def b6() -> Outcome:
    """Every page over a set whose films are called so, in a browser."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return unmeasured("playwright is not installed")
    if not browser.chromium():
        return unmeasured("there is no chromium")
    from tests.browser.test_app import PAGES
    from tests.pages import world

    titles = [*world.TITLES[:6], *(f"{text} (2000)" for text in HOSTILE)]
    wanted = f"s={'-'.join(str(number) for number in range(4, len(titles) + 1))}"
    strange: list[str] = []
    checks = {}
    with tempfile.TemporaryDirectory() as home:
        os.environ["RECSYS_HOME"] = home
        dataset = world.build(titles=titles)
        world.save(dataset)
        world.train(dataset)
        with served.app(Path(home)) as app, sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=browser.chromium(), args=browser.FLAGS.split())
            for page in PAGES:
                tab = chromium.new_page()
                tab.on("request", lambda request: strange.append(request.url) if is_elsewhere(request.url) else None)
                tab.goto(f"{app.address}/{page}{'&' if '?' in page else '?'}{wanted}")
                tab.get_by_role("heading", name=PAGES[page], level=1).wait_for(timeout=120_000)
                tab.wait_for_selector("[data-test-script-state=notRunning]", state="attached", timeout=120_000)
                tab.wait_for_timeout(500)
                links = tab.evaluate("[...document.querySelectorAll('[href*=evil],[src*=evil],[action*=evil]')].length")
                checks[f"{page or 'watch'}: nothing runs"] = not tab.evaluate("window.__xss")
                checks[f"{page or 'watch'}: no link leads away"] = not links
                tab.close()
            chromium.close()
    checks["no other machine is asked: " + ", ".join(sorted(set(strange))[:3])] = not strange
    return judged(f"{len(HOSTILE)} titles on {len(PAGES)} pages, {len(strange)} requests to other machines", checks)


def is_elsewhere(address: str) -> bool:
    """Whether an address is outside this machine."""
    return not address.startswith(("http://localhost:", "ws://localhost:", "data:", "blob:"))


LONG = "9" * 10_000, "~".join("ab" * 500)
ODD = ["", "none", "-1", "NaN", "1e999", "<script>", "../../etc/passwd", "\x00", "١", *LONG]


def b7() -> Outcome:
    """Every parameter of an address at once, with odd values, on every page."""
    import streamlit as st
    from streamlit.testing.v1 import AppTest

    from pages.shared import address, frame

    datasets.ensure(datasets.DEFAULT_DATASET)
    every = ["s", "not", "data", "with", "unknown", *(one.parameter for one in (*address.KEPT, *address.FILTERS))]
    checks, visits = {}, 0
    for text, repeated in [*((text, False) for text in ODD), ("popular", True)]:
        app = AppTest.from_file(paths.REPOSITORY / "pages" / "visit.py", default_timeout=300)
        app.query_params.update(dict.fromkeys(every, [text, text] if repeated else text))
        app.run()
        for page in frame.PAGES:
            shown = app.switch_page(page).run()
            visits += 1
            if shown.exception:
                checks[f"{page}, {text[:20]!r}: {shown.exception[0].message}"] = False
        st.cache_data.clear()
    checks["nothing else breaks"] = True
    return judged(f"{visits} visits with {len(every)} odd parameters each, {len(checks) - 1} error screens", checks)


FUZZED = partial(elsewhere, "benchmarks.reliability.fuzz", "B1")
ODD_HISTORIES, ODD_SCORES = partial(elsewhere, TRAINING, "B8"), partial(elsewhere, TRAINING, "B9")
BARS = (
    Promise(
        "B1",
        "2,000 made-up files for every reader: its own error or a result, ≤ 2 s and 200 MB for 10 MB",
        5,
        FUZZED,
    ),
    Promise("B2", "encodings, NUL, ragged rows, a million columns, a line of 10 MB: read right, or refused", 1, b2),
    Promise("B3", "too large or unasked-for uploads are refused, the server stays up; a quota for each visit", 1, b3),
    Promise("B4", "archives that unpack to far more: refused within 1 s and 50 MB", 1, b4),
    Promise("B5", "no cell of a file that the app writes is a formula", 0.2, b5),
    Promise("B6", "30 hostile titles on every page: nothing runs, no link leads away, nobody else is asked", 3, b6),
    Promise("B7", "odd values for every parameter of an address on every page: no error screen", 3, b7),
    Promise(
        "B8",
        "every recommender × odd histories: ≤ k finite unseen films; 10,000 films in ≤ 2 × the time",
        2,
        ODD_HISTORIES,
    ),
    Promise("B9", "NaN and infinite scores are never ranked; metrics stay in 0…1", 0.5, ODD_SCORES),
)
