"""F1–F8: what breaks under the app: processes, files, disks, servers, numbers.

Downloads are measured here; the others have files of their own, which are loaded when they are asked.
"""

import hashlib
import importlib
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

from benchmarks.reliability.promise import Outcome, Promise, judged, unmeasured
from recsys.data import download
from recsys.data.datasets import DEFAULT_DATASET
from recsys.data.download import DownloadError, exclusive_folder, fetch
from recsys.paths import REPOSITORY
from recsys.storage import sha256
from tests.data.server import Server, page, serving, status

CONTENT = random.Random(0).randbytes(3_000_000)
MD5 = hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()
TURNS = 5  # of each fault
PAGE, QUESTIONS, MEGABYTES = 2.0, 40, 50  # seconds a page waits for TMDB, questions a second, MB on top
MOUNT, UNMOUNT = ("mount", "-t", "tmpfs", "-o", "size=60m", "nextreel"), "umount"
WRITING = (("data", "get", DEFAULT_DATASET), ("evaluate", "popular"), ("train", "fmc", "--epochs", "1"))
ROOM = (0, 40 << 10, 400 << 10, 4 << 20)  # bytes left on the disk
LOGS = ("log.jsonl", "train.lock")  # of a training, which begins anew
WHOLE, NOTHING = "whole", "an error and no file"
SHARES = {f"dies at {share:.0%}": share for share in (0, 0.01, 0.5, 0.99)}


def elsewhere(module: str, bar: str) -> Outcome:
    """The outcome of the function that is called like the bar, in a file of its own."""
    try:
        measure: Callable[[], Outcome] | None = getattr(importlib.import_module(module), bar.lower(), None)
    except ImportError:
        return unmeasured("no measurement is there")
    return measure() if measure else unmeasured(f"{module} measures no {bar}")


def changed(server: Server) -> None:
    """The connection breaks, and when it is back the file is another one."""

    def trick(request) -> None:
        server.behave(request, stop_after=len(CONTENT) // 2)
        server.etag = '"two"'

    server.tricks.append(trick)


def whole_again(server: Server) -> None:
    """The connection breaks; who asks for the rest gets all of it, under 200."""

    def whole(request) -> None:
        del request.headers["Range"]
        server.behave(request)

    server.tricks += [server.cut(len(CONTENT) // 2), whole]


def cut_at(share: float, server: Server) -> None:
    """The server dies when it has sent this much."""
    server.tricks.append(server.cut(int(share * len(CONTENT))))


def refuses_ranges(server: Server) -> None:
    """The connection breaks, and the rest is refused (416)."""
    server.tricks += [server.cut(1_000_000), status(416)]


def other_length(server: Server) -> None:
    """Less comes than was promised, again and again."""
    server.tricks += [server.cut(2_999_999)] * 3


def other_content(server: Server) -> None:
    """A byte differs."""
    server.content = bytes([CONTENT[0] ^ 1]) + CONTENT[1:]


FAULTS: dict[str, Callable[[Server], None]] = {
    **{name: partial(cut_at, share) for name, share in SHARES.items()},
    "200 to a range": whole_again,
    "416 to a range": refuses_ranges,
    "another version": changed,
    "too short": other_length,
    "another byte": other_content,
    "a web page": lambda server: server.tricks.extend([page] * 9),
    "503, then all": lambda server: server.tricks.append(status(503)),
    "always 500": lambda server: server.tricks.extend([status(500)] * 9),
}


def downloaded(fault: Callable[[Server], None], folder: Path) -> tuple[str, int]:
    """What lies in the folder after a download, and from which byte on it was taken up again, 0 where it was not."""
    with serving(CONTENT) as server:
        fault(server)
        said = False
        try:
            fetch(server.address, folder / "a.zip", md5=MD5, attempts=3, seconds=20)
        except DownloadError:
            said = True
    asked = [request["Range"] for request in server.requests if "Range" in request]
    start = int(asked[0].removeprefix("bytes=").rstrip("-")) if asked else 0
    left = {path.name: path.read_bytes() == CONTENT for path in folder.iterdir()}
    if left == {"a.zip": True}:
        return WHOLE, start
    return NOTHING if said and not left else f"{left}, {'an' if said else 'no'} error", start


def two_at_once(folder: Path) -> bool:
    """Whether two that want the same file at once get it, fetched once."""
    with serving(CONTENT) as server:

        def get() -> None:
            with exclusive_folder(folder / "a"):
                fetch(server.address, folder / "a.zip", md5=MD5)

        with ThreadPoolExecutor(2) as threads:
            for done in [threads.submit(get) for _ in range(2)]:
                done.result()
    return (folder / "a.zip").read_bytes() == CONTENT and len(server.requests) == 1


def f5() -> Outcome:
    """Each fault a few times, then two that want the same file."""
    download.PAUSE_SECONDS = 0.05
    checks, whole = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(TURNS):
            for number, (name, fault) in enumerate(FAULTS.items()):
                place = Path(folder, f"{turn}-{number}")
                place.mkdir()
                found, start = downloaded(fault, place)
                whole += found == WHOLE
                checks[f"{name}: {found}"] = found in (WHOLE, NOTHING)
                if share := SHARES.get(name):
                    checks[f"{name}: a chunk is fetched again at most"] = (
                        start >= share * len(CONTENT) - download.CHUNK_BYTES
                    )
        checks["two at once fetch it once"] = two_at_once(Path(folder))
    n = TURNS * len(FAULTS)
    return judged(
        f"{n} downloads from a server with a fault: {whole} whole, {n - whole} refused with no file left", checks
    )


def f3() -> Outcome:
    """Every kind of file, cut and flipped."""
    try:
        from benchmarks.reliability import damage
    except ImportError:
        return unmeasured("no measurement is there")
    found = damage.measure(200, 500)
    checks = {f"{one.name}: {(one.silent + one.tracebacks)[:1]}": one.holds for one in found}
    silent, untyped = (sum(len(getattr(one, name)) for one in found) for name in ("silent", "tracebacks"))
    n = sum(one.trials for one in found)
    return judged(f"{n:,} damages to {len(found)} kinds of files: {silent} silent, {untyped} untyped", checks)


def f4() -> Outcome:
    """A disk in memory that fills up, under the commands that write data, results and checkpoints."""
    if not shutil.which("mount") or os.geteuid():
        return unmeasured("needs mount, as root")
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([*MOUNT, place], check=True)
        try:
            return full_disk(Path(place))
        finally:
            subprocess.run([UNMOUNT, place], check=True)


def full_disk(home: Path) -> Outcome:
    """What is left when there is less and less room for what a command writes anew."""
    for words in WRITING:
        command(home, *words).check_returncode()
    checks, refused = {}, 0
    for room, words in itertools.product(ROOM, WRITING):
        old = {
            path: sha256(path.read_bytes()) for path in home.rglob("*.*") if path.name not in LOGS and path.is_file()
        }
        with (home / "filler").open("wb") as filler, suppress(OSError):
            os.posix_fallocate(filler.fileno(), 0, shutil.disk_usage(home).free - room)
        done = command(home, *words)
        (home / "filler").unlink()
        refused += bool(done.returncode)
        left = {path: sha256(path.read_bytes()) if path.exists() else "" for path in old}
        case = f"{' '.join(words)}, {room >> 10} KB left"
        checks[f"{case}: an error in a line"] = done.returncode in (0, 1) and "Traceback" not in done.stderr
        checks[f"{case}: the old files stay"] = done.returncode == 0 or left == old
        checks[f"{case}: no .part"] = not list(home.rglob("*.part"))
    n = len(ROOM) * len(WRITING)
    return judged(f"{n} commands on a disk with {ROOM[0] >> 10} to {ROOM[-1] >> 10} KB left: {refused} refused", checks)


def command(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of ours over a home folder."""
    line = [sys.executable, "-m", "recsys", *words]
    return subprocess.run(
        line, cwd=REPOSITORY, env=os.environ | {"RECSYS_HOME": str(home)}, capture_output=True, text=True
    )


def f6() -> Outcome:
    """Every fault of TMDB."""
    try:
        from benchmarks.reliability import tmdb_faults
    except ImportError:
        return unmeasured("no measurement is there")
    found = [tmdb_faults.measure(name) for name in tmdb_faults.FAULTS]
    checks = {f"{one.fault}: {one.seconds:.1f} s": one.seconds <= PAGE for one in found}
    checks |= {f"{one.fault}: {one.within_a_second} questions": one.within_a_second <= QUESTIONS for one in found}
    checks |= {f"{one.fault}: {one.megabytes:.0f} MB": one.megabytes <= MEGABYTES for one in found}
    slow, many = max(one.seconds for one in found), max(one.within_a_second for one in found)
    figure = f"{len(found)} faults: a page waits {slow:.1f} s at the most, {many} questions in a second"
    return judged(figure, checks)


TRAINING = "benchmarks.reliability.training_faults"
F1, F2, F7, F8 = (partial(elsewhere, TRAINING, bar) for bar in ("F1", "F2", "F7", "F8"))
BARS = (
    Promise("F1", "SIGKILL, 20 times: 20 resume, ≤ 1 interval is lost, no .part stays", 2, F1),
    Promise("F2", "after each kill the weights and losses of a run left alone, bit by bit", 2, F2),
    Promise(
        "F3",
        "every file, 200 cuts, 500 flipped bits: a typed error or a fallback, none silent",
        5,
        f3,
    ),
    Promise("F4", "a full disk: the old file stays, one line says so, no .part stays", 2, f4),
    Promise("F5", "a server that dies, lies or changes: the right file or none; ≤ 1 chunk is fetched again", 1, f5),
    Promise("F6", "a broken TMDB: a page within 2 s, ≤ 40 questions a second", 2, f6),
    Promise("F7", "NaN in a loss: training stops before the step, the best weights stay", 0.5, F7),
    Promise("F8", "SIGTERM: state kept, gone within 10 s", 0.5, F8),
)
